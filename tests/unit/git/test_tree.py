"""Where symbolic links lead."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.git.tree import link_leaves


@pytest.mark.parametrize(
    ("path", "target", "leaves"),
    [
        pytest.param("a", "b", False, id="beside"),
        pytest.param("a/b", "../c", False, id="up and inside"),
        pytest.param("a/b/c", "../../d", False, id="to the root"),
        pytest.param("a", "../b", True, id="out of the root"),
        pytest.param("a/b", "../../c", True, id="out of a directory"),
        pytest.param("a/b", "x/../../../c", True, id="down and out"),
        pytest.param("a", "/etc/passwd", True, id="absolute"),
        pytest.param("a", ".git/config", True, id="git's own files"),
        pytest.param("a/b", "../.GIT/hooks", True, id="git's own files in capitals"),
        pytest.param("a", ".", False, id="the root itself"),
    ],
)
def test_a_link_leaves_the_tree_or_not(path: str, target: str, leaves: bool) -> None:
    assert link_leaves(path, target) == leaves


@given(
    st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["a", "..", ".", "", "b"]), min_size=1, max_size=6),
)
def test_a_link_that_stays_is_one_whose_normal_form_stays(path: list[str], target: list[str]) -> None:
    text = "/".join(target)
    normal = posixpath.normpath(posixpath.join("/".join(path[:-1]), text))

    if not link_leaves("/".join(path), text):
        assert not normal.startswith(("..", "/"))
    elif not text.startswith("/"):
        assert ".." in target
