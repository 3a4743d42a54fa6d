"""The tree of an application, made of what was seen of its objects."""

import msgspec

from fairway.kube.errors import ClusterAway, NotAllowed
from fairway.kube.kinds import Kind
from fairway.model.live_state import Health, Resource
from fairway.plugins.kubernetes.health.health import Standing
from fairway.plugins.kubernetes.live.objects import Seen, keeper
from fairway.plugins.kubernetes.live.tree import resources, unseen

PODS = Kind(group="", version="v1", kind="Pod", plural="pods", namespaced=True)


def seen(kind: str, name: str, owner: str = "", health: Health = Health.HEALTHY, reason: str = "") -> Seen:
    return Seen(
        uid=name,
        api_version="v1",
        kind=kind,
        namespace="shop",
        name=name,
        owners=(owner,) if owner else (),
        application="" if owner else "app",
        health=health,
        reason=reason,
        standing=Standing.DONE if health is Health.HEALTHY else Standing.WAITING,
    )


def words(tree: tuple[Resource, ...], name: str) -> str:
    return next(each.health_description for each in tree if each.name == name)


def test_what_was_deployed_comes_first_and_everything_has_its_parents() -> None:
    family = [seen("Pod", "web-1-a", "web-1"), seen("ReplicaSet", "web-1", "web"), seen("Deployment", "web")]

    tree = resources(family, "east")

    assert [(each.name, each.parent_ids) for each in tree] == [
        ("web", ()),
        ("web-1-a", ("web-1",)),
        ("web-1", ("web",)),
    ]
    assert {each.deploy_target for each in tree} == {"east"}


def test_a_parent_that_is_not_part_of_the_tree_is_left_out() -> None:
    (found,) = resources([seen("Pod", "web", "somebody")], "east")

    assert found.parent_ids == ()


def test_what_is_not_well_says_which_of_its_pods_are_not() -> None:
    bad = [seen("Pod", f"p{n}", "rs", Health.UNHEALTHY, "ImagePullBackOff") for n in range(4)]
    family = [
        seen("Deployment", "web", health=Health.UNHEALTHY, reason="0 of 4 replicas are available"),
        seen("ReplicaSet", "rs", "web"),
        *bad,
    ]

    tree = resources(family, "east", ["pods of other namespaces cannot be seen"])

    pods = "; ".join(f"pod p{n}: ImagePullBackOff" for n in range(3))
    assert words(tree, "web") == (
        f"0 of 4 replicas are available; {pods}; 1 more pod; pods of other namespaces cannot be seen"
    )
    assert words(tree, "rs") == ""


def test_what_cannot_be_seen_for_now_is_no_matter_of_how_an_object_is() -> None:
    """That a cluster is away is told of the deploy target; what may not be looked at is told once."""
    problems = [ClusterAway("broke off"), NotAllowed("pods"), NotAllowed("pods"), ClusterAway("broke off")]

    assert unseen(problems) == ["pods"]


def test_owners_in_a_circle_are_no_trouble() -> None:
    one, other = seen("A", "one", "other", Health.UNHEALTHY, "x"), seen("B", "other", "one")

    assert len(resources([one, other], "east")) == 2


def a_pod(**metadata: object) -> bytes:
    return msgspec.json.encode({"metadata": {"name": "p", "uid": "u", **metadata}, "status": {"phase": "Running"}})


OWNED = {"ownerReferences": [{"uid": "o", "controller": True, "kind": "ReplicaSet", "name": "rs"}]}
OURS = {"annotations": {"pipecd.dev/managed-by": "piped", "pipecd.dev/application": "app"}}


def test_of_an_object_that_belongs_to_nobody_of_ours_nothing_is_kept() -> None:
    assert keeper(PODS)(a_pod()) is None
    assert keeper(PODS)(a_pod(annotations={"pipecd.dev/application": "app"})) is None


def test_of_an_object_that_belongs_to_another_little_is_kept() -> None:
    found = keeper(PODS)(a_pod(**OWNED, **OURS))

    assert found is not None
    # It has inherited the annotations of what it belongs to.
    assert (found.owners, found.application, found.packed) == (("o",), "", b"")


def test_of_an_object_that_was_deployed_everything_is_kept_that_a_manifest_decides() -> None:
    found = keeper(PODS)(a_pod(**OURS, managedFields=[{"manager": "x"}], resourceVersion="7", labels={"a": "b" * 500}))

    assert found is not None
    assert found.application == "app"
    assert found.body() == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", **OURS, "labels": {"a": "b" * 500}},
    }


def test_an_object_whose_status_nobody_understands_hides_no_other() -> None:
    raw = msgspec.json.encode(
        {"metadata": {"name": "p", "uid": "u", **OURS}, "status": {"phase": "Running", "containerStatuses": [7]}}
    )

    found = keeper(PODS)(raw)

    assert found is not None
    assert found.health is Health.UNKNOWN
