"""Spellings of one repository, and repositories that only look alike."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.remotes import same_repository

SPELLINGS = [
    "git@github.com:acme/shop.git",
    "git@github.com:acme/shop",
    "ssh://git@github.com/acme/shop.git",
    "https://github.com/acme/shop",
    "https://github.com/acme/shop.git",
    "https://GitHub.com/acme/shop/",
    "https://ada:hunter2@github.com/acme/shop.git",
]


@pytest.mark.parametrize(("one", "other"), list(itertools.product(SPELLINGS, SPELLINGS)))
def test_spellings_of_one_remote_are_one_repository(one: str, other: str) -> None:
    assert same_repository(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("git@github.com:acme/shop", "git@github.com:acme/shops", id="another name"),
        pytest.param("git@github.com:acme/shop", "https://gitlab.com/acme/shop", id="another host"),
        pytest.param("git@github.com:acme/shop", "git@github.com:other/shop", id="another owner"),
        pytest.param("https://git.acme.dev:3000/a/b", "https://git.acme.dev:3001/a/b", id="another server on the host"),
        pytest.param("file:///srv/shop", "https://srv/shop", id="a path and a host"),
        pytest.param("/srv/shop", "srv/shop", id="absolute and relative"),
        pytest.param("git@github.com:acme/shop", "-oProxyCommand=x", id="no address at all"),
    ],
)
def test_what_only_looks_alike_is_another_repository(one: str, other: str) -> None:
    assert not same_repository(one, other)
    assert not same_repository(other, one)


def test_a_port_does_not_count_between_ssh_and_https() -> None:
    assert same_repository("ssh://git@git.acme.dev:2222/a/b.git", "https://git.acme.dev/a/b")


def test_a_path_is_the_same_as_its_file_address() -> None:
    assert same_repository("file:///srv/shop.git", "/srv/shop")


@given(st.text())
def test_any_text_is_the_same_as_itself(text: str) -> None:
    assert same_repository(text, text)


@given(st.text(), st.text())
def test_the_order_does_not_matter(one: str, other: str) -> None:
    assert same_repository(one, other) == same_repository(other, one)
