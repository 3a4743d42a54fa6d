"""Names that git must never be given are refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.git.errors import GitInputError
from fairway.git.names import (
    checked_branch,
    checked_hash,
    checked_hashes,
    checked_path,
    checked_person,
    checked_trailer,
    to_bytes,
    to_text,
)


@pytest.mark.parametrize(
    "name", ["main", "feature/one", "a.b", "ünï", "release-1.0", "a@b", "x/refs/heads/main", "HEAD2", "{x}"]
)
def test_ordinary_branches_pass(name: str) -> None:
    assert checked_branch(name) == name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("@", "is empty or a lone '@'", id="at"),
        pytest.param("-x", "starts with '-'", id="option"),
        pytest.param("/x", "starts with '/'", id="slash first"),
        pytest.param("refs/heads/main", "starts with 'refs/'", id="full ref"),
        pytest.param("a..b", "contains '..'", id="range"),
        pytest.param("a b", "contains ' '", id="space"),
        pytest.param("a\nb", r"contains '\n'", id="line break"),
        pytest.param("a\0b", r"contains '\x00'", id="NUL"),
        pytest.param("a:b", "contains ':'", id="colon"),
        pytest.param("a^", "contains '^'", id="caret"),
        pytest.param("a@{1}", "contains '@{'", id="reflog"),
        pytest.param("a//b", "contains '//'", id="empty part"),
        pytest.param("a/", "ends with '/'", id="slash last"),
        pytest.param("a/.b", "has a part that starts with '.'", id="dot"),
        pytest.param("a.lock/b", "or ends with '.lock'", id="lock"),
        pytest.param("a\ud800", "not text", id="half a character"),
    ],
)
def test_branches_that_git_would_misread_are_refused(name: str, reason: str) -> None:
    with pytest.raises(GitInputError) as caught:
        checked_branch(name)

    assert reason in str(caught.value)


@given(st.text(max_size=20))
def test_a_path_that_passes_stays_inside_and_cannot_be_an_option(path: str) -> None:
    try:
        checked_path(path)
    except GitInputError:
        return

    parts = path.split("/")
    assert not ({"", ".", "..", ".git"} & set(parts))
    assert not path.startswith("-")
    assert path.isprintable() or not any(character < " " for character in path)


@pytest.mark.parametrize(
    "path", ["a", "a b/'c'/\"d\"", "ünï/ß.yaml", "...", "a/-b", ".gitignore", "caf\udce9", "a\\b", "$(x)", "*"]
)
def test_odd_but_honest_paths_pass(path: str) -> None:
    assert checked_path(path) == path


@given(st.binary(max_size=30))
def test_any_bytes_git_knows_as_a_path_survive_as_text(raw: bytes) -> None:
    assert to_bytes(to_text(raw)) == raw


@pytest.mark.parametrize("text", ["", "abc", "A" * 40, "g" * 40, "0" * 39, "0" * 41, "0" * 40 + "\n", "HEAD"])
def test_only_whole_hashes_pass(text: str) -> None:
    assert checked_hash("0a" * 20) + checked_hash("0a" * 32) == "0a" * 52
    with pytest.raises(GitInputError, match="is not a commit hash"):
        checked_hash(text)


@pytest.mark.parametrize("bad", ["", "x", "0" * 40 + " ", "0" * 80, "0" * 40 + "\n"])
def test_hashes_are_checked_together_and_come_once(bad: str) -> None:
    one, two = "1" * 40, "2" * 64

    assert (checked_hashes([one, two, one]), checked_hashes([])) == ([one, two], [])
    with pytest.raises(GitInputError, match="is not a commit hash"):
        checked_hashes([one, bad, two])


@pytest.mark.parametrize(("name", "email"), [("", "a@b"), ("a", " "), ("a\nb", "a@b"), ("a", "a>b"), ("<a", "a@b")])
def test_people_who_would_break_the_author_line_are_refused(name: str, email: str) -> None:
    with pytest.raises(GitInputError, match="of a commit author"):
        checked_person(name, email)


@pytest.mark.parametrize(
    ("key", "value"), [("", "x"), ("a b", "x"), ("-a", "x"), ("A:", "x"), ("A", ""), ("A", "x\ny")]
)
def test_trailers_that_would_not_be_trailers_are_refused(key: str, value: str) -> None:
    with pytest.raises(GitInputError, match="commit trailer"):
        checked_trailer(key, value)
