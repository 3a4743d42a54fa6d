"""The list of third-party packages against what is installed and locked."""

import re
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from tools import sbom

_LOCK = Path(__file__).parents[2] / "requirements.lock"


def test_the_notices_are_those_of_the_installed_packages() -> None:
    assert sbom.NOTICES.read_text() == sbom.notices(sbom.packages()), "run `make sbom`"


def test_every_listed_package_has_the_locked_version() -> None:
    locked = dict(re.findall(r"^([a-z0-9.-]+)==([^ ;\\]+)", _LOCK.read_text(), re.MULTILINE))

    listed = {each.name: each.version for each in sbom.packages() if each.name != "fairway"}

    assert {name: locked.get(name) for name in listed} == listed


def test_every_dependency_in_the_bill_is_a_component_of_it() -> None:
    bill = sbom.bill(sbom.packages())

    known = {each["bom-ref"] for each in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in bill["dependencies"]} == known
    assert {need for each in bill["dependencies"] for need in each["dependsOn"]} <= known


@pytest.mark.parametrize(
    ("metadata", "licence"),
    [
        ("License-Expression: MIT OR Apache-2.0", "MIT OR Apache-2.0"),
        ("Classifier: License :: OSI Approved :: BSD License", "BSD-3-Clause"),
        ("License: MIT License\n        Copyright", "MIT"),
        ("License: GPL-3.0-only", "GPL-3.0-only"),
    ],
)
def test_a_licence_is_read_from_each_form_of_metadata(tmp_path: Path, metadata: str, licence: str) -> None:
    (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.1\nName: thing\nVersion: 1\n{metadata}\n")

    assert sbom.licence(PathDistribution(tmp_path)) == licence


def test_a_package_without_a_known_licence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1\nLicense: ask us first\n")

    with pytest.raises(ValueError, match="thing: no known licence in 'ask us first'"):
        sbom.licence(PathDistribution(tmp_path))
