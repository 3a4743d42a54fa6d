"""What plugins ask of the agent beside logs and notes."""

from pathlib import Path

import grpc
import msgspec
import pytest
from grpc import aio

from fairway.model.deployment import DeploymentStatus
from fairway.rpc.plugin_api import SecretStub, secret_messages
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port

ASKING = '[{name: asking, url: "python:tests.integration.agent.plugins.asking:Asking"}]'


async def test_a_plugin_opens_a_secret_that_its_log_never_shows(tmp_path: Path) -> None:
    keys = generate_key_pair(2048)
    options = msgspec.json.encode({"sealed": seal("hunter2-and-more", keys.public_key_pem)}).decode()
    file = an_application_file(f"{{name: ASK, with: {options}}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, ASKING, PrivateKey.from_pem(keys.private_key_pem.reveal())):
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.stages[0].status_reason
        assert await world.log(deployment, 0) == "true-1 opened ••• of 16"


async def test_an_agent_without_a_key_says_so(tmp_path: Path) -> None:
    file = an_application_file("{name: ASK, with: {sealed: anything}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, ASKING):
            deployment = await world.ended()

    assert "this agent has no key to open sealed values" in deployment.stages[0].status_reason


async def test_nobody_else_comes_in_by_the_port_of_a_foreign_plugin(tmp_path: Path) -> None:
    config = {"diary": str(tmp_path / "diary"), "address": str(tmp_path / "address")}
    entry = {
        "name": "foreign",
        "url": str(a_foreign_plugin(tmp_path / "made")),
        "port": a_free_port(),
        "config": config,
    }
    origin = an_origin(tmp_path, {"README": ""})
    async with (
        a_world(tmp_path, origin) as world,
        an_agent_at_work(world, msgspec.json.encode([entry]).decode()),
        aio.insecure_channel((tmp_path / "address").read_text()) as channel,
    ):
        with pytest.raises(aio.AioRpcError) as refused:
            await SecretStub(channel).DecryptSecret(secret_messages.OpenSecretRequest(secret="x"))

    # Not even an answer that denies it.
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
