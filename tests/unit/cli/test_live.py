"""What runs, drawn as a tree: whole texts."""

from datetime import timedelta
from io import StringIO
from typing import Any

from rich.console import Console

from fairway.cli.live import live_card
from fairway.cli.output import show
from fairway.model.application import Application, SyncState, SyncStatus
from fairway.model.live_state import Health, LiveState, LiveStateVersion, Resource
from tests.unit.model.builders import NOW, an_application

AT = NOW + timedelta(minutes=10)
WELL = {"health": Health.HEALTHY, "created_at": NOW}
SICK = {"health": Health.UNHEALTHY, "created_at": NOW + timedelta(minutes=7)}
CART = an_application(sync_state=SyncState(status=SyncStatus.SYNCED, at=NOW))


def a_resource(id: str, *parents: str, **fields: Any) -> Resource:
    kind, _, name = id.partition("/")
    return Resource(**{"id": id, "type": kind, "name": name, "parent_ids": parents, **WELL, **fields})


def drawn(
    *resources: Resource, health: Health = Health.HEALTHY, width: int = 1000, application: Application = CART
) -> list[str]:
    """The card, line by line."""
    live = LiveState(
        application_id="a-1",
        agent_id="agent-1",
        project_id="shop",
        version=LiveStateVersion(at=NOW + timedelta(minutes=9)),
        health=health,
        resources=resources,
    )
    file = StringIO()
    show(Console(file=file, width=width, highlight=False, markup=False), live_card(application, live, AT))
    return file.getvalue().splitlines()


def test_what_runs_is_a_tree_of_owners_with_health_age_and_reason() -> None:
    assert drawn(
        a_resource("Service/cart"),
        a_resource("Deployment/cart", health_description="1 of 2 pods is ready", **SICK),
        a_resource("ReplicaSet/cart-1", "Deployment/cart"),
        a_resource("Pod/cart-1-a", "ReplicaSet/cart-1"),
        a_resource("Pod/cart-1-b", "ReplicaSet/cart-1", health_description="no such image", **SICK),
        a_resource("Event/late", "Deployment/cart", health=Health.UNKNOWN, created_at=None),
        health=Health.UNHEALTHY,
    ) == [
        "cart  ✓ synced  ✗ unhealthy  told 1m ago",
        "",
        "RESOURCE              HEALTH       AGE  REASON",
        "Service cart          ✓ healthy    10m",
        "Deployment cart       ✗ unhealthy  3m   1 of 2 pods is ready",
        "├─ ReplicaSet cart-1  ✓ healthy    10m",
        "│  ├─ Pod cart-1-a    ✓ healthy    10m",
        "│  └─ Pod cart-1-b    ✗ unhealthy  3m   no such image",
        "└─ Event late         ○ unknown",
    ]


def test_a_reason_that_does_not_fit_into_its_line_stands_whole_below_it() -> None:
    reason = "the image example.com/shop/cart:v99 cannot be pulled, and nobody knows why"
    tree = (a_resource("Deployment/cart"), a_resource("Pod/a", "Deployment/cart", health_description=reason, **SICK))

    assert drawn(*tree, a_resource("Pod/b", "Deployment/cart", health_description="short", **SICK), width=45)[2:] == [
        "RESOURCE         HEALTH       AGE  REASON",
        "Deployment cart  ✓ healthy    10m",
        "├─ Pod a         ✗ unhealthy  3m",
        "│    the image example.com/shop/cart:v99",
        "│    cannot be pulled, and nobody knows why",
        "└─ Pod b         ✗ unhealthy  3m   short",
    ]


def test_several_deploy_targets_have_a_tree_each() -> None:
    assert drawn(
        a_resource("Pod/a", plugin_name="kubernetes", deploy_target="east"),
        a_resource("Pod/a", plugin_name="kubernetes", deploy_target="west", **SICK),
        a_resource("Splitter/:80", plugin_name="process"),
    )[1:] == [
        "",
        "kubernetes: east",
        "RESOURCE  HEALTH     AGE",
        "Pod a     ✓ healthy  10m",
        "",
        "kubernetes: west",
        "RESOURCE  HEALTH       AGE",
        "Pod a     ✗ unhealthy  3m",
        "",
        "process",
        "RESOURCE      HEALTH     AGE",
        "Splitter :80  ✓ healthy  10m",
    ]


def test_a_namespace_is_named_where_there_are_several() -> None:
    spaces: tuple[dict[str, Any], ...] = ({"namespace": "shop"}, {"metadata": {"Namespace": "bank"}}, {})

    lines = drawn(*(a_resource(f"Pod/{number}", **fields) for number, fields in enumerate(spaces)))

    assert [line.split("  ")[0] for line in lines[3:]] == ["Pod shop/0", "Pod bank/1", "Pod 2"]


def test_owners_in_a_circle_or_unknown_ones_hide_nothing() -> None:
    lines = drawn(
        a_resource("A/a", "B/b"), a_resource("B/b", "A/a"), a_resource("C/c", "gone"), a_resource("D/d", "D/d")
    )

    assert [line.split("  ")[0] for line in lines[3:]] == ["C c", "A a", "└─ B b", "D d"]


def test_words_of_strangers_do_not_move_the_cursor_and_older_agents_say_less() -> None:
    reason = "\x1b[2Jgone\nfor good"

    assert drawn(a_resource("Pod/a\x1b[1A", health=Health.OTHER, health_description=reason), health=Health.OTHER) == [
        "cart  ✓ synced  ! not healthy  told 1m ago",
        "",
        "RESOURCE   HEALTH         AGE  REASON",
        "Pod a [1A  ! not healthy  10m  [2Jgone; for good",
    ]


def test_where_nothing_runs_that_is_said() -> None:
    assert drawn(health=Health.UNKNOWN) == ["cart  ✓ synced  ○ unknown  told 1m ago", "", "nothing runs"]


def test_where_nobody_can_see_what_runs_nothing_is_not_said_to_run() -> None:
    unseen = SyncState(status=SyncStatus.UNKNOWN, at=NOW, short_reason="kubernetes: it does not answer")

    assert drawn(health=Health.UNKNOWN, application=an_application(sync_state=unseen)) == [
        "cart  ○ unknown  ○ unknown  told 1m ago",
        "",
        "what runs is not known: kubernetes: it does not answer",
    ]
