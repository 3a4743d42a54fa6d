"""Remotes as people write them, and the web pages of their commits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.git.errors import GitInputError
from fairway.git.remote import Login, Remote, WebStyle, commit_url, parse_remote, redacted

COMMIT = "0123456789" * 4


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        pytest.param(
            "https://github.com/o/r.git",
            Remote("https://github.com/o/r.git", "https", "/o/r.git", "github.com"),
            id="https",
        ),
        pytest.param("http://h:8080/r", Remote("http://h:8080/r", "http", "/r", "h", 8080), id="http with a port"),
        pytest.param("https://[::1]:3/r", Remote("https://[::1]:3/r", "https", "/r", "::1", 3), id="IPv6"),
        pytest.param("ssh://git@h:22/~o/r", Remote("ssh://git@h:22/~o/r", "ssh", "/~o/r", "h", 22, "git"), id="ssh"),
        pytest.param("git+ssh://h/r", Remote("git+ssh://h/r", "git+ssh", "/r", "h"), id="git+ssh"),
        pytest.param("git://h/r", Remote("git://h/r", "git", "/r", "h"), id="git"),
        pytest.param("rsync://h/r", Remote("rsync://h/r", "rsync", "/r", "h"), id="rsync"),
        pytest.param("git@h:o/r.git", Remote("git@h:o/r.git", "ssh", "o/r.git", "h", None, "git"), id="scp form"),
        pytest.param("h:r", Remote("h:r", "ssh", "r", "h"), id="scp form without a user"),
        pytest.param("git@[::1]:r", Remote("git@[::1]:r", "ssh", "r", "::1", None, "git"), id="scp form with IPv6"),
        pytest.param("file:///a%20b", Remote("file:///a%20b", "file", "/a b"), id="file"),
        pytest.param("/srv/git/r.git", Remote("/srv/git/r.git", "file", "/srv/git/r.git"), id="plain path"),
        pytest.param("./r:x", Remote("./r:x", "file", "./r:x"), id="relative path with a colon"),
    ],
)
def test_a_remote_is_read(text: str, remote: Remote) -> None:
    assert parse_remote(text) == (remote, None)


@pytest.mark.parametrize(
    ("text", "login"),
    [
        pytest.param("https://ada:p%40ss@h/r", Login("ada", "p@ss"), id="user and password"),
        pytest.param("https://token@h/r", Login("token", ""), id="a lone token"),
        pytest.param("https://:pw@h/r", Login("git", "pw"), id="password only"),
    ],
)
def test_a_login_inside_an_address_is_split_off(text: str, login: Login) -> None:
    assert parse_remote(text) == (Remote("https://h/r", "https", "/r", "h"), login)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" https://h/r", id="space before"),
        pytest.param("-oProxyCommand=x", id="option"),
        pytest.param("ext::sh -c x", id="transport helper"),
        pytest.param("https::https://h/r", id="helper before an address"),
        pytest.param("ftp://h/r", id="unknown scheme"),
        pytest.param("https://h", id="no repository"),
        pytest.param("https:///r", id="no host"),
        pytest.param("https://h:99999/r", id="no such port"),
        pytest.param("https://h/r?x=1", id="query"),
        pytest.param("https://-h/r", id="host like an option"),
        pytest.param("ssh://-oProxyCommand=x/r", id="ssh host like an option"),
        pytest.param("ssh://-l@h/r", id="ssh user like an option"),
        pytest.param("ssh://u:p@h/r", id="ssh with a password"),
        pytest.param("ssh://h/-x", id="path like an option"),
        pytest.param("git@-h:r", id="scp host like an option"),
        pytest.param("h:-x", id="scp path like an option"),
        pytest.param("file://other/r", id="file on another host"),
        pytest.param("https://h/r\n", id="line break"),
        pytest.param("/a\0b", id="NUL"),
        pytest.param("https://[::1/r", id="half an IPv6 address"),
    ],
)
def test_hostile_remotes_are_refused(text: str) -> None:
    with pytest.raises(GitInputError):
        parse_remote(text)


@given(
    user=st.text("ab1%-", min_size=1), password=st.text("xyz%:!", min_size=4), tail=st.text("/?#\n :@ab", max_size=5)
)
def test_no_password_survives_in_a_remote_or_an_error(user: str, password: str, tail: str) -> None:
    secret = f"S3CRET{password}"
    try:
        shown = repr(parse_remote(f"https://{user}:{secret}@host/r{tail}"))
    except GitInputError as error:
        shown = str(error)

    assert "S3CRET" not in shown


@given(st.text(max_size=40))
def test_any_text_is_a_remote_or_refused_and_never_looks_like_an_option(text: str) -> None:
    try:
        remote, _ = parse_remote(text)
    except GitInputError:
        return

    assert not remote.url.startswith("-")
    assert "::" not in remote.url.split("/")[0] or "[" in remote.url
    assert redacted(remote.url) == remote.url or remote.scheme not in {"http", "https"}
    commit_url(remote, COMMIT)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        pytest.param("https://token@h/r and git://a:b@h/r", "https://***@h/r and git://***@h/r", id="may be a token"),
        pytest.param("ssh://git@h/r", "ssh://git@h/r", id="the user of ssh is none"),
        pytest.param("see ssh://git:hush@h/r", "see ssh://git:***@h/r", id="a password of ssh"),
        pytest.param("git@h:r", "git@h:r", id="scp"),
    ],
)
def test_what_an_address_is_logged_in_with_is_hidden(written: str, shown: str) -> None:
    assert redacted(written) == shown


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://github.com/o/r.git", f"https://github.com/o/r/commit/{COMMIT}"),
        ("git@github.com:o/r.git", f"https://github.com/o/r/commit/{COMMIT}"),
        ("ssh://git@ssh.github.com:443/o/r.git", f"https://github.com/o/r/commit/{COMMIT}"),
        ("git+ssh://git@gitlab.com/g/s/r.git", f"https://gitlab.com/g/s/r/-/commit/{COMMIT}"),
        ("git@altssh.gitlab.com:g/r.git", f"https://gitlab.com/g/r/-/commit/{COMMIT}"),
        ("https://gitlab.corp.example:8443/g/r", f"https://gitlab.corp.example:8443/g/r/-/commit/{COMMIT}"),
        ("git@bitbucket.org:o/r.git", f"https://bitbucket.org/o/r/commits/{COMMIT}"),
        ("https://bb.example/scm/prj/r.git", f"https://bb.example/projects/prj/repos/r/commits/{COMMIT}"),
        ("https://bb.example/scm/~ada/r.git", f"https://bb.example/users/ada/repos/r/commits/{COMMIT}"),
        ("https://codeberg.org/o/r.git", f"https://codeberg.org/o/r/commit/{COMMIT}"),
        ("http://gitea.local:3000/o/r.git", f"http://gitea.local:3000/o/r/commit/{COMMIT}"),
        ("https://git.example.com/o/r.git", None),
        ("/srv/git/r.git", None),
        ("file:///srv/git/r.git", None),
    ],
)
def test_the_page_of_a_commit_is_derived_where_the_host_tells(remote: str, page: str | None) -> None:
    assert commit_url(parse_remote(remote)[0], COMMIT) == page


def test_a_style_helps_where_the_host_does_not_tell() -> None:
    remote, _ = parse_remote("git@git.example.com:o/a b.git")

    assert commit_url(remote, COMMIT, WebStyle.GITLAB) == f"https://git.example.com/o/a%20b/-/commit/{COMMIT}"
