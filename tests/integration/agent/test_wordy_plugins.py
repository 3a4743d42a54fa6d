"""Whatever a plugin says, its stage ends with a readable reason and its rollback runs."""

from pathlib import Path

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.limits import NOTE_BYTES, QUOTED_REASON, REASON, SENT_TEXT, SHOWN_TEXT, cut
from fairway.model.stage import DISPLAY, StageStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, until
from tests.integration.agent.wordy import LONG, LONGER
from tests.integration.git.repositories import an_origin

PLUGINS = '[{"name": "wordy", "url": "python:tests.integration.agent.wordy:Wordy"}]'
SAID = ("reason", "longer-reason", "message", "display", "notes", "notes-of-outcome", "many-notes", "object")
#: Of what is refused, how the reason of the stage begins.
REFUSED = {
    "notes": f"the note 'note 0' has 4000006 bytes; a note has at most {NOTE_BYTES} bytes",
    "notes-of-outcome": f"the note 'note' has 4000004 bytes; a note has at most {NOTE_BYTES} bytes",
    "many-notes": "the notes of deployment ",
    "object": "the object 'large' has 9000000 bytes; an object has at most 8388608 bytes",
}


async def test_whatever_a_plugin_says_its_stage_ends_and_its_rollback_runs(tmp_path: Path) -> None:
    files = {
        f"{says}/app.pipecd.yaml": an_application_file(f"{{name: WORDY, with: {{says: {says}}}}}").replace("web", says)
        for says in SAID
    }
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        for says in SAID:
            await world.add_application(says)
        async with an_agent_at_work(world, PLUGINS):
            found = await until(lambda: all_ended(world))
            logs = {says: await world.log(each, 0) for says, each in found.items()}

    statuses = {says: (each.status, [stage.status for stage in each.stages]) for says, each in found.items()}
    undone = (DeploymentStatus.FAILED, [StageStatus.FAILED, StageStatus.SUCCEEDED])
    assert statuses == dict.fromkeys(SAID, undone), {says: each.stages[1].status_reason for says, each in found.items()}

    reasons = {says: each.stages[0].status_reason for says, each in found.items()}
    assert reasons["reason"] == cut(LONG, REASON)
    quoted = cut(LONG, QUOTED_REASON)
    assert found["reason"].status_reason == f"Stage WORDY failed: {quoted}; it was rolled back"
    assert logs["reason"] == cut(LONG, SENT_TEXT)
    # These are longer than one message of gRPC may be.
    assert reasons["longer-reason"] == reasons["message"] == cut(LONGER, REASON)
    assert reasons["display"] == "at last"
    assert found["display"].stages[0].metadata[DISPLAY] == cut(LONGER, SHOWN_TEXT)
    assert logs["display"].split("\n") == [cut(LONGER, SENT_TEXT), "at last"]
    for says, words in REFUSED.items():
        assert words in reasons[says]
        assert words in logs[says]


async def all_ended(world: World) -> dict[str, Deployment] | None:
    """The deployment of each application, once all have ended."""
    found = {each.application_name: each for each in await world.deployments() if each.status.is_terminal}
    return found if len(found) == len(SAID) else None
