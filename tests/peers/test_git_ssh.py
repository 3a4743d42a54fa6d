"""What an agent's file says of SSH, at a real SSH server: keys, ssh's own configuration, which hosts are trusted."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from fairway.agent.repositories import Repositories
from fairway.config.agent_file import GitAccess
from fairway.git.errors import GitAccessError
from tests.integration.agent.running import agent_config
from tests.integration.git.repositories import git
from tests.peers.gitea import USER, Gitea, Hosted, SshKeys


class Door(NamedTuple):
    """A repository, and keys that open it."""

    hosted: Hosted
    keys: SshKeys


@pytest.fixture(scope="module")
def door(gitea: Gitea) -> Door:
    keys = SshKeys.new()
    gitea.allow(keys)
    return Door(gitea.repository({"a": "1"}), keys)


async def head(door: Door, folder: Path, access: GitAccess, remote: str = "") -> str | None:
    """The newest commit, as an agent with that access finds it."""
    # What the user who runs the tests has set for ssh is not to count.
    if access.ssh_config_file_path == GitAccess().ssh_config_file_path:
        access = msgspec.structs.replace(access, ssh_config_file_path=str(folder / "none"))
    config = agent_config(door.hosted.origin, remote=remote or door.hosted.ssh)
    config = msgspec.structs.replace(config, git=access)
    async with Repositories.open(folder / "mirrors", config) as repositories:
        await repositories.by_id["r-1"].refresh()
        return repositories.by_id["r-1"].head


def by_key_file(door: Door, folder: Path) -> GitAccess:
    return GitAccess(ssh_key_file=str(door.keys.write(folder / "key")))


def by_key_data(door: Door, _: Path) -> GitAccess:
    return GitAccess(ssh_key_data=base64.b64encode(door.keys.private.encode()).decode())


def by_configuration(door: Door, folder: Path) -> GitAccess:
    (folder / "config").write_text(f"Host 127.0.0.1\nIdentityFile {door.keys.write(folder / 'key')}\n")
    return GitAccess(ssh_config_file_path=str(folder / "config"))


Way = Callable[[Door, Path], GitAccess]


@pytest.mark.parametrize("way", [by_key_file, by_key_data, by_configuration])
async def test_an_agent_is_let_in_and_remembers_the_host(door: Door, way: Way, tmp_path: Path) -> None:
    found = await head(door, tmp_path, way(door, tmp_path))

    assert found == git(door.hosted.origin.work, "rev-parse", "main")
    assert door.hosted.gitea.host_keys.public in (tmp_path / "mirrors" / ".known_hosts").read_text()
    assert not list((tmp_path / "mirrors" / "r-1.private").iterdir())


async def test_a_host_may_be_somewhere_else_than_its_name_says(door: Door, tmp_path: Path) -> None:
    access = GitAccess(ssh_key_file=str(door.keys.write(tmp_path / "key")), host="git.invalid", host_name="127.0.0.1")
    remote = door.hosted.ssh.replace("@127.0.0.1:", "@git.invalid:")

    assert await head(door, tmp_path, access, remote) == git(door.hosted.origin.work, "rev-parse", "main")


async def test_an_alias_of_the_configuration_and_the_short_form_of_a_remote(door: Door, tmp_path: Path) -> None:
    port, key = door.hosted.gitea.ssh_port, door.keys.write(tmp_path / "key")
    (tmp_path / "config").write_text(f"Host shop\nHostName 127.0.0.1\nPort {port}\nIdentityFile {key}\n")
    access = GitAccess(ssh_config_file_path=str(tmp_path / "config"))

    found = await head(door, tmp_path, access, f"git@shop:{USER}/{door.hosted.name}.git")

    assert found == git(door.hosted.origin.work, "rev-parse", "main")


async def test_a_stranger_is_refused_with_the_hosts_words(door: Door, tmp_path: Path) -> None:
    access = GitAccess(ssh_key_file=str(SshKeys.new().write(tmp_path / "key")))

    with pytest.raises(GitAccessError, match=r"the remote refused the login.*Permission denied"):
        await head(door, tmp_path, access)


async def test_a_host_whose_key_has_changed_is_not_trusted(door: Door, tmp_path: Path) -> None:
    (tmp_path / "mirrors").mkdir()
    host = f"[127.0.0.1]:{door.hosted.gitea.ssh_port}"
    (tmp_path / "mirrors" / ".known_hosts").write_text(f"{host} {SshKeys.new().public}\n")

    with pytest.raises(GitAccessError, match="Host key verification failed"):
        await head(door, tmp_path, by_key_file(door, tmp_path))


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_configuration_that_wants_hosts_to_be_known_is_heeded(
    door: Door, tmp_path: Path, is_known: bool
) -> None:
    gitea, known = door.hosted.gitea, tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{gitea.ssh_port} {gitea.host_keys.public}\n" if is_known else "")
    (tmp_path / "config").write_text(f"Host *\nStrictHostKeyChecking yes\nUserKnownHostsFile {known}\n")
    access = GitAccess(
        ssh_key_file=str(door.keys.write(tmp_path / "key")), ssh_config_file_path=str(tmp_path / "config")
    )

    if is_known:
        assert await head(door, tmp_path, access) == git(door.hosted.origin.work, "rev-parse", "main")
    else:
        with pytest.raises(GitAccessError, match="Host key verification failed"):
            await head(door, tmp_path, access)
