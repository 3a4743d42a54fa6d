"""What a rollback applies, as far as that takes no cluster."""

from types import SimpleNamespace
from typing import Any

from fairway.config.platforms import KubernetesSpec, ResourceReference
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.undoing import _with_live_selectors


async def test_a_workload_that_is_named_wrongly_keeps_nobody_from_going_back() -> None:
    """A sync does not need it, so a commit that names it so may well be the one that runs."""

    async def live(_: Manifest) -> dict[str, Any]:
        return {"spec": {"selector": {"matchLabels": {"app": "web", "pipecd.dev/variant": "primary"}}}}

    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {}}
    spec = KubernetesSpec(workloads=(ResourceReference(kind="Deployment", name="wbe"),))
    settings = SimpleNamespace(spec=spec, stage_options=lambda *_: ())
    site: Any = SimpleNamespace(live=live)
    running: Any = SimpleNamespace(settings=settings, manifests=(Manifest(body),))

    (made,) = await _with_live_selectors(site, running)

    assert made.body["spec"]["selector"]["matchLabels"] == {"pipecd.dev/variant": "primary"}
