"""A server as it is after years: many applications, their agents, and every deployment they ever had.

Statistics are as in life, since planners go by them: few deployments are open, most have succeeded, some labels are on
a third of them and some on one in ten thousand. Everything follows from a seed. `filling` puts it into a database.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import msgspec

from fairway.model.agent import Agent, AgentKey
from fairway.model.application import Application, ApplicationKind, GitPath, Repository
from fairway.model.audit import AuditRecord
from fairway.model.chain import ChainBlock, ChainNode, DeploymentChain
from fairway.model.command import CancelDeployment, Command, CommandStatus, SyncApplication
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.event import Event, EventStatus
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import Commit, Trigger

PROJECT = "default"
START = datetime(2024, 1, 1, tzinfo=UTC)
KINDS = tuple(ApplicationKind)
TEAMS, REGIONS = 100, 3
_FEWEST_AGENTS = 100
_ENDS = (DeploymentStatus.SUCCEEDED,) * 90 + (DeploymentStatus.FAILED,) * 7 + (DeploymentStatus.CANCELLED,) * 3
_OPEN = (DeploymentStatus.RUNNING, DeploymentStatus.PLANNED, DeploymentStatus.PENDING, DeploymentStatus.ROLLING_BACK)


class Population(msgspec.Struct, frozen=True, kw_only=True):
    """How many there are of each."""

    agents: int = 1_000
    applications: int = 10_000
    deployments: int = 1_000_000
    #: Of the deployments, those that have not ended.
    open: int = 500
    commands: int = 100_000
    events: int = 100_000
    chains: int = 10_000
    audit: int = 200_000
    seed: int = 1
    #: What the store keeps of the agents' key; they all have the same one.
    agent_key: str = "sha256$salt$hash"

    @property
    def rows(self) -> int:
        """How many rows that makes, those of the labels included."""
        labelled = (1 + len(application_labels(0))) * (self.applications + self.deployments)
        return labelled + self.agents + self.commands + self.events + self.chains + self.audit

    def moment(self, number: int, of: int) -> datetime:
        """When the one with this number happened, were they spread over two years."""
        return START + timedelta(days=730) * (number / of)

    def agent_id(self, number: int) -> str:
        return f"agent-{number % self.agents:06}"

    def application_id(self, number: int) -> str:
        return f"application-{number % self.applications:07}"


def scaled(deployments: int) -> Population:
    """A population with so many deployments and proportionally many of all others, but some agents in any case."""
    whole, share = Population(), deployments / Population().deployments
    agents = min(whole.agents, max(int(whole.agents * share), _FEWEST_AGENTS))
    return Population(
        agents=agents,
        deployments=deployments,
        applications=max(int(whole.applications * share), agents),
        open=min(whole.open, deployments // 10),
        commands=int(whole.commands * share),
        events=int(whole.events * share),
        chains=int(whole.chains * share),
        audit=int(whole.audit * share),
    )


def application_labels(number: int) -> dict[str, str]:
    """A third has each region, one in a hundred each team, and one alone each name."""
    return {"region": f"r{number % REGIONS}", "team": f"t{number * 7 % TEAMS}", "service": f"s{number}"}


def agents(population: Population) -> Iterator[Agent]:
    """They all have the same key."""
    key = AgentKey(hash=population.agent_key, creator="bench", created_at=START)
    for number in range(population.agents):
        id = population.agent_id(number)
        yield Agent(id=id, name=id, project_id=PROJECT, keys=(key,), created_at=START, updated_at=START)


def applications(population: Population) -> Iterator[Application]:
    """Some of them disabled."""
    for number in range(population.applications):
        at = population.moment(number, population.applications)
        yield Application(
            id=population.application_id(number),
            name=f"app-{number}",
            agent_id=population.agent_id(number),
            project_id=PROJECT,
            git_path=_path(number),
            created_at=START,
            updated_at=at,
            kind=KINDS[number % len(KINDS)],
            platform_provider="near",
            labels=application_labels(number),
            disabled=number % 50 == 0,
        )


def deployments(population: Population) -> Iterator[Deployment]:
    """Oldest first; the newest have not ended."""
    random, total = Random(population.seed), population.deployments
    base = _a_deployment()
    for number in range(total):
        application = random.randrange(population.applications)
        at, ended = population.moment(number, total), number < total - population.open
        yield msgspec.structs.replace(
            base,
            id=_id(random),
            application_id=population.application_id(application),
            application_name=f"app-{application}",
            agent_id=population.agent_id(application),
            git_path=_path(application),
            created_at=at,
            updated_at=at + timedelta(seconds=300),
            completed_at=at + timedelta(seconds=300) if ended else None,
            kind=KINDS[application % len(KINDS)],
            labels=application_labels(application),
            status=random.choice(_ENDS) if ended else random.choice(_OPEN),
        )


def commands(population: Population) -> Iterator[Command]:
    """The newest still wait; one in four is about a deployment."""
    random, total = Random(population.seed + 1), population.commands
    for number in range(total):
        application = random.randrange(population.applications)
        at, id = population.moment(number, total), population.application_id(application)
        waiting = number >= total - population.open
        deployment = f"d-{number}" if number % 4 == 1 else ""
        cancel = CancelDeployment(deployment_id=deployment)
        yield Command(
            id=_id(random),
            agent_id=population.agent_id(application),
            project_id=PROJECT,
            payload=cancel if deployment else SyncApplication(application_id=id),
            created_at=at,
            updated_at=at,
            commander=f"user-{number % 50}",
            application_id=id,
            deployment_id=deployment,
            status=CommandStatus.WAITING if waiting else CommandStatus.SUCCEEDED,
            handled_at=None if waiting else at,
        )


def events(population: Population) -> Iterator[Event]:
    """The newest still wait."""
    random, total = Random(population.seed + 2), population.events
    for number in range(total):
        at, name = population.moment(number, total), f"image-{random.randrange(population.applications)}"
        status = EventStatus.WAITING if number >= total - population.open else EventStatus.SUCCEEDED
        fields = {"name": name, "key": name, "data": f"v{number}", "status": status, "labels": {"team": "t1"}}
        yield Event(id=_id(random), project_id=PROJECT, created_at=at, updated_at=at, **fields)  # type: ignore[arg-type]  # each by its name


def chains(population: Population) -> Iterator[DeploymentChain]:
    """Short ones."""
    random, total = Random(population.seed + 3), population.chains
    for number in range(total):
        at = population.moment(number, total)
        node = ChainNode(application_id=population.application_id(number), application_name=f"app-{number}")
        yield DeploymentChain(
            id=_id(random), project_id=PROJECT, blocks=(ChainBlock(nodes=(node,)),), created_at=at, updated_at=at
        )


def audit(population: Population) -> Iterator[AuditRecord]:
    """What people did."""
    random, total = Random(population.seed + 4), population.audit
    for number in range(total):
        yield AuditRecord(
            id=_id(random),
            created_at=population.moment(number, total),
            project_id=PROJECT,
            actor=f"user-{number % 50}",
            actor_kind="user",
            action=("application.sync", "deployment.cancel", "application.update")[number % 3],
            subject_id=population.application_id(random.randrange(population.applications)),
        )


def _a_deployment() -> Deployment:
    commit = Commit(hash="a" * 40, message="A change of some words", author="Ada", branch="main", created_at=START)
    names = ("K8S_CANARY_ROLLOUT", "WAIT_APPROVAL", "K8S_PRIMARY_ROLLOUT", "K8S_CANARY_CLEAN")
    stages = tuple(
        Stage(id=f"stage-{i}", name=name, index=i, status=StageStatus.SUCCEEDED, created_at=START, updated_at=START)
        for i, name in enumerate(names)
    )
    return Deployment(
        id="",
        application_id="",
        application_name="",
        agent_id="",
        project_id=PROJECT,
        git_path=_path(0),
        trigger=Trigger(commit=commit, at=START, commander="ada"),
        created_at=START,
        updated_at=START,
        platform_provider="near",
        summary="Sync progressively because of a new image",
        running_commit_hash="b" * 40,
        stages=stages,
    )


def _path(number: int) -> GitPath:
    repository = Repository(id="shop", remote="https://git.example/shop.git", branch="main")
    return GitPath(repository=repository, path=f"apps/app-{number}", config_filename="app.pipecd.yaml")


def _id(random: Random) -> str:
    """As random as a real one, since an index is filled by it."""
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
