"""What `fairway server` says of its options before anything runs."""

import pytest
from typer.testing import CliRunner

from fairway.cli.server import commands

DATABASE = "postgresql://fairway:hush@db/fairway"


@pytest.mark.parametrize(
    ("arguments", "environment", "warned"),
    [
        pytest.param(["--database", DATABASE], {}, True, id="on the command line"),
        pytest.param([], {"FAIRWAY_DATABASE": DATABASE}, False, id="in the environment"),
        pytest.param(["--database", "postgresql://fairway@db/fairway"], {}, False, id="without a password"),
    ],
)
def test_a_password_that_everybody_can_read_is_warned_of(
    arguments: list[str], environment: dict[str, str], warned: bool
) -> None:
    # Without --data nothing is started.
    said = CliRunner(env=environment).invoke(commands, arguments).output

    assert ("FAIRWAY_DATABASE instead" in said, "hush" in said, "--data is missing" in said) == (warned, False, True)


@pytest.mark.parametrize("option", ["--listen", "--http-listen"])
@pytest.mark.parametrize("address", ["9080", "localhost", "localhost:", "localhost:http"])
def test_what_is_no_address_is_refused(option: str, address: str) -> None:
    # Without --data nothing is started.
    result = CliRunner().invoke(commands, [option, address])

    assert (result.exit_code, f"{option} is {address!r}; expected HOST:PORT" in result.output) == (2, True)
