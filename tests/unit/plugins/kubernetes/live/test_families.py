"""Objects by whose they are, whatever order changes come in."""

from collections.abc import Mapping

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.live.families import Families
from fairway.plugins.kubernetes.live.objects import Seen

UIDS, APPLICATIONS = ("a", "b", "c", "d", "e"), ("", "shop", "bank")


def an_object(
    uid: str,
    application: str = "",
    owners: tuple[str, ...] = (),
    packed: bytes = b"",
    reason: str = "",
    managers: bytes = b"",
) -> Seen:
    return Seen(
        uid=uid,
        api_version="v1",
        kind="Pod",
        namespace="n",
        name=uid,
        owners=owners,
        application=application,
        packed=packed,
        reason=reason,
        managers=managers,
    )


def a_family(objects: Mapping[str, Seen], application: str) -> dict[str, Seen]:
    """By the definition: what was deployed for it, and again and again whatever has an owner among these."""
    found = {uid: each for uid, each in objects.items() if each.application == application}
    while more := {
        uid: each for uid, each in objects.items() if uid not in found and any(one in found for one in each.owners)
    }:
        found |= more
    return found


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, Seen | None]]:
    seen = st.builds(
        an_object,
        uid=st.just(""),
        application=st.sampled_from(APPLICATIONS),
        owners=st.lists(st.sampled_from(UIDS), max_size=2, unique=True).map(tuple),
        packed=st.sampled_from((b"1", b"2")),
        reason=st.sampled_from(("", "x")),
        managers=st.sampled_from((b"1", b"2")),
    )
    uids = draw(st.lists(st.sampled_from(UIDS), max_size=25))
    return [(uid, _named(draw(st.none() | seen), uid)) for uid in uids]


def _named(seen: Seen | None, uid: str) -> Seen | None:
    if seen is None:
        return None
    return an_object(uid, seen.application, seen.owners, seen.packed, seen.reason, seen.managers)


@given(changes())
def test_families_are_what_they_are_by_definition_and_who_is_touched_is_told(
    made: list[tuple[str, Seen | None]],
) -> None:
    families, objects = Families(), dict[str, Seen]()
    for uid, now in made:
        before = {each: a_family(objects, each) for each in APPLICATIONS[1:]}

        touched = families.change(uid, objects.pop(uid, None), now)

        objects |= {uid: now} if now is not None else {}
        for application, known in before.items():
            wanted = a_family(objects, application)
            assert {each.uid: each for each in families.family(application)} == wanted
            assert application in touched or wanted == known


@given(changes())
def test_a_revision_is_another_exactly_when_something_else_is_deployed(made: list[tuple[str, Seen | None]]) -> None:
    def deployed(application: str) -> set[tuple[str, bytes, bytes]]:
        return {(each.uid, each.packed, each.managers) for each in families.roots(application)}

    families, objects = Families(), dict[str, Seen]()
    for uid, now in made:
        before = {each: (deployed(each), families.revision(each)) for each in APPLICATIONS[1:]}
        families.change(uid, objects.pop(uid, None), now)
        objects |= {uid: now} if now is not None else {}

        for application, (known, revision) in before.items():
            assert (families.revision(application) != revision) == (deployed(application) != known)


def test_a_change_of_what_is_shared_touches_those_that_share_it_and_is_not_in_their_families() -> None:
    families = Families()
    before = msgspec.structs.replace(an_object("a", "shop", packed=b"1"), sharers=("bank",))

    touched = families.change("a", None, before)
    gone = families.change("a", before, None)

    assert (touched, gone, families.revision("bank")) == (frozenset({"shop", "bank"}), frozenset({"shop", "bank"}), 2)
    assert families.family("bank") == []
