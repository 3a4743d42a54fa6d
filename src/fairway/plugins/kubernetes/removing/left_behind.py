"""Objects at deploy targets to which an application is not deployed any more.

`app change --target`, or another route or target in the application's file, leaves them running. A stage that prunes
removes them once the new deploy targets have succeeded; any other names them in its log.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fairway.config.agent_file import DeployTarget
from fairway.errors import FairwayError
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.removing.record import TargetRecord
from fairway.plugins.kubernetes.rollout.away import listed
from fairway.plugins.kubernetes.site import Site
from fairway.sdk import StageRun

#: The site of a deploy target.
Open = Callable[[DeployTarget], Site]


class LeftBehind:
    """Former deploy targets of one application, as one stage sees them."""

    def __init__(self, run: StageRun[Any], known: Sequence[DeployTarget], current: Sequence[DeployTarget]) -> None:
        self._run = run
        self._known = known
        self._current = current
        self._record = TargetRecord(run)

    async def note(self) -> tuple[DeployTarget, ...]:
        """Store the current deploy targets; the former ones that the agent still has."""
        names = {each.name for each in self._current}
        kept = await self._record.extend(names, [each.name for each in self._known])
        # Another plugin of the application may deploy to a cluster that this one has left.
        used = names.union(*self._run.deployment.deploy_targets_by_plugin.values())
        return tuple(each for each in self._known if each.name in kept - used)

    async def clear(self, former: Sequence[DeployTarget], open_site: Open, *, prune: bool) -> None:
        """Remove what is at former deploy targets, or name it. The deployment itself has succeeded by then, so a former
        cluster that is unreachable fails nothing."""
        for target in former:
            try:
                await self._clear(target, open_site, prune=prune)
            except FairwayError as error:
                self._run.log.error(
                    f"Deploy target {target.name}: objects of this application may be left there: {error}; "
                    "the next deployment checks again"
                )

    async def _clear(self, target: DeployTarget, open_site: Open, *, prune: bool) -> None:
        site = open_site(target)
        site.reach()
        found = await self._found(site, open_site)
        if not found:
            await self._record.forget(target.name)
        elif prune:
            removed = await site.prune(found, ())
            self._run.log.info(f"Deploy target {target.name} is not used any more: {removed.in_words('object')}")
        else:
            names = listed([str(key_of(each)) for each in found])
            self._run.log.info(
                f"Deploy target {target.name} still has objects of this application: {names}; "
                "set `prune: true` and deploy again, or remove them by hand"
            )

    async def _found(self, site: Site, open_site: Open) -> list[dict[str, Any]]:
        """The objects of the application there. Two deploy targets may be of one cluster, so those of the current ones
        do not count."""
        found = await site.search.at(await site.record.places())
        current: set[str] = set()
        for target in self._current if found else ():
            here = open_site(target)
            here.reach()
            current |= {_uid(each) for each in await here.search.at(await here.record.places())}
        return [each for each in found if _uid(each) not in current]


def _uid(body: Body) -> str:
    return str(part(body, "metadata", "uid"))
