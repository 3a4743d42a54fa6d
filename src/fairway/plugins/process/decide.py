"""What a keeper does next, from what is wanted and what there is. No I/O.

New processes of a variant are started beside the old ones. The variant's connections go to the old ones until every
new one has answered; only then are the old ones let go. A version that never gets well therefore never gets a
connection, and going back to the old one is a matter of ending the new.
"""

from collections.abc import Iterable, Sequence

import msgspec

from fairway.plugins.process.records import Group, Instance, Seen, Wanted


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """A share of the connections, and the instances that take turns in it."""

    variant: str
    share: float
    instances: tuple[str, ...]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What to do now."""

    #: Groups of which one more process is needed; named once for each that is missing.
    start: tuple[Group, ...] = ()
    #: Ids of instances that are to leave.
    leave: tuple[str, ...] = ()
    routes: tuple[Route, ...] = ()


def decide_step(wanted: Wanted, instances: Sequence[Instance]) -> Step:
    """The next step; deciding again after it was taken changes nothing more."""
    staying = [each for each in instances if not each.leaving]
    start: list[Group] = []
    leave = [each.id for each in staying if wanted.group(each.variant) is None]
    routes = []
    for group in wanted.groups:
        new, old = _of_group(group, staying)
        start += [group] * (group.replicas - len(new))
        # Of too many, those that are not well go first.
        kept = sorted(new, key=lambda each: not each.ready)[: group.replicas]
        leave += [each.id for each in new if each not in kept]
        taken_over = len(kept) == group.replicas and all(each.was_ready for each in kept)
        if taken_over:
            leave += [each.id for each in old]
        serving = kept if taken_over else old or kept
        routes.append(Route(variant=group.variant, share=group.share, instances=_best(serving)))
    return Step(start=tuple(start), leave=tuple(leave), routes=tuple(routes))


def what_is_missing(wanted: Wanted, seen: Seen) -> str:
    """Why it is not yet as wanted, in words; empty when it is."""
    if seen.problem:
        return seen.problem
    if seen.wanted != wanted.key:
        return "the keeper has not yet heard of it"
    for group in wanted.groups:
        new, _ = _of_group(group, [each for each in seen.instances if not each.leaving])
        ready = [each for each in new if each.ready]
        if len(ready) < group.replicas:
            reasons = dict.fromkeys(each.problem for each in new if each.problem)
            why = f": {'; '.join(reasons)}" if reasons else ""
            return f"{len(ready)} of {group.replicas} {group.variant} processes answer{why}"
    known = {(group.variant, group.version.key) for group in wanted.groups}
    left = [each for each in seen.instances if each.leaving or (each.variant, each.version) not in known]
    if not left:
        return ""
    return "1 old process has not ended" if len(left) == 1 else f"{len(left)} old processes have not ended"


def all_answer(wanted: Wanted, seen: Seen) -> bool:
    """Whether every wanted process answers, whatever else there may be left to do."""
    groups = (_of_group(group, seen.instances)[0] for group in wanted.groups)
    return all(
        sum(each.ready for each in new) >= group.replicas for group, new in zip(wanted.groups, groups, strict=True)
    )


def keeps_failing(wanted: Wanted, seen: Seen, often: int) -> Instance | None:
    """A wanted process that ends again and again without ever having answered."""
    known = {(group.variant, group.version.key) for group in wanted.groups}
    return next(
        (
            each
            for each in seen.instances
            if each.exits >= often and not each.was_ready and (each.variant, each.version) in known
        ),
        None,
    )


def _of_group(group: Group, instances: Iterable[Instance]) -> tuple[list[Instance], list[Instance]]:
    own = [each for each in instances if each.variant == group.variant]
    key = group.version.key
    return [each for each in own if each.version == key], [each for each in own if each.version != key]


def _best(instances: Sequence[Instance]) -> tuple[str, ...]:
    """Those that answer; where none does, those that once did, since a wrong answer is better than none."""
    return tuple(each.id for each in instances if each.ready) or tuple(each.id for each in instances if each.was_ready)
