"""What plugins say beside logs, of files in which secrets were opened: nobody reads a secret there."""

from functools import partialmethod
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins.output import Output
from fairway.model.application import Application
from fairway.model.deployment import DeploymentStatus
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from fairway.server.store import live_states
from tests.integration.agent.running import a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin
from tests.patience import PATIENCE_SECONDS

SECRET = "correct-horse-battery-staple"
PLUGIN = {
    "name": "gossiping",
    "url": "python:tests.integration.agent.gossiping:Gossiping",
    "deployTargets": [{"name": "here"}],
}


@pytest.mark.parametrize(
    ("files", "status"),
    [
        pytest.param({}, DeploymentStatus.SUCCEEDED, id="that succeeds"),
        pytest.param({"web/fails": ""}, DeploymentStatus.FAILED, id="that fails"),
    ],
)
async def test_a_deployment_tells_no_secret(
    tmp_path: Path,
    files: dict[str, str],
    status: DeploymentStatus,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Nobody keeps the plugin's output open, so all of it is there to be read, on a busy machine too.
    monkeypatch.setattr(Output, "close", partialmethod(Output.close, PATIENCE_SECONDS))
    keys = generate_key_pair(2048)
    sealed = seal(SECRET, keys.public_key_pem)
    encryption = {"encryptedSecrets": {"key": sealed}, "decryptionTargets": ["secret"]}
    pipeline = {"stages": [{"name": "GOSSIPING_SYNC"}]}
    spec = {"name": "web", "plugins": {"gossiping": {}}, "encryption": encryption, "pipeline": pipeline}
    file = msgspec.json.encode({"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}).decode()
    both = {"web/app.pipecd.yaml": file, "web/secret": "{{ .encryptedSecrets.key }}", **files}
    async with a_world(tmp_path, an_origin(tmp_path, both)) as world:
        await world.add_application(deploy_targets_by_plugin={"gossiping": ("here",)})
        unsealer = PrivateKey.from_pem(keys.private_key_pem.reveal())
        async with an_agent_at_work(world, msgspec.json.encode([PLUGIN]).decode(), unsealer=unsealer):
            first = await world.ended()
            world.origin.commit({"web/version": "2"})
            second = await world.ended(2)

            async def look() -> Application | None:
                found = await world.application()
                return found if found.sync_state and "differs" in found.sync_state.reason else None

            application = await until(look)
            live = await world.store.read(lambda each: live_states.load_live_state(each, "a-web"))

    told = [msgspec.json.encode(each).decode() for each in (first, second, live, application)]
    assert (first.status, second.status) == (status, status)
    assert SECRET not in "".join(told)
    for words in ("shown: •••", "of a target: •••", "health: •••", "differs: •••"):
        assert words in "".join(told)
    # Only what has run before is compared with.
    assert ("failed: •••" if files else "planned: •••") in told[1]
    # What the plugin writes goes where the agent writes.
    written = capfd.readouterr().err
    assert (SECRET in written, written.count("written: •••")) == (False, 2)
