"""What is said of a deployment that is left on a cluster which does not answer."""

from fairway.plugins.kubernetes.rollout.away import in_words
from fairway.plugins.kubernetes.site import Added


def test_nothing_is_said_of_nothing() -> None:
    assert in_words(set(), "web", "here") == ""


def test_of_many_objects_the_first_ten_are_named() -> None:
    left = {Added("v1", "ConfigMap", "shop", f"config-{number:02}") for number in range(12)}
    left.add(Added("rbac.authorization.k8s.io/v1", "ClusterRole", "", "reader"))

    named = ", ".join(["ClusterRole reader", *(f"ConfigMap shop/config-{number:02}" for number in range(9))])
    assert in_words(left, "web", "here") == (
        f"what this deployment has made may still be at deploy target here: {named} and 3 more; "
        "deploy web again once its cluster answers, or remove what is not wanted there by hand"
    )
