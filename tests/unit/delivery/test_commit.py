"""Which applications a commit touches."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.delivery.commit import Touched, TouchIndex, TouchRule
from fairway.delivery.paths import PathPatterns

CART = TouchRule(application_id="cart", directory="apps/cart")
SHOP = TouchRule(application_id="shop", directory="apps/shop")


def touched_ids(rules: list[TouchRule], *files: str) -> list[str]:
    return [touched.application_id for touched in TouchIndex(rules).touched_by(files)]


def test_a_file_in_its_directory_touches_an_application() -> None:
    touched = TouchIndex([CART, SHOP]).touched_by(["apps/shop/k8s/deployment.yaml"])

    reason = "apps/shop/k8s/deployment.yaml is in the application's directory"
    assert touched == (Touched(application_id="shop", file="apps/shop/k8s/deployment.yaml", reason=reason),)


def test_a_file_that_matches_its_paths_touches_an_application() -> None:
    cart = TouchRule(application_id="cart", directory="apps/cart", paths=("lib/**/*.go",))

    touched = TouchIndex([cart, SHOP]).touched_by(["lib/a/b.md", "lib/a/b.go"])

    reason = "lib/a/b.go matches trigger.onCommit.paths"
    assert touched == (Touched(application_id="cart", file="lib/a/b.go", reason=reason),)


def test_the_name_of_a_file_that_is_no_text_is_told_as_one() -> None:
    """Git knows names that are not UTF-8; they come as surrogates, which no message can carry."""
    (touched,) = TouchIndex([SHOP]).touched_by(["apps/shop/caf\udce9"])

    assert touched.reason.encode() == b"apps/shop/caf? is in the application's directory"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(["apps/cart/README.md"], [], id="only ignored files"),
        pytest.param(["apps/cart/README.md", "apps/cart/app.yaml"], ["cart"], id="an ignored and a relevant file"),
        pytest.param(["apps/cart/app.yaml", "apps/cart/README.md"], ["cart"], id="in the other order"),
        pytest.param(["README.md", "apps/shop/x"], [], id="an ignored file and one of another application"),
    ],
)
def test_ignored_files_alone_do_not_touch_an_application(files: list[str], expected: list[str]) -> None:
    cart = TouchRule(application_id="cart", directory="apps/cart", paths=("**/*.md",), ignores=("**/README.md",))

    assert touched_ids([cart], *files) == expected


@pytest.mark.parametrize("root", ["", ".", "./", "/"])
def test_an_application_in_the_root_is_touched_by_everything(root: str) -> None:
    assert touched_ids([TouchRule(application_id="all", directory=root)], "docs/x.md") == ["all"]


def test_a_directory_with_a_longer_name_is_another_one() -> None:
    assert touched_ids([CART], "apps/cart-old/app.yaml") == []


def test_an_application_inside_another_touches_both() -> None:
    outer = TouchRule(application_id="outer", directory="apps")

    assert touched_ids([CART, outer], "apps/cart/app.yaml") == ["cart", "outer"]


def test_the_first_file_that_counts_is_the_reason() -> None:
    touched = TouchIndex([CART]).touched_by(["docs/x", "apps/cart/b", "apps/cart/a"])

    assert [each.file for each in touched] == ["apps/cart/b"]


def test_a_path_may_name_one_file() -> None:
    cart = TouchRule(application_id="cart", directory="apps/cart", paths=("VERSION",))

    assert touched_ids([cart], "VERSION") == ["cart"]


def test_a_bad_pattern_is_that_applications_problem_alone() -> None:
    broken = TouchRule(application_id="broken", directory="apps/cart", paths=("lib/[",))

    index = TouchIndex([broken, SHOP])

    assert list(index.refused) == ["broken"]
    assert 'trigger.onCommit: "lib/[" opens a set' in index.refused["broken"]
    assert [touched.application_id for touched in index.touched_by(["apps/cart/x", "apps/shop/x"])] == ["shop"]


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.sampled_from(["a", "b/c", "*/a", "**/c", "a/*", "!a/b", "a/b/**"]), max_size=3).map(tuple)
RULES = st.lists(st.tuples(PATHS, PATTERNS, PATTERNS), max_size=6)


def touched_by_looking_at_everything(rule: TouchRule, files: list[str]) -> bool:
    paths, ignores = PathPatterns(rule.paths), PathPatterns(rule.ignores)
    below = f"{posixpath.normpath(rule.directory)}/"
    return any((file.startswith(below) or paths.match(file)) and not ignores.match(file) for file in files)


@given(RULES, st.lists(PATHS.map(lambda path: f"{path}/file"), max_size=8))
def test_the_index_finds_what_looking_at_every_pair_finds(
    rules: list[tuple[str, tuple[str, ...], tuple[str, ...]]], files: list[str]
) -> None:
    made = [
        TouchRule(application_id=str(number), directory=directory, paths=paths, ignores=ignores)
        for number, (directory, paths, ignores) in enumerate(rules)
    ]

    expected = [rule.application_id for rule in made if touched_by_looking_at_everything(rule, files)]
    assert touched_ids(made, *files) == expected
