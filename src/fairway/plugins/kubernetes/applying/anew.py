"""Objects that a stage deletes and makes anew, each of them once.

A Job that is made anew runs again. So a stage that is run again, after a restart or because an answer was lost, must
not do it a second time: which object was there before is noted with the stage before it is deleted.
"""

from typing import Any, Final

from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.marks import COMMIT, mark
from fairway.plugins.kubernetes.parts import part
from fairway.sdk import StageRun

_NOTED: Final = "fairway/made-anew"
#: In place of the uid where nothing was there.
_NOTHING: Final = "-"


class Anew:
    """What one stage makes anew at one deploy target."""

    def __init__(self, run: StageRun[Any], target: str) -> None:
        self._run = run
        self._target = target

    async def is_made(self, body: Body, live: Body | None) -> bool:
        """Whether what is live is what this stage has made; to be asked before anything is deleted or made."""
        note = f"{_NOTED}/{self._target}/{key_of(body)}"
        uid = _NOTHING if live is None else str(part(live, "metadata", "uid"))
        before = await self._run.noted(note)
        if before is None:
            await self._run.note({note: uid})
            return False
        return live is not None and uid != before and mark(live, COMMIT) == mark(body, COMMIT)
