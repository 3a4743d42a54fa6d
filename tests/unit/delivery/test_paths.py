"""Patterns in the manner of .dockerignore."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.delivery.paths import PathPatterns, PatternError


@pytest.mark.parametrize(
    ("patterns", "path", "matches"),
    [
        pytest.param(["apps/cart"], "apps/cart/app.yaml", True, id="a directory means all below it"),
        pytest.param(["apps/cart"], "apps/cart2/app.yaml", False, id="not its namesake with more letters"),
        pytest.param(["apps/cart/"], "apps/cart/app.yaml", True, id="a trailing slash"),
        pytest.param(["/apps"], "apps/x", True, id="a leading slash"),
        pytest.param(["./apps"], "apps/x", True, id="a leading dot"),
        pytest.param(["apps"], "./apps/x", True, id="a path with a leading dot"),
        pytest.param(["apps"], "other/apps/x", False, id="patterns start at the root"),
        pytest.param(["*.md"], "README.md", True, id="a star in the root"),
        pytest.param(["*.md"], "docs/README.md", False, id="a star stays in its directory"),
        pytest.param(["*"], "docs/README.md", True, id="a star matches a directory and so all below it"),
        pytest.param(["apps/*/chart"], "apps/cart/chart/values.yaml", True, id="a star for one directory"),
        pytest.param(["apps/*/chart"], "apps/a/b/chart/values.yaml", False, id="a star for one directory only"),
        pytest.param(["**/README.md"], "README.md", True, id="two stars for no directory"),
        pytest.param(["**/README.md"], "a/b/README.md", True, id="two stars for many directories"),
        pytest.param(["a/**/z"], "a/z", True, id="two stars inside for none"),
        pytest.param(["a/**/z"], "a/b/c/z", True, id="two stars inside for many"),
        pytest.param(["a/**"], "a/b/c", True, id="two stars at the end"),
        pytest.param(["a/**"], "a", False, id="two stars at the end mean what is below"),
        pytest.param(["**"], "a/b", True, id="two stars alone"),
        pytest.param(["**.md"], "docs/x.md", True, id="two stars before a name"),
        pytest.param(["lib**/x"], "lib-a/b/x", True, id="two stars after a name"),
        pytest.param(["lib**"], "lib-a/b/x", True, id="two stars at the very end"),
        pytest.param(["a**b"], "axxb", True, id="two stars within a name"),
        pytest.param(["."], "a/b", True, id="the root itself"),
        pytest.param(["file?.txt"], "file1.txt", True, id="a question mark"),
        pytest.param(["file?txt"], "file/txt", False, id="a question mark is no slash"),
        pytest.param(["v[0-9]"], "v7", True, id="a range"),
        pytest.param(["v[^0-9]"], "v7", False, id="a negated range"),
        pytest.param(["v[^0-9]x"], "v/x", False, id="a negated range is no slash"),
        pytest.param([r"v\*"], "v*", True, id="an escaped star"),
        pytest.param([r"v\*"], "v1", False, id="an escaped star is no star"),
        pytest.param(["a.b"], "axb", False, id="a dot is a dot"),
        pytest.param(["docs", "!docs/api"], "docs/api/index.md", False, id="an exclusion"),
        pytest.param(["docs", "!docs/api"], "docs/guide.md", True, id="beside an exclusion"),
        pytest.param(["docs", "!docs/api", "docs/api/v1"], "docs/api/v1/x", False, id="an exclusion wins"),
        pytest.param(["!docs/api", "docs"], "docs/api/x", False, id="an exclusion wins from the front too"),
        pytest.param(["!docs"], "src/x", False, id="an exclusion alone means nothing"),
        pytest.param([], "a", False, id="no patterns"),
        pytest.param(["", "  "], "a", False, id="empty patterns"),
        pytest.param(["a b/c\n"], "a b/c/d", True, id="spaces around are dropped, inside kept"),
    ],
)
def test_patterns_match_as_documented(patterns: list[str], path: str, matches: bool) -> None:
    assert PathPatterns(tuple(patterns)).match(path) is matches


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        pytest.param("v[0-9", "opens a set", id="an open set"),
        pytest.param("v[]", "opens a set", id="an empty set"),
        pytest.param("v[9-0]", "wrong way round; write 0-9", id="a range backwards"),
        pytest.param("v\\", 'ends with a "\\"', id="a backslash at the end"),
        pytest.param("v[\\", "inside a set", id="a backslash at the end of a set"),
        pytest.param("../secrets", "leaves the repository", id="above the root"),
        pytest.param("!", "names no path", id="an exclusion of nothing"),
    ],
)
def test_a_pattern_that_means_nothing_is_refused_with_its_text(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError, match=re.escape(problem)) as refusal:
        PathPatterns((pattern,))

    assert f'"{pattern}"' in str(refusal.value)


NAMES = st.text(alphabet="abc.-_ ", min_size=1, max_size=4).filter(lambda name: name.strip(" .") == name)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@given(PATHS, PATHS)
def test_a_plain_path_matches_itself_and_everything_below(path: str, below: str) -> None:
    patterns = PathPatterns((path,))

    assert patterns.match(path)
    assert patterns.match(f"{path}/{below}")


@given(PATHS, PATHS)
def test_a_plain_path_matches_nothing_else(path: str, other: str) -> None:
    below = other == path or other.startswith(f"{path}/")

    assert PathPatterns((path,)).match(other) is below


@given(PATHS, PATHS)
def test_two_stars_find_a_name_at_any_depth(above: str, name: str) -> None:
    assert PathPatterns((f"**/{name}",)).match(f"{above}/{name}")


@given(st.lists(PATHS, max_size=4), PATHS)
def test_an_exclusion_always_wins(patterns: list[str], path: str) -> None:
    assert not PathPatterns((path, f"!{path}", *patterns)).match(path)


@given(st.lists(PATHS | PATHS.map("!{}".format), min_size=1, max_size=4), PATHS)
def test_the_order_of_patterns_does_not_matter(patterns: list[str], path: str) -> None:
    forwards, backwards = PathPatterns(tuple(patterns)), PathPatterns(tuple(reversed(patterns)))

    assert forwards.match(path) is backwards.match(path)


def means(pattern: list[str], path: list[str]) -> bool:
    """The same as the expressions, name by name and without any cleverness."""
    if not pattern or pattern == ["**"]:
        return not pattern or bool(path)
    if pattern[0] == "**":
        return any(means(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    if not path:
        return False
    name = pattern[0].replace("*", ".*").replace("?", ".")
    return re.fullmatch(name, path[0]) is not None and means(pattern[1:], path[1:])


PATTERN_NAMES = st.sampled_from(["a", "b", "*", "**", "a*", "*b", "*a*b*", "b*a*", "?", "?*", "[ab]"])


@given(st.lists(PATTERN_NAMES, min_size=1, max_size=6), st.lists(st.text("ab", min_size=1, max_size=5), min_size=1))
def test_matching_from_the_left_finds_what_trying_everything_finds(pattern: list[str], path: list[str]) -> None:
    assert PathPatterns(("/".join(pattern),)).match("/".join(path)) is means(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        pytest.param("*a" * 60 + "b", "a" * 250, id="many stars in a name"),
        pytest.param("**/a/" * 60 + "b", "a/" * 500 + "c", id="many depths"),
        pytest.param("**/*a*a*a*a*a/" * 20 + "b", ("a" * 30 + "/") * 100 + "c", id="both"),
    ],
)
def test_a_malicious_pattern_does_not_keep_the_agent_busy(pattern: str, path: str) -> None:
    # With backtracking each of these would outlast the test run.
    assert not PathPatterns((pattern,)).match(path)


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_text_is_a_pattern_or_is_refused(pattern: str, path: str) -> None:
    try:
        patterns = PathPatterns((pattern,))
    except PatternError:
        return

    assert patterns.match(path) in {True, False}


@given(st.lists(st.sampled_from(["a", "b", "*", "**", "?", "a*", "[ab]"]), min_size=1, max_size=4), PATHS)
def test_what_matches_lies_below_a_fixed_beginning(parts: list[str], path: str) -> None:
    patterns = PathPatterns(("/".join(parts),))

    if patterns.match(path):
        assert any(not start or path == start or path.startswith(f"{start}/") for start in patterns.beginnings())
