"""Lists the packages that an installed Fairway needs: an SBOM in CycloneDX's format, and the table of their licences.

`make sbom` writes `dist/fairway.cdx.json` and renews `THIRD_PARTY_NOTICES.md`. Both come from the metadata of the
installed packages; versions are those of `requirements.lock`. Packages for development are left out: a user has none.
"""

import json
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).parents[1]
NOTICES = _ROOT / "THIRD_PARTY_NOTICES.md"
SBOM = _ROOT / "dist" / "fairway.cdx.json"

#: Licences of packages that name theirs in words only.
_SPDX = {
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit": "MIT",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "gnu lesser general public license v3 (lgplv3)": "LGPL-3.0-only",
    "python software foundation license": "PSF-2.0",
}

_HEAD = """\
# Third-party notices

Fairway is licensed under [Apache-2.0](LICENSE). It contains no code of the packages below:
`pip install fairway` installs them beside it, each under its own licence. Every package ships its licence
text in its `*.dist-info` directory. `make sbom` renews this table from `requirements.lock`.

| package | version | licence |
|---|---|---|
"""


class Package(NamedTuple):
    """An installed package."""

    name: str
    version: str
    licence: str
    #: The packages it needs.
    needs: tuple[str, ...]


def packages(root: str = "fairway") -> list[Package]:
    """The root and everything that it needs here, by name."""
    found: dict[str, Package] = {}
    pending: list[tuple[str, frozenset[str]]] = [(root, frozenset())]
    seen: set[tuple[str, frozenset[str]]] = set()
    while pending:
        if (step := pending.pop()) in seen:
            continue
        seen.add(step)
        installed = distribution(step[0])
        needs = list(_needs(installed, step[1]))
        pending += needs
        before = found[step[0]].needs if step[0] in found else ()
        names = tuple(sorted({*before, *(name for name, _ in needs)}))
        found[step[0]] = Package(step[0], installed.version, licence(installed), names)
    return [found[name] for name in sorted(found)]


def _needs(installed: Distribution, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for text in installed.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(requirement.name), frozenset(requirement.extras)


def licence(installed: Distribution) -> str:
    """The licence as an SPDX expression; ValueError where the metadata names none that is known."""
    if expression := _field(installed, "License-Expression"):
        return expression
    classifiers: list[str] = installed.metadata.get_all("Classifier") or []
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: OSI Approved :: ")]
    # Some packages put the whole text into that field: its first line is the name.
    first_line = _field(installed, "License").strip().partition("\n")[0]
    for words in (*named, first_line):
        if spdx := _SPDX.get(words.lower()):
            return spdx
        if re.fullmatch(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*", words):
            return words
    raise ValueError(f"{installed.name}: no known licence in {named or first_line!r}")


def _field(installed: Distribution, name: str) -> str:
    return str(installed.metadata[name]) if name in installed.metadata else ""


def notices(listed: list[Package]) -> str:
    """The table of licences."""
    rows = (f"| {each.name} | {each.version} | {each.licence} |\n" for each in listed if each.name != "fairway")
    return _HEAD + "".join(rows)


def bill(listed: list[Package]) -> dict[str, Any]:
    """The SBOM."""
    components = {each.name: _component(each) for each in listed}
    root = components.pop("fairway")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**root, "type": "application"}},
        "components": list(components.values()),
        "dependencies": [
            {"ref": _purl(each), "dependsOn": [components[need]["bom-ref"] for need in each.needs]} for each in listed
        ],
    }


def _component(package: Package) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": _purl(package),
        "name": package.name,
        "version": package.version,
        "purl": _purl(package),
        "licenses": [{"expression": package.licence}],
    }


def _purl(package: Package) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"


def main() -> None:
    """Write both files."""
    listed = packages()
    SBOM.parent.mkdir(exist_ok=True)
    SBOM.write_text(json.dumps(bill(listed), indent=2) + "\n")
    NOTICES.write_text(notices(listed))
    print(f"  {len(listed) - 1} packages: {SBOM.relative_to(_ROOT)}, {NOTICES.relative_to(_ROOT)}")


if __name__ == "__main__":
    main()
