"""The pictures of all clusters that the plugins of one process watch: one for each cluster, whoever asks.

`kubernetes` and `kubernetes_multicluster` mostly have the same clusters, and several deploy targets may lead to one.
Those that are reached the same way, and that let the same be watched, share a picture with connections of its own. It
ends with the last plugin that uses it.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.config.providers import AppStateInformer
from fairway.kube.access import Access
from fairway.kube.cluster import Cluster
from fairway.plugins.kubernetes.live.picture import Picture
from fairway.plugins.kubernetes.settings import target_settings

#: Told which application a change touches.
Listener = Callable[[str], None]


class _Way(msgspec.Struct, frozen=True):
    """How a cluster is reached, and what of it is watched. The same way leads to the same place at any time."""

    kubeconfig: str
    address: str
    informer: AppStateInformer


class Pictures:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._open: dict[_Way, Picture] = {}
        self._listeners: list[Listener] = []

    def join(self, listener: Listener) -> None:
        """Somebody uses the pictures from now on, and wants to be told."""
        self._listeners.append(listener)

    async def leave(self, listener: Listener) -> None:
        """And does not any more."""
        self._listeners.remove(listener)
        if not self._listeners:
            pictures, self._open = list(self._open.values()), {}
            for each in pictures:
                await each.close()
                await each.cluster.close()

    def of(self, target: DeployTarget) -> Picture:
        """The picture of the cluster that a deploy target is."""
        told = target_settings(target)
        path = str(Path(told.kube_config_path).expanduser().resolve()) if told.kube_config_path else ""
        way = _Way(path, told.master_url, told.app_state_informer)
        if way not in self._open:
            cluster = Cluster(target.name, Access.of(told.kube_config_path, told.master_url))
            self._open[way] = Picture(cluster, told.app_state_informer, self.touched)
        return self._open[way]

    def touched(self, application_id: str) -> None:
        """Something of an application is otherwise than before."""
        for listener in self._listeners:
            listener(application_id)
