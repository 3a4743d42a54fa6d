"""`spec.upgrade` of an agent's file."""

import pytest

from fairway.config.problems import ConfigError
from fairway.config.read import read_agent
from fairway.config.scalars import Duration
from fairway.config.upgrade import Upgrade

FILE = """\
apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  pipedID: a
  pipedKeyData: a2V5
  apiAddress: localhost:1
  upgrade:
"""
SHA256 = "ab" * 32


def test_the_source_and_the_checksums_of_versions_are_read() -> None:
    source, rest = "https://x.example/{version}.whl", f"checksums: {{0.2.0: {SHA256}}}\n    settleFor: 5s"
    text = f"{FILE}    source: '{source}'\n    {rest}\n"

    assert read_agent(text.encode(), "agent.yaml").upgrade == Upgrade(
        source=source, checksums={"0.2.0": SHA256}, settle_for=Duration(seconds=5)
    )


@pytest.mark.parametrize(
    ("written", "line", "words"),
    [
        pytest.param("    settleFor: 5s", 8, "source", id="no source"),
        pytest.param("    source: https://x.example/fairway.whl", 9, "has no {version}", id="one for all"),
        pytest.param("    source: 'ftp://x.example/{version}'", 9, "expected an address", id="no scheme of ours"),
        pytest.param("    source: 'wheels/{version}.whl'", 9, "expected an address", id="no address"),
        pytest.param("    source: 'https://x:99999/{version}'", 9, "is no address", id="a port that there is not"),
        pytest.param("    source: 'file://host/{version}.whl'", 9, "expected an address", id="another machine's file"),
        pytest.param("    source: 'https://{version}.example/x'", 9, "expected an address", id="a host by version"),
        pytest.param(
            "    source: 'file:///{version}'\n    checksums:\n      0.2.0: abc",
            11,
            "64 hexadecimal digits",
            id="checksum",
        ),
        pytest.param("    source: 'file:///{version}'\n    readyWithin: -1s", 10, "is negative", id="no time"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(written: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_agent(f"{FILE}{written}\n".encode(), "agent.yaml")

    assert f"agent.yaml:{line}:" in str(refused.value)
    assert words in str(refused.value)
