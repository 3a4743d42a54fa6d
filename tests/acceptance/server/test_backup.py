import subprocess
from pathlib import Path

import grpc

from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from tests.acceptance.server.processes import FAIRWAY, a_server


def fairway(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FAIRWAY, *arguments], capture_output=True, text=True, check=False)


async def test_a_backup_of_a_running_server_starts_elsewhere_as_it_was(tmp_path: Path) -> None:
    with a_server(tmp_path / "one") as server:
        metadata = (("authorization", f"API-KEY {server.api_key}"),)
        user = UserStub(grpc.aio.insecure_channel(server.address))
        agent = await user.RegisterPiped(user_messages.RegisterPipedRequest(name="kept"), metadata=metadata)
        made = fairway("server", "backup", tmp_path / "backup.tar", "--data", tmp_path / "one")
    put_back = fairway("server", "restore", tmp_path / "backup.tar", "--data", tmp_path / "two")

    with a_server(tmp_path / "two") as server:
        user = UserStub(grpc.aio.insecure_channel(server.address))
        found = await user.GetPiped(user_messages.GetPipedRequest(piped_id=agent.id), metadata=metadata)

    assert (made.returncode, put_back.returncode, found.piped.name) == (0, 0, "kept")


def test_a_directory_in_use_is_not_overwritten(tmp_path: Path) -> None:
    with a_server(tmp_path / "one"):
        fairway("server", "backup", tmp_path / "backup.tar", "--data", tmp_path / "one")

    refused = fairway("server", "restore", tmp_path / "backup.tar", "--data", tmp_path / "one")

    assert refused.returncode == 1
    assert "fairway server restore: " in refused.stderr
