"""Any process is killed or paused at any moment, over hundreds of deployments; each ends as its stages imply.

The seed decides who is killed and after how many scripts; the moments themselves are the machine's. For a longer run:
FAIRWAY_TEST_DEPLOYMENTS=5000 FAIRWAY_TEST_SEED=7 pytest tests/acceptance/agent/test_random_kills.py
"""

import functools
import os
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from fairway.cli.remote import Refused, Unreachable
from fairway.model.deployment import Deployment
from tests.acceptance.agent.chaos import KINDS, Evidence, Killer, a_file, complaints, out_of_turn
from tests.acceptance.agent.sites import Site, a_site, until

DEPLOYMENTS = int(os.environ.get("FAIRWAY_TEST_DEPLOYMENTS", "200"))
SEED = int(os.environ.get("FAIRWAY_TEST_SEED", "1"))
#: How many applications there are of each kind.
OF_EACH_KIND = 8
#: How long something may take that a whole round of deployments has to come before.
PATIENCE_SECONDS = 300.0


@pytest.mark.parametrize("seed", [pytest.param(SEED, id=f"seed {SEED}")])
def test_every_deployment_ends_as_its_stages_imply_whatever_is_killed(tmp_path: Path, seed: int) -> None:
    chance, ran = random.Random(seed), tmp_path / "ran"
    ran.touch()
    names = [f"{kind}-{number}" for kind in KINDS for number in range(OF_EACH_KIND)]
    with a_site(tmp_path, {f"{name}/app.pipecd.yaml": a_file(name, ran) for name in names}) as site:
        killer = Killer(site, chance)
        site.add_applications(*names)
        made = 0
        while made < DEPLOYMENTS:
            wanted = made + chance.randrange(len(names) // 4, len(names))
            made = until(functools.partial(deployed, ran, wanted), patience=PATIENCE_SECONDS)
            killer.kill_one()
            cancel_one(site, ran)
            site.origin.commit({f"{name}/version": f"{made}\n" for name in names})
        ended = until(lambda: all_ended(site, names), pause=0.5, patience=PATIENCE_SECONDS)
        site.all_told()

        until(lambda: not killer.scripts() or None, patience=PATIENCE_SECONDS)
        notes = ran.read_text().splitlines()
        runs = Counter(notes)
        judged = [complaint for each in ended for complaint in complaints(evidence(site, each, runs))]
        known = {each.id for each in ended}
        judged += [f"a script of which no deployment knows: {mark}" for mark in runs if mark.split()[0] not in known]
        judged += out_of_turn(notes)
        assert judged == [], f"{len(ended)} deployments, killed {dict(killer.killed)}\n{site.said.read_text()}"


def deployed(ran: Path, wanted: int) -> int | None:
    """How many deployments have run a script, once they are as many as wanted."""
    found = len({line.split()[0] for line in ran.read_text().splitlines()})
    return found if found >= wanted else None


def cancel_one(site: Site, ran: Path) -> None:
    """Ask for the end of the slow deployment that began last; it may be over, or the server may be away."""
    begun = [line.split() for line in ran.read_text().splitlines() if " slow-" in line and line.endswith(" 0")]
    with suppress(Refused, Unreachable):
        for id, *_ in begun[-1:]:
            site.ask("deployments", id, "cancel")


def all_ended(site: Site, names: list[str]) -> tuple[Deployment, ...] | None:
    """All deployments, when there is one of the newest commit for each application, and none is under way."""
    found = site.deployments()
    newest = {each.application_name for each in found if each.trigger.commit.hash == site.origin.head()}
    whole = newest == set(names) and all(each.status.is_terminal for each in found)
    return found if whole else None


def evidence(site: Site, deployment: Deployment, runs: Counter[str]) -> Evidence:
    """What is to be known of a deployment."""
    forward = [number for number, stage in enumerate(deployment.stages) if not stage.is_rollback]
    logs = {
        deployment.stages[number].id: [line for line in site.log(deployment, number).splitlines() if line.isdigit()]
        for number in forward
    }
    return Evidence(deployment, runs, logs)
