"""Clusters at which a change cannot be tried keep nobody from seeing it."""

import asyncio
from pathlib import Path
from typing import Any

from fairway.config.agent_file import DeployTarget
from fairway.plugins.kubernetes.marks import Owner
from fairway.plugins.kubernetes.planning.trial import Brought, Trial, Trials
from fairway.sdk import Files
from tests.unit.plugins.kubernetes.builders import a_deployment

FAR = DeployTarget(name="far")
MANIFEST = a_deployment()
SLOW = Trial(notes=("The cluster far was not asked whether it takes this: it does not answer in time",))


class Silent:
    """A cluster that does not answer."""

    def __init__(self) -> None:
        self.asked = 0

    async def kind(self, *_: str) -> None:
        self.asked += 1
        await asyncio.Event().wait()


def a_change(*changed: Any) -> Brought:
    files = Files(
        application_directory=Path(),
        commit="c",
        config_text=b"",
        config_filename="app.pipecd.yaml",
        shared_directory=Path(),
    )
    owner = Owner(agent_id="", application_id="app", commit="c")
    return Brought(manifests=(MANIFEST,), changed=frozenset(changed), owner=owner, files=files)


async def test_a_cluster_that_does_not_answer_in_time_is_left_alone_for_a_while() -> None:
    silent: Any = Silent()
    trials = Trials(lambda _: silent, seconds=0.01)

    found = [await trials.of(FAR, a_change(MANIFEST.key)) for _ in range(3)]

    assert (found, silent.asked) == ([SLOW] * 3, 1)


async def test_a_change_that_brings_nothing_is_not_tried() -> None:
    silent: Any = Silent()

    assert (await Trials(lambda _: silent).of(FAR, a_change()), silent.asked) == (Trial(), 0)
