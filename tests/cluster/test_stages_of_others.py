"""Objects of other applications: what counts is whether the other is registered, as the agent says."""

from pathlib import Path

import pytest

from fairway.model.registration import Registration, Standing
from tests.cluster.kubernetes_applications import FAILED, a_config_map, an_application
from tests.clusters.running import RunningCluster

FIRST = Registration(Standing.REGISTERED, "first")


async def test_an_object_of_a_registered_application_that_nobody_speaks_of_is_refused(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """As one that is disabled, or whose file is broken, after a restart: nothing is asked of the plugin for those."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("shared", a="1"))
        await web.succeed("K8S_SYNC")
    (tmp_path / "again").mkdir()
    async with an_application(cluster, namespace, tmp_path / "again") as thief:
        thief.plugin.agent.applications = {f"app-{namespace}": FIRST}
        thief.plugin.application_id = f"other-{namespace}"
        thief.commit(a_config_map("shared", a="2"))

        refused = await thief.run("K8S_SYNC")

        assert refused.status is FAILED, refused
        assert f"it belongs to application first (app-{namespace})" in refused.message
        assert thief.get("configmap", "shared")["data"] == {"a": "1"}


async def test_two_registered_applications_of_one_name_are_two(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as twin:
        twin.commit(a_config_map("twin"))
        await twin.succeed("K8S_SYNC")
        twin.plugin.agent.applications = {f"app-{namespace}": Registration(Standing.REGISTERED, "application")}
        twin.plugin.application_id = f"other-{namespace}"

        refused = await twin.run("K8S_SYNC")

        assert refused.status is FAILED, refused
        assert f"it belongs to application application (app-{namespace})" in refused.message


@pytest.mark.parametrize(
    ("registration", "said"),
    [
        pytest.param(
            Registration(Standing.REGISTERED, "first", "berlin"),
            "it belongs to application first ({id}) of agent berlin, and only one",
            id="of another agent",
        ),
        pytest.param(
            Registration(Standing.REGISTERED), "it belongs to application {id} of another project, and", id="elsewhere"
        ),
        pytest.param(
            None,
            "it belongs to application {id}, of which nobody can tell here whether it is still",
            id="PipeCD's agent",
        ),
    ],
)
async def test_whoevers_an_object_is_that_may_not_be_taken_is_said(
    cluster: RunningCluster, namespace: str, tmp_path: Path, registration: Registration | None, said: str
) -> None:
    other = f"app-{namespace}"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("shared"))
        await web.succeed("K8S_SYNC")
        web.plugin.agent.applications = None if registration is None else {other: registration}
        web.plugin.application_id = f"other-{namespace}"

        refused = await web.run("K8S_SYNC")

        assert refused.status is FAILED, refused
        assert said.format(id=other) in refused.message
        assert "fairway.dev/on-conflict: override" in refused.message
