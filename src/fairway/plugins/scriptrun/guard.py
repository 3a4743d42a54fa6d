"""Ends scripts when the lease of their agent runs out, before another agent may run them again.

A script outlives its agent and its plugin process. Another agent with the same id may take over when the lease of this
one runs out, also while agent, plugin process or keeper live and only hang. So the guard is a process of its own that
obeys the lease file alone (`sdk/lease_file`). It polls while processes of scripts run, and exits when none is left.
"""

import asyncio
import contextlib
import os
import subprocess
from pathlib import Path

import structlog

from fairway.plugins.scriptrun.child import Child
from fairway.sdk.lease_file import read_lease, uptime

_log = structlog.get_logger()

_LOOK_SECONDS = 0.3
#: Pause before a guard that was killed is replaced.
_RESTART_SECONDS = 0.1

#: Reads from standard input the directory of journals, the lease file and the process id of the plugin host: none of
#: them appears on a command line. A keeper is killed before its script gets SIGTERM, so that no exit status is written.
#: A script whose `wanted` file is gone has got SIGTERM already. Signals go only to the keeper of a journal, to the rest
#: of its group, and to processes with its mark (`tree`). The file `background` tells whether marked processes of a
#: script with an exit status end too. It is gone once no process is left: old journals cost no scan of `/proc`.
#: A lease that seems to be over is read twice: one read may see half of a write. Before it exits the guard closes its
#: standard input and scans once more: the plugin host writes the journal, then writes to the guard, and starts another
#: guard if that fails.
_GUARD = """\
trap '' HUP INT TERM
read -r journals && read -r lease && read -r host || exit 0
marked() {
    grep -aqF -e "FAIRWAY_SCRIPT=$directory/" /proc/[0-9]*/environ
}
send() {
    signal=$1
    [ -z "$group" ] || kill "-$signal" "-$keeper"
    grep -alF -e "FAIRWAY_SCRIPT=$directory/" /proc/[0-9]*/environ | while read -r path; do
        path=${path%/environ}
        read -r stat < "$path/stat"
        set -- ${stat##*) }
        [ "$group$3" = "yes$keeper" ] || kill "-$signal" "${path#/proc/}"
    done
}
known= asked= rounds=0 leaving=
while :; do
    polite= hard= again= over=
    read -r now _ < /proc/uptime
    now=${now%.*}
    read -r polite hard < "$lease"
    case "$polite" in ''|*[!0-9]*) hard= ;; esac
    case "$hard" in ''|*[!0-9]*) polite= hard= ;; esac
    if [ "$hard" ] && { [ "$now" -ge "$polite" ] || [ "$now" -ge "$hard" ]; }; then
        read -r again _ < "$lease"
        [ "$again" = "$polite" ] && over=yes
    fi
    seen= groups= ending= coming=
    for file in "$journals"/*/*/process; do
        keeper= status= background= group= directory=${file%/process}
        journal=${directory#"$journals"/}
        read -r keeper < "$file"
        read -r status < "$directory/status"
        read -r background < "$directory/background"
        [ -z "$status" ] || [ "$background" = end ] || continue
        case $keeper in
            '') [ -e "$directory/script" ] && coming=yes; continue ;;
            *[!0-9]*) continue ;;
        esac
        if kill -0 "-$keeper"; then
            case "$known " in *" $journal "*) group=yes ;; *)
                if [ ! -e "/proc/$keeper" ]; then
                    [ "$status" ] || group=yes
                else
                    grep -aqF -e "$directory" "/proc/$keeper/cmdline" && group=yes
                fi
            esac
        fi
        if [ -z "$group" ]; then
            [ "$background" ] || continue
            # A process that forks during one scan is found by the next.
            marked || marked || { rm -f "$directory/background"; continue; }
        fi
        seen=yes groups="$groups${group:+ $journal}"
        case "$asked " in *" $journal "*) ;; *)
            [ "$over" ] || continue
            if [ -z "$status" ]; then
                [ -z "$group" ] || kill -KILL "$keeper"
                read -r cause < "$directory/interrupted" && [ "$cause" ] || echo lease 1<> "$directory/interrupted"
            fi
            [ ! -e "$directory/wanted" ] || { rm -f "$directory/wanted"; send TERM; }
            deadline=$hard
        esac
        ending="$ending $journal"
        [ "$now" -lt "$deadline" ] || send KILL
    done
    known=$groups asked=$ending rounds=$((rounds + 1))
    [ -z "$seen" ] || rounds=0
    if [ "$seen" ] || { [ "$coming" ] && { kill -0 "$host" || [ "$rounds" -le 100 ]; }; }; then
        # Without the pipe, which must break when the guard is killed.
        sleep 0.3 < /dev/null || sleep 1 < /dev/null
    else
        [ -z "$leaving" ] || exit 0
        leaving=yes
        exec < /dev/null
    fi
done
"""


class Guard:
    """Guards the scripts of one directory of journals. It belongs to one event loop."""

    def __init__(self, journals: Path, lease: Path | None) -> None:
        self.journals = journals
        #: None where no other agent can take over.
        self.lease = lease
        self._process: Child | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def fencing_token(self) -> int | None:
        """The fencing token of the agent's lease; None without a lease."""
        found = read_lease(self.lease)
        return None if found is None else found.fencing_token

    async def in_time(self) -> None:
        """Return while the lease allows scripts; wait while it is over, until the agent has renewed it."""
        while self._is_over():  # noqa: ASYNC110  # another process writes the file
            await asyncio.sleep(_LOOK_SECONDS)

    def stand(self) -> None:
        """Have a guard for the journals that are there."""
        if self.lease is None or (self._process is not None and _hears(self._process)):
            return
        self._leave()
        try:
            self._process = self._started(self.lease)
        except OSError as error:
            _log.warning("scripts have no guard", reason=str(error))
            return
        self._watching = asyncio.create_task(self._watch(self._process))

    async def close(self) -> None:
        """Leave the guard to itself: it exits when no script is left."""
        self._leave()

    def _is_over(self) -> bool:
        found = read_lease(self.lease)
        return found is not None and found.is_over(uptime())

    def _leave(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    async def _watch(self, process: Child) -> None:
        """Replace the guard when it was killed."""
        await process.wait()
        if process.status:
            _log.warning("the guard of scripts was killed and is started again", status=process.status)
            await asyncio.sleep(_RESTART_SECONDS)
            # Not to be cancelled by its own work.
            self._watching = None
            self.stand()

    def _started(self, lease: Path) -> Child:
        child = Child(
            ("/bin/sh", "-c", _GUARD, "fairway-script-guard"),
            stdin=subprocess.PIPE,
            bufsize=0,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if child.stdin is None:
            raise AssertionError("the pipe was asked for")
        told = (os.fsencode(self.journals), os.fsencode(lease), str(os.getpid()).encode())
        with contextlib.suppress(BrokenPipeError):
            child.stdin.write(b"".join(line + b"\n" for line in told))
        # The guard does not read the lines after these.
        os.set_blocking(child.stdin.fileno(), False)
        return child


def _hears(process: Child) -> bool:
    """Whether the guard scans again after this."""
    if process.stdin is None or process.has_ended or process.is_stopped:
        return False
    try:
        process.stdin.write(b"\n")
    except BlockingIOError:
        return True
    except (BrokenPipeError, ValueError):
        return False
    return True
