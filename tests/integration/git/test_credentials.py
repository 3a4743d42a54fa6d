"""Credentials: they open the door and are seen nowhere else."""

import os
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from fairway.errors import FairwayError
from fairway.git.commit import Changes, CommitText, Person
from fairway.git.credentials import Access, Credentials, HostKeys, SshKey
from fairway.git.errors import GitAccessError, GitInputError, GitNotFound, GitRemoteError
from fairway.git.mirror import Mirror, MirrorOptions
from fairway.git.push import PushTarget, Read, push_edit
from fairway.git.remote import Login, parse_remote
from tests.integration.git.repositories import an_origin, patient
from tests.integration.git.web_server import WebServer, a_certificate, a_web_server

SECRET = "s3cret/ü"
TEXT = CommitText("Edit", Person("F", "f@example.com"), datetime(2026, 1, 1, tzinfo=UTC))


def options(password: str = SECRET, private: Path | None = None) -> MirrorOptions:
    credentials = Credentials(login=Login("ada", password))
    return MirrorOptions(credentials, private, patient().retry, patience=0.3)


def record_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `git`, a `cat` and an `sh` before the real ones that note arguments and environment of every child."""
    record, folder = tmp_path / "record", tmp_path / "bin"
    folder.mkdir()
    real = os.environ["PATH"]
    for name in ("git", "cat", "sh"):
        script = folder / name
        script.write_text(
            f"#!/bin/sh\n{{ echo {name} \"$@\"; env; tr '\\0' ' ' < /proc/$PPID/cmdline; echo; }} >> {record}\n"
            f'PATH={real} exec {name} "$@"\n'
        )
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{real}")
    return record


async def edit(read: Read) -> Changes:
    return {"app.yaml": b"name: shop\n"}


async def test_a_password_is_neither_in_a_process_list_nor_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, private = an_origin(tmp_path), tmp_path / "private"
    record = record_commands(tmp_path, monkeypatch)
    with a_web_server(tmp_path) as server:
        url = f"{server.origin}/origin.git"
        async with await Mirror.open(tmp_path / "m.git", url, options(private=private)) as mirror:
            await mirror.remote_head("main")
            await push_edit(mirror, PushTarget("main"), edit, TEXT)
            modes = {path.name: path.stat().st_mode & 0o777 for path in (private, *private.iterdir())}

    assert origin.show("app.yaml") == "name: shop"
    assert modes == {"private": 0o700, "login": 0o600}
    assert list(private.iterdir()) == []
    assert "clone" in record.read_text()
    texts = [record, *(file for file in (tmp_path / "m.git").rglob("*") if file.is_file())]
    assert [str(file) for file in texts if SECRET.encode() in file.read_bytes()] == []


async def test_a_password_inside_the_address_is_split_off_and_used(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    with a_web_server(tmp_path) as server:
        url = server.origin.replace("://", f"://ada:{quote(SECRET, safe='')}@") + "/origin.git"
        async with await Mirror.open(tmp_path / "m.git", url, patient()) as mirror:
            head, shown = await mirror.head("main"), str(mirror.remote)

    assert (head, shown) == (origin.head(), f"{server.origin}/origin.git")
    assert SECRET not in (tmp_path / "m.git" / "config").read_text()


async def test_https_works_with_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    an_origin(tmp_path)
    certificate = a_certificate(tmp_path / "server.pem")
    credentials = Credentials(login=Login("ada", SECRET), ca_file=certificate)
    with a_web_server(tmp_path, certificate=certificate) as server:
        url = f"{server.origin}/origin.git"
        async with await Mirror.open(
            tmp_path / "m.git", url, MirrorOptions(credentials, retry=patient().retry)
        ) as mirror:
            pushed = await push_edit(mirror, PushTarget("main"), edit, TEXT)

            assert await mirror.remote_head("main") == pushed.commit


async def test_https_with_a_certificate_that_nobody_trusts_is_refused(tmp_path: Path) -> None:
    an_origin(tmp_path)
    with a_web_server(tmp_path, certificate=a_certificate(tmp_path / "server.pem")) as server:
        with pytest.raises(FairwayError, match="certificate"):
            await Mirror.open(tmp_path / "m.git", f"{server.origin}/origin.git", options())

        assert server.seen == []


async def test_a_wrong_password_is_the_users_fault_and_not_tried_again(tmp_path: Path) -> None:
    an_origin(tmp_path)
    with a_web_server(tmp_path) as server, pytest.raises(GitAccessError, match="refused the login") as caught:
        await Mirror.open(tmp_path / "m.git", f"{server.origin}/origin.git", options("wr0ng-pass"))

    assert "wr0ng-pass" not in repr(caught.value)
    assert server.statuses == [401, 401]


async def test_no_password_at_all_does_not_prompt(tmp_path: Path) -> None:
    an_origin(tmp_path)
    with a_web_server(tmp_path) as server, pytest.raises(GitAccessError, match="could not read Username"):
        await Mirror.open(tmp_path / "m.git", f"{server.origin}/origin.git", patient())


async def test_another_host_never_gets_the_password(tmp_path: Path) -> None:
    an_origin(tmp_path)
    with a_web_server(tmp_path) as server, a_web_server(tmp_path) as thief:
        server.redirect = thief.origin
        with pytest.raises(GitAccessError):
            await Mirror.open(tmp_path / "m.git", f"{server.origin}/origin.git", options())

    assert set(thief.seen) == {None}


@pytest.mark.parametrize("failures", [pytest.param([503], id="once"), pytest.param([500, 502], id="twice")])
async def test_a_server_that_fails_for_a_moment_is_tried_again(tmp_path: Path, failures: list[int]) -> None:
    origin = an_origin(tmp_path)
    with a_web_server(tmp_path) as server:
        server.failures = list(failures)
        async with await Mirror.open(tmp_path / "m.git", f"{server.origin}/origin.git", options()) as mirror:
            head = await mirror.head("main")

    assert head == origin.head()
    assert server.statuses[: len(failures)] == failures


def broken(server: WebServer) -> str:
    server.failures = [500] * 9
    return f"{server.origin}/origin.git"


async def test_a_server_that_stays_broken_is_a_temporary_error_after_a_bounded_number_of_tries(tmp_path: Path) -> None:
    with a_web_server(tmp_path) as server, pytest.raises(GitRemoteError, match="the remote or the network failed"):
        await Mirror.open(tmp_path / "m.git", broken(server), options())

    assert server.statuses == [500, 500, 500]


@pytest.mark.parametrize(
    ("remote", "kind"),
    [
        pytest.param("{0}/absent", GitNotFound, id="path that is not there"),
        pytest.param("file://{0}/absent", GitNotFound, id="file address that is not there"),
        pytest.param("http://127.0.0.1:1/x.git", GitRemoteError, id="nobody listens"),
        pytest.param("rsync://127.0.0.1/x.git", GitInputError, id="a scheme git must not use"),
        pytest.param("ext::sh -c 'touch {0}/owned'", GitInputError, id="a transport helper"),
        pytest.param("--upload-pack=touch {0}/owned", GitInputError, id="an option"),
    ],
)
async def test_remotes_that_cannot_be_used_say_whose_fault_it_is(
    tmp_path: Path, remote: str, kind: type[FairwayError]
) -> None:
    with pytest.raises(kind):
        await Mirror.open(tmp_path / "m.git", remote.format(tmp_path), patient())

    assert set(os.listdir(tmp_path)) <= {"m.git.lock"}


async def test_ssh_gets_the_key_as_a_private_file_and_the_command_names_only_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = an_origin(tmp_path)
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    # Stands in for ssh: notes its arguments and the mode of the key, then runs the command on this machine.
    ssh.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/arguments\nstat -c %a {tmp_path}/private/key >> {tmp_path}/modes\n'
        f"cat {tmp_path}/private/ssh > {tmp_path}/told\n"
        f'for last; do :; done\nexec sh -c "$last"\n'
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    key = SshKey(
        key_data="PRIVATE KEY",
        known_hosts_file=tmp_path / "known hosts",
        host_keys=HostKeys.ACCEPT_NEW,
        config_file=tmp_path / "config",
        host_names={"example.com": "localhost", "example.org": "elsewhere"},
    )
    chosen = MirrorOptions(Credentials(ssh=key), tmp_path / "private", patient().retry)
    async with await Mirror.open(tmp_path / "m.git", f"git@example.com:{origin.bare}", chosen) as mirror:
        head = await mirror.head("main")

    arguments = (tmp_path / "arguments").read_text()
    assert head == origin.head()
    assert (tmp_path / "modes").read_text() == "600\n"
    assert f"-F {tmp_path}/private/ssh -o BatchMode=yes -i {tmp_path}/private/key -o IdentitiesOnly=yes" in arguments
    assert " -o HostName=localhost " in arguments
    assert (tmp_path / "told").read_text() == (
        f'Include "{tmp_path}/config"\nHost *\nStrictHostKeyChecking accept-new\n'
        f'UserKnownHostsFile "{tmp_path}/known hosts" ~/.ssh/known_hosts\n'
    )
    assert ("PRIVATE KEY" in arguments, "elsewhere" in arguments) == (False, False)


def test_secrets_do_not_show_in_representations_and_messages() -> None:
    remote, login = parse_remote("https://ada:p%40ss@example.com/r.git")
    assert login is not None
    access = Access.grant(remote, Credentials(login=login))

    message = access.redact("fatal: https://ada:p%40ss@example.com p@ss p%40ss YWRhOnBAc3M= git said")
    access.close()

    assert message == "fatal: https://***@example.com *** *** *** git said"
    assert ("p@ss" in repr(login), "DATA" in repr(SshKey(key_data="DATA"))) == (False, False)


@pytest.mark.parametrize(
    ("url", "credentials", "words"),
    [
        pytest.param("https://h/r", Credentials(login=Login("a\nb", "x")), "user name", id="line break in the name"),
        pytest.param("https://h/r", Credentials(login=Login("a", "x\n")), "password", id="line break at the end"),
        pytest.param("ssh://h/r", Credentials(ssh=SshKey(Path("k"), "data")), "both a key file and", id="two keys"),
    ],
)
def test_credentials_that_cannot_work_are_refused(url: str, credentials: Credentials, words: str) -> None:
    with pytest.raises(GitInputError, match=words):
        Access.grant(parse_remote(url)[0], credentials)
