"""What a plugin says a running stage waits for: kept with the stage, gone with its end, and why it took too long."""

from pathlib import Path

import msgspec
import pytest

from fairway.model.deployment import Deployment
from fairway.model.stage import WAITS_FOR
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from tests.integration.agent.running import OwnTime, a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin

PLUGIN = {
    "name": "patient",
    "url": "python:tests.integration.agent.patient:Patient",
    "deployTargets": [{"name": "here"}],
}


async def test_a_stage_that_takes_too_long_says_what_it_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time, keys = OwnTime(monkeypatch), generate_key_pair(2048)
    encryption = {
        "encryptedSecrets": {"bus": seal("correct-horse", keys.public_key_pem)},
        "decryptionTargets": ["bus"],
    }
    pipeline = {"stages": [{"name": "PATIENT_SYNC", "timeout": "1s"}]}
    planned = {"planner": {"alwaysUsePipeline": True}, "pipeline": pipeline}
    spec = {"name": "web", "plugins": {"patient": {}}, "encryption": encryption, **planned}
    file = msgspec.json.encode({"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}).decode()
    both = {"web/app.pipecd.yaml": file, "web/bus": "7 to {{ .encryptedSecrets.bus }}"}
    async with a_world(tmp_path, an_origin(tmp_path, both)) as world:
        await world.add_application(deploy_targets_by_plugin={"patient": ("here",)})
        unsealer = PrivateKey.from_pem(keys.private_key_pem.reveal())
        async with an_agent_at_work(world, msgspec.json.encode([PLUGIN]).decode(), unsealer=unsealer):

            async def look() -> Deployment | None:
                found = await world.deployments()
                return found[0] if found and found[0].stages and found[0].stages[0].waits_for else None

            waiting = await until(look)
            time.pass_by(2)
            ended = await world.ended()

    # Nobody is told what was opened for it.
    assert waiting.stages[0].waits_for == "bus 7 to •••"
    assert ended.stages[0].status_reason == "timed out after 1s; it waited for: bus 7 to •••"
    assert WAITS_FOR not in ended.stages[0].metadata
