"""What a merge would deploy: asked of a real agent with real Git and plugin processes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from fairway.model.command import BuildPlanPreview
from fairway.model.deployment import DeploymentStatus
from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview, PluginPlanPreview
from fairway.model.trigger import SyncStrategy
from fairway.rpc.convert.plan_preview import from_command_output
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from fairway.secrets.secret import MASK
from fairway.server.store import commands
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script
from tests.integration.git.repositories import Origin, an_origin, git

PLUGINS = msgspec.json.encode(
    [
        {
            "name": "previewing",
            "url": "python:tests.integration.agent.previewing:Previewing",
            "deployTargets": [{"name": "here"}, {"name": "there"}],
        }
    ]
).decode()


SECRET = "correct horse battery staple"
#: What the platform is to have, before its secret is opened.
WANTED = "{} {{{{ .encryptedSecrets.key }}}}\n"


def an_application(sealed: str) -> str:
    encryption = {"encryptedSecrets": {"key": sealed}, "decryptionTargets": ["wanted"]}
    spec = {"name": "web", "plugins": {"previewing": {}}, "encryption": encryption}
    file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}
    return msgspec.json.encode(file).decode()


def a_branch(origin: Origin, files: dict[str, str | bytes | None]) -> str:
    """A commit on a branch of its own; main stays where it is."""
    git(origin.work, "checkout", "--quiet", "-B", "change", "origin/main")
    commit = origin.commit(files, branch="change")
    git(origin.work, "checkout", "--quiet", "main")
    return commit


@asynccontextmanager
async def a_deployed_world(folder: Path) -> AsyncIterator[World]:
    """An agent that has deployed `web`, and knows `worker`, which scripts deploy."""
    keys = generate_key_pair(2048)
    files = {
        "web/app.pipecd.yaml": an_application(seal(SECRET, keys.public_key_pem)),
        "web/wanted": WANTED.format("one"),
        "worker/app.pipecd.yaml": an_application_file(script("true"), script("false")).replace("web", "worker"),
    }
    async with a_world(folder, an_origin(folder, files)) as world:
        await world.add_application(deploy_targets_by_plugin={"previewing": ("here",)})
        async with an_agent_at_work(world, PLUGINS, PrivateKey.from_pem(keys.private_key_pem.reveal())):
            await world.ended()
            await world.add_application("worker")
            await world.ended(2)
            yield world


async def preview(world: World, head: str, base: str = "main") -> PlanPreview:
    asked = BuildPlanPreview(repository_id="r-1", head_branch="change", head_commit=head, base_branch=base)
    command = await world.answer(await world.command(asked))
    return from_command_output(await world.store.read(lambda each: commands.load_command_output(each, command.id)))


def told(found: PlanPreview) -> dict[str, ApplicationPlanPreview]:
    assert found.error == ""
    return {each.application_name: each for each in found.applications}


async def test_a_preview_has_the_plan_and_what_each_target_would_become(tmp_path: Path) -> None:
    async with a_deployed_world(tmp_path) as world:
        before = len(await world.deployments())
        head = a_branch(world.origin, {"web/wanted": WANTED.format("two")})
        world.origin.commit({"elsewhere": "main has moved on"})

        (web,) = told(await preview(world, head)).values()
        (unchanged,) = told(await preview(world, a_branch(world.origin, {"web/README": "words"}))).values()

        assert (unchanged.no_change, unchanged.plugins) == (True, ())
        assert (web.sync_strategy, web.error, web.no_change) == (SyncStrategy.QUICK_SYNC, "", False)
        assert web.summary.decode().endswith("\nStages: PREVIEWING_SYNC")
        # What was opened for it is masked: a preview ends as a comment.
        details = f"--- before\n+++ after\n@@ -1 +1 @@\n-one {MASK}\n+two {MASK}".encode()
        expected = PluginPlanPreview(
            plugin_name="previewing", deploy_target="here", summary=b"one file changes", details=details
        )
        assert web.plugins == (expected,)
        assert len(await world.deployments()) == before
        assert not list((world.data / "work" / "deployments").glob("preview-*"))


async def test_what_cannot_be_previewed_is_told_and_hides_nothing_else(tmp_path: Path) -> None:
    async with a_deployed_world(tmp_path) as world:
        head = a_branch(world.origin, {"web/wanted": "broken\n", "worker/x": "1"})
        found = told(await preview(world, head))
        head = a_branch(world.origin, {"web/app.pipecd.yaml": "kind: Nothing\n", "web/wanted": "two\n"})
        broken = told(await preview(world, head))
        other_base = await preview(world, head, base="release")
        world.origin.commit({"web/wanted": "three\n"})
        conflict = await preview(world, head)

    assert (found["web"].error, found["web"].no_change) == ("web/wanted is broken", False)
    worker = found["worker"]
    assert worker.summary.decode().endswith("\nStages: SCRIPT_RUN → SCRIPT_RUN")
    assert (worker.error, worker.plugins, worker.sync_strategy) == ("", (), SyncStrategy.PIPELINE)
    assert "its configuration is invalid" in broken["web"].error
    assert "does not follow release" in other_base.error
    assert "both change web/wanted" in conflict.error


async def test_a_branch_that_removes_moves_or_adds_applications_says_what_happens_then(tmp_path: Path) -> None:
    async with a_deployed_world(tmp_path) as world:
        worker = (world.origin.work / "worker/app.pipecd.yaml").read_text()
        head = a_branch(
            world.origin,
            {
                "web/app.pipecd.yaml": None,
                "worker/app.pipecd.yaml": None,
                "moved/app.pipecd.yaml": worker,
                "new/app.pipecd.yaml": worker.replace("worker", "new"),
            },
        )
        found = (await preview(world, head)).applications

    said = {(each.application_name, each.application_directory): each.summary.decode() for each in found}
    assert [each.error for each in found] == [""] * 4
    assert "After the merge it has no file web/app.pipecd.yaml: nothing of it is deployed" in said["web", "web"]
    assert said["worker", "worker"].endswith("--path moved` registers the place where it is then")
    assert said["worker", "moved"].startswith("Found, not registered: ")
    assert said["new", "new"].endswith("fairway app add new --agent agent-1 --repository r-1 --path new")


async def test_a_platform_that_the_agent_lacks_and_nobody_needs_is_not_asked(tmp_path: Path) -> None:
    scripts = an_application_file(script("true")).replace("web", "worker").replace("kind: Application", "kind: ECSApp")
    async with a_deployed_world(tmp_path) as world:
        found = told(await preview(world, a_branch(world.origin, {"worker/app.pipecd.yaml": scripts})))

    assert (found["worker"].error, found["worker"].summary.decode()) == (
        "",
        "Pipeline, because this agent has no plugin ecs, so only the stages of the pipeline run\nStages: SCRIPT_RUN",
    )


async def test_only_the_plugin_that_plans_an_application_previews_it(tmp_path: Path) -> None:
    both = [
        {
            "name": name,
            "url": "python:tests.integration.agent.previewing:Previewing",
            "isolation": "shared",
            "deployTargets": [{"name": "here"}],
        }
        for name in ("one", "two")
    ]
    files = {"web/app.pipecd.yaml": an_application_file("{name: PREVIEWING_SYNC}"), "web/wanted": "a\n"}
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={"two": ("here",)})
        async with an_agent_at_work(world, msgspec.json.encode(both).decode()):
            deployment = await world.ended()
            (web,) = told(await preview(world, a_branch(world.origin, {"web/wanted": "b\n"}))).values()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert (web.error, web.plugin_names) == ("", ("two",))
    assert [each.plugin_name for each in web.plugins] == ["two"]
