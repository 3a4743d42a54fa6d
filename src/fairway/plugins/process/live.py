"""What runs of an application on the process platform, in the words of all platforms; and how it differs from Git."""

from collections.abc import Iterator

import msgspec

from fairway.plugins.process.records import Group, Instance, Seen, Version, Wanted
from fairway.sdk import Health, Resource


def resources(wanted: Wanted, seen: Seen) -> tuple[Resource, ...]:
    """The splitter, the variants behind it, and their processes."""
    if not wanted.groups and not seen.instances:
        return ()
    variants = {group.variant: group for group in wanted.groups}
    names = dict.fromkeys([*variants, *(each.variant for each in seen.instances)])
    return (
        _splitter(wanted, seen),
        *(_variant(name, variants.get(name), seen) for name in names),
        *(_process(each) for each in seen.instances),
    )


def drift(wanted: Wanted, seen: Seen, in_git: Version, replicas: int) -> tuple[str, ...]:
    """How what runs differs from what Git says, a sentence for each difference."""
    return tuple(_differences(wanted, seen, in_git, replicas))


def _differences(wanted: Wanted, seen: Seen, in_git: Version, replicas: int) -> Iterator[str]:
    primary = wanted.group("primary")
    if primary is None:
        yield "Nothing runs as primary"
        return
    # A commit that leaves the application alone changes nothing that runs.
    runs = msgspec.structs.replace(primary.version, commit=in_git.commit)
    if runs.files != in_git.files:
        yield f"The files of {primary.version.commit[:7]} run; those of {in_git.commit[:7]} are different"
    if msgspec.structs.replace(runs, files=in_git.files) != in_git:
        yield "The command, its environment or its health check is different in Git"
    if primary.replicas != replicas:
        yield f"The primary is to have {_processes(primary.replicas)} where Git says {replicas}"
    if wanted.group("canary") is not None:
        yield "A canary runs, which no deployment is looking after"
    alive = [each for each in seen.instances if each.variant == "primary" and each.process and not each.leaving]
    if len(alive) < primary.replicas:
        yield f"{len(alive)} of {_processes(primary.replicas)} of the primary run"


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _splitter(wanted: Wanted, seen: Seen) -> Resource:
    listens = seen.port == wanted.port
    return Resource(
        id="splitter",
        name=f"{wanted.host}:{wanted.port}",
        type="TrafficSplitter",
        health=Health.HEALTHY if listens else Health.UNHEALTHY,
        health_description="" if listens else seen.problem or "nobody listens",
    )


def _variant(name: str, group: Group | None, seen: Seen) -> Resource:
    own = [each for each in seen.instances if each.variant == name]
    ready = sum(each.ready for each in own)
    replicas = group.replicas if group else 0
    metadata = {"replicas": str(replicas), "traffic": f"{group.share if group else 0:g} %"}
    return Resource(
        id=name,
        name=name,
        type="Variant",
        parent_ids=("splitter",),
        metadata={**metadata, "commit": group.version.commit} if group else metadata,
        health=Health.HEALTHY if ready >= replicas else Health.UNHEALTHY,
        health_description=f"{ready} of {replicas} processes answer",
    )


def _process(instance: Instance) -> Resource:
    pid = f"process {instance.process.pid}" if instance.process else "not running"
    # One that is leaving does what it should.
    well = instance.ready or instance.leaving
    return Resource(
        id=instance.id,
        name=instance.id,
        type="Process",
        parent_ids=(instance.variant,),
        metadata={"commit": instance.commit, "port": str(instance.port), "exits": str(instance.exits)},
        health=Health.HEALTHY if well else Health.UNHEALTHY,
        health_description=instance.problem or pid,
    )
