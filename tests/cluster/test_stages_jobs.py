"""Jobs and rollbacks: what was done once is not done again by going back to the commit that had it done."""

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes_applications import (
    FAILED,
    Application,
    a_config_map,
    a_job,
    a_stage,
    an_application,
)
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

PRIMARY = (a_stage("K8S_PRIMARY_ROLLOUT", 1, FAILED), a_stage("K8S_ROLLBACK", 0, id="r"))
CANARY = (a_stage("K8S_CANARY_ROLLOUT", 1, FAILED), a_stage("K8S_ROLLBACK", 0, id="r"))


async def gone(web: Application, name: str = "migrate") -> None:
    async def is_gone() -> bool:
        return name not in web.names("job")

    await until(is_gone)


@pytest.mark.parametrize(
    ("job", "stages"),
    [
        pytest.param(a_job(ttlSecondsAfterFinished=0), CANARY, id="the primary was left alone"),
        pytest.param(a_job(ttlSecondsAfterFinished=0), PRIMARY, id="the primary was rolled out"),
        pytest.param(a_job(), CANARY, id="removed by hand, and the primary was left alone"),
    ],
)
async def test_a_job_that_is_gone_is_not_run_again_by_a_rollback(
    job: dict[str, Any], stages: tuple[Any, ...], cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(job, a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.deployed()
        if "ttlSecondsAfterFinished" not in job["spec"]:
            web.kubectl("delete", "job", "migrate")
        await gone(web)
        web.commit(a_config_map(a="2"))
        await web.succeed("K8S_PRIMARY_ROLLOUT")
        web.plugin.stages = stages

        ended = await web.run("K8S_ROLLBACK", id="r")

        assert f"Job {namespace}/migrate: is not run again, although it is not there any more" in ended.log
        assert ended.log[-1] == "1 object as it was before, 0 removed"


async def test_the_job_of_the_new_commit_goes_although_the_old_one_was_gone_before(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """It has the same name, and another image, which could not be changed back."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_job(ttlSecondsAfterFinished=0), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.deployed()
        await gone(web)
        web.commit(a_job(container={"image": "job:2"}, ttlSecondsAfterFinished=600), a_config_map(a="2"))
        await web.succeed("K8S_PRIMARY_ROLLOUT")
        web.plugin.stages = PRIMARY

        ended = await web.run("K8S_ROLLBACK", id="r")

        assert ended.log[-1] == "1 object as it was before, 1 removed"
        assert web.names("job") == []


async def test_a_job_that_is_gone_and_was_to_stay_is_brought_back_with_the_primary(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_job())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_config_map())
        await web.succeed("K8S_PRIMARY_ROLLOUT", prune=True)
        web.plugin.stages = PRIMARY

        ended = await web.run("K8S_ROLLBACK", id="r")

        assert (ended.log[-1], web.names("job")) == ("1 object as it was before, 1 removed", ["migrate"])
