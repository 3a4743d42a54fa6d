"""Objects that are replaced as a whole, or deleted and made anew, because their manifests ask for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes_applications import (
    SUCCEEDED,
    Application,
    a_deployment,
    a_job,
    an_application,
)
from tests.clusters.running import RunningCluster

REPLACED, ANEW = "pipecd.dev/sync-by-replace", "pipecd.dev/force-sync-by-replace"


def asking(body: Mapping[str, Any], annotation: str) -> dict[str, Any]:
    """The object, with an annotation that asks for another treatment."""
    return {**body, "metadata": {**body["metadata"], "annotations": {annotation: "enabled"}}}


def job_uid(web: Application) -> str:
    """Which Job it is: another one when it has run again."""
    return str(web.get("job", "migrate")["metadata"]["uid"])


@pytest.mark.parametrize("annotation", [REPLACED, ANEW])
async def test_a_rollback_leaves_alone_what_is_replaced_and_the_deployment_has_not_touched(
    annotation: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """An old migration that runs again can do harm; a Job that is replaced by itself is refused."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(asking(a_job(), annotation), a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        before = job_uid(web)
        web.commit(asking(a_job(container={"image": "job:2"}), annotation), a_deployment(image="web:2"))
        await web.succeed("K8S_CANARY_ROLLOUT")

        ended = await web.run("K8S_ROLLBACK")

        assert (ended.status, job_uid(web)) == (SUCCEEDED, before), ended
        assert f"Job {namespace}/migrate: as it was" in ended.log


async def test_a_rollback_makes_anew_what_the_deployment_has_made_anew(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(asking(a_job(), ANEW), a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(asking(a_job(container={"image": "job:2"}), ANEW), a_deployment(image="web:2"))
        await web.succeed("K8S_PRIMARY_ROLLOUT")

        uids = []
        for _ in range(2):
            # The second time as after a restart of the agent.
            ended = await web.run("K8S_ROLLBACK", id="back")
            assert ended.status is SUCCEEDED, ended
            uids.append(job_uid(web))

        assert web.get("job", "migrate")["spec"]["template"]["spec"]["containers"][0]["image"] == "job:1"
        assert uids[0] == uids[1]
