"""The clusters of a plugin: one connection for each deploy target, made when it is first needed and shared by all."""

from fairway.config.agent_file import DeployTarget
from fairway.kube.access import Access
from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster
from fairway.plugins.kubernetes.settings import target_settings


class Clusters:
    """Belongs to one event loop."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience
        self._open: dict[str, Cluster] = {}

    def of(self, target: DeployTarget) -> Cluster:
        """The cluster of a deploy target."""
        if target.name not in self._open:
            told = target_settings(target)
            access = Access.of(told.kube_config_path, told.master_url)
            self._open[target.name] = Cluster(target.name, access, self._patience)
        return self._open[target.name]

    async def close(self) -> None:
        """Hang up."""
        for each in self._open.values():
            await each.close()
        self._open.clear()
