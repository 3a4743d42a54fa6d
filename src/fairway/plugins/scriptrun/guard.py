"""Whoever ends the scripts of an agent that is gone, before another agent may run them again.

A script outlives its agent, so that the next one with the same data goes on with it. When none comes, another agent
with the same id takes over, on this machine or any other, and nothing may run here any more. The agent says in a file
when that is, and keeps moving it on while it lives. The guard does nothing until the process that started it is gone;
then it waits for the end of the scripts or of their time, whichever comes first.

It is a shell, which is there at once on a machine that is out of breath, and needs next to nothing while it waits.
"""

import contextlib
import os
import subprocess
from pathlib import Path

import structlog

from fairway.plugins.scriptrun.child import Child

_log = structlog.get_logger()

#: Told by its standard input where the journals are and where the file with the times is: nothing of that stands on a
#: command line. The times are when scripts are asked to end and when they are made to, in seconds since the machine
#: started. Of whoever has the number of a script's keeper it is made sure that it is one; when it is to end it goes
#: first, so that nobody writes down how the script ended: it did not by itself. One that was just being started is
#: waited for, for half a minute: by then it has come to life, or nobody has started it.
_GUARD = """\
trap '' HUP INT TERM
read -r journals && read -r times || exit 0
read -r _
asked= rounds=0
while :; do
    running= coming=
    for file in "$journals"/*/*/process; do
        keeper= status=
        read -r keeper < "$file"
        read -r status < "${file%/process}/status"
        case $keeper in
            '') [ -z "$status" ] && [ -e "${file%/process}/script" ] && coming=yes; continue ;;
            *[!0-9]*) continue ;;
        esac
        [ -z "$status" ] && kill -0 "-$keeper" || continue
        case "$asked " in *" $keeper "*) ;; *)
            [ ! -e "/proc/$keeper" ] || grep -aqF -e "${file%/process}" "/proc/$keeper/cmdline" || continue
        esac
        running="$running $keeper"
    done
    rounds=$((rounds + 1))
    [ "$running" ] || { [ "$coming" ] && [ "$rounds" -le 100 ]; } || exit 0
    if read -r polite hard < "$times" && read -r now _ < /proc/uptime; then
        for keeper in $running; do
            case "$asked " in *" $keeper "*) ;; *)
                [ "${now%.*}" -ge "$polite" ] && kill -KILL "$keeper"
                [ "${now%.*}" -ge "$polite" ] && kill -TERM "-$keeper" && asked="$asked $keeper"
            esac
            [ "${now%.*}" -ge "$hard" ] && kill -KILL "-$keeper"
        done
    fi
    sleep 0.3 || sleep 1
done
"""


class Guard:
    """Guards the scripts of one directory of journals. It belongs to one event loop."""

    def __init__(self, journals: Path, times: Path | None) -> None:
        self.journals = journals
        #: None where nobody could take over.
        self._times = times
        self._process: Child | None = None

    async def stand(self) -> None:
        """Be on guard from now on."""
        if self._times is None:
            return
        if self._process is None or self._process.has_ended:
            await self.close()
            try:
                self._process = self._started(self._times)
            except OSError as error:
                _log.warning("nobody guards the scripts, should the agent be killed", reason=str(error))

    async def close(self) -> None:
        """Leave it alone: it goes when nothing is left to be guarded."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _started(self, times: Path) -> Child:
        child = Child(
            ("/bin/sh", "-c", _GUARD, "fairway-script-guard"),
            # The other end of it is nobody's but this process's, and closes with it.
            stdin=subprocess.PIPE,
            bufsize=0,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if child.stdin is None:
            raise AssertionError("the pipe was asked for")
        with contextlib.suppress(ConnectionError):
            child.stdin.write(os.fsencode(self.journals) + b"\n" + os.fsencode(times) + b"\n")
        return child
