"""A cluster that goes away in the middle of a stage: it is waited for, for a while; then it is said what stays there.

It would not help to give up at once, because a rollback needs the cluster just as much. Only where an application has
never had anything there is a cluster that does not answer not waited for: its address is more likely to be wrong. Who
is made to end while something of the deployment is left says what that is, so that no canary is forgotten.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Final

from fairway.kube.errors import BadAccess, ClusterAway, CredentialsRefused, NotAllowed
from fairway.model.lost_targets import lost_in_words
from fairway.plugins.kubernetes.site import Added, Site
from fairway.sdk import PluginSettings, Retry, StageFailed

#: What a stage does at one deploy target; it returns a line about that.
Work = Callable[[Site], Awaitable[str]]
#: How often a cluster is asked that is away.
_ASKING: Final = Retry(first_delay=1.0, longest_delay=15.0)
#: An attempt that went on for so long had its answers: the cluster was there meanwhile.
_WORKED_SECONDS: Final = 300.0
#: A cluster that has not answered for so long is named in the log.
_SILENT_SECONDS: Final = 3.0
#: How many objects are named.
_NAMED: Final = 10


async def patiently(site: Site, work: Work, seconds: float) -> str:
    """Do the work; a cluster that is away is waited for so long, as far as the stage has that much time."""
    try:
        return await _patiently(site, work, seconds)
    except asyncio.CancelledError:
        if site.run.stopped and not site.run.handed_over and (left := await _left(site)):
            site.run.log.error(left)
            site.run.stop_reason = f"{site.run.stop_reason}; {left}"
        raise


async def _patiently(site: Site, work: Work, seconds: float) -> str:
    now = asyncio.get_running_loop().time
    since, said = now(), ""
    for failures in count(1):
        begun = now()
        try:
            site.reach()
            await _until_it_answers(site)
            return await work(site)
        except (BadAccess, ClusterAway, CredentialsRefused) as error:
            if not await site.record.places():
                site.run.waits_for(f"the cluster of deploy target {site.target.name}: {error}")
                raise
            if failures == 1 or now() - begun > _WORKED_SECONDS:
                since = now()
            if now() - since >= seconds:
                raise StageFailed("; ".join(filter(None, [_given_up(error, seconds), await _left(site)]))) from error
            if str(error) != said:
                said = str(error)
                # A kubeconfig may be in the middle of being written.
                then = "can be used" if isinstance(error, BadAccess) else "answers"
                site.run.log.error(f"{error}; the stage goes on as soon as it {then}")
                site.run.waits_for(f"the cluster of deploy target {site.target.name}, until it {then}: {error}")
        await asyncio.sleep(_ASKING.delay(failures))
    raise AssertionError("counting does not end")


async def _until_it_answers(site: Site) -> None:
    """Ask the cluster for anything, and say what is waited for when the answer takes long."""
    asking = asyncio.ensure_future(site.cluster.version())
    try:
        answered, _ = await asyncio.wait({asking}, timeout=_SILENT_SECONDS)
        if not answered:
            words = f"the cluster of deploy target {site.target.name}, which has not answered yet"
            site.run.log.info(f"Waiting for {words}")
            site.run.waits_for(words)
        await asking
    except NotAllowed:
        # That is an answer.
        pass
    finally:
        asking.cancel()
    site.run.waits_for("")


async def refuse_lost(site: Site, settings: PluginSettings) -> str:
    """Say that a deploy target is not in the agent's file any more, and what is left there of the deployment."""
    if site.run.stage.is_rollback and await site.is_untouched():
        site.remark = "nothing had been applied, so there was nothing to undo"
        return site.remark
    words = lost_in_words(settings.name, (site.target.name,), [each.name for each in settings.targets])
    left = await _left(site, "it is in that file again")
    raise StageFailed("; ".join(filter(None, (words, left))))


def _given_up(error: Exception, seconds: float) -> str:
    return f"{error}; it was waited for {seconds / 60:g} minutes"


async def _left(site: Site, until: str = "its cluster answers") -> str:
    """What is left of the deployment where nobody will undo it after this stage; empty where somebody will."""
    if not site.run.stage.is_rollback and site.is_undone:
        return ""
    return in_words(await site.noted(), site.run.deployment.application_name, site.target.name, until)


def in_words(left: set[Added], application: str, target: str, until: str = "its cluster answers") -> str:
    """Which objects may be left of a deployment, and what to do about it."""
    if not left:
        return ""
    names = listed([str(each.key) for each in sorted(left)])
    return (
        f"what this deployment has made may still be at deploy target {target}: {names}; "
        f"deploy {application} again once {until}, or remove what is not wanted there by hand"
    )


def listed(names: Sequence[str]) -> str:
    """Objects by their names, but not more than somebody reads."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
