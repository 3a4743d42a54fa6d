"""Modules that a module of the same repository looks for beside itself."""

from tools.peers.siblings import SUMS, edits, pinned


def replaced(module: str, by: str) -> dict[str, dict[str, str]]:
    return {"Old": {"Path": module}, "New": {"Path": by}}


def test_a_sibling_is_required_as_it_was_published() -> None:
    go_mod = {
        "Require": [{"Path": "k8s.io/api", "Version": "v0.0.0"}, {"Path": "example.com/far", "Version": "v1.2.3"}],
        "Replace": [
            replaced("k8s.io/api", "./staging/src/k8s.io/api"),
            replaced("k8s.io/kms", "../kms"),
            replaced("example.com/far", "example.com/fork"),
            replaced("example.com/never", "./FORBIDDEN_DEPENDENCY"),
        ],
    }

    changes = edits(go_mod, {"k8s.io/api": "v0.34.4", "k8s.io/kms": "v0.34.4", "example.com/far": "v9.9.9"})

    assert changes == [
        "-dropreplace=example.com/never",
        "-replace=k8s.io/api=k8s.io/api@v0.34.4",
        "-require=k8s.io/api@v0.34.4",
        "-replace=k8s.io/kms=k8s.io/kms@v0.34.4",
    ]


def test_a_module_that_looks_for_nothing_is_left_as_it_is() -> None:
    assert edits({"Require": None, "Replace": None}, {"k8s.io/api": "v0.34.4"}) == []


def test_every_pinned_module_has_one_version_and_the_hash_of_its_go_mod() -> None:
    lines = [line.split() for line in SUMS.read_text().splitlines()]

    versions = pinned(SUMS.read_text())

    assert sorted(f"{module} {version}/go.mod" for module, version in versions.items()) == sorted(
        f"{module} {version}" for module, version, _ in lines if version.endswith("/go.mod")
    )
