import signal
import subprocess
from pathlib import Path

import grpc
import pytest

from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from tests.acceptance.server.processes import FAIRWAY, ServerProcess, a_server
from tests.patience import PATIENCE_SECONDS


def as_program(server: ServerProcess, key: str) -> tuple[UserStub, tuple[tuple[str, str], ...]]:
    return UserStub(grpc.aio.insecure_channel(server.address)), (("authorization", f"API-KEY {key}"),)


def as_agent(server: ServerProcess, agent_id: str, key: str) -> tuple[AgentStub, tuple[tuple[str, str], ...]]:
    token = f"PIPED-TOKEN default,{agent_id},{key}"
    return AgentStub(grpc.aio.insecure_channel(server.address)), (("authorization", token),)


async def test_what_was_acknowledged_survives_the_kill_of_the_server(tmp_path: Path) -> None:
    with a_server(tmp_path) as server:
        api_key = server.api_key
        user, metadata = as_program(server, api_key)
        registered = await user.RegisterPiped(user_messages.RegisterPipedRequest(name="one"), metadata=metadata)
        server.kill()

    with a_server(tmp_path) as server:
        agent, metadata = as_agent(server, registered.id, registered.key)
        reply = await agent.ReportPipedMeta(agent_messages.ReportPipedMetaRequest(version="v1"), metadata=metadata)
        user, metadata = as_program(server, api_key)
        stored = await user.GetPiped(user_messages.GetPipedRequest(piped_id=registered.id), metadata=metadata)

    assert (reply.name, stored.piped.version) == ("one", "v1")
    assert "API key" not in server.said


async def test_a_wrong_key_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with a_server(tmp_path) as server:
        user, metadata = as_program(server, "first.wrong-secret")

        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await user.ListApplications(user_messages.ListApplicationsRequest(), metadata=metadata)

    assert refusal.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert "wrong-secret" not in str(refusal.value.details())


async def test_the_traces_of_an_agent_are_taken_without_a_word(tmp_path: Path) -> None:
    with a_server(tmp_path) as server:
        channel = grpc.aio.insecure_channel(server.address)
        export: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
        )

        assert await export(b"whatever an agent measured") == b""


def test_a_server_that_is_asked_to_stop_ends_well(tmp_path: Path) -> None:
    with a_server(tmp_path) as server:
        server.process.send_signal(signal.SIGTERM)

        assert server.process.wait(timeout=PATIENCE_SECONDS) == 0


def test_an_address_in_use_is_said_in_one_line(tmp_path: Path) -> None:
    with a_server(tmp_path / "one") as first:
        command = [str(FAIRWAY), "server", "--data", str(tmp_path / "two"), "--listen", first.address]
        second = subprocess.run(command, capture_output=True, text=True, check=False)

    assert second.returncode == 1
    assert f"cannot listen on {first.address}: it is in use" in second.stderr
