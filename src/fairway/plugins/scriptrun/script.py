"""The text that the shell is given: variables first, then the commands, each told before it runs.

It goes into a private file, never onto a command line: variables and commands may hold opened secrets, and a process
list is everybody's to read. Names that a shell cannot export (a label may hold anything) are passed over.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

_EXPORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

#: Runs the script and leaves its exit status where whoever comes back finds it. The file that it makes first, and only
#: if it is not there, lets one of two win, should it ever be started twice; a signal for the whole group must not keep
#: it from its last line. One that comes while there is nobody else in the group would be lost on the script: where a
#: signal is not outlived any more it is seen that the script is not wanted, and it ends as by that signal. What the
#: keeper writes it writes over (`<>`), which a full disk takes too. No command of it is a process: of those there is
#: the script alone. What it would say itself of a signal ("Terminated") is left out: the log says it, and says more.
#: When the lease of the agent (file `$3`) is over, the script does not start and gets no status: it is interrupted. A
#: lease that differs between two reads is just being renewed.
KEEPER = """\
set -C
: 2>/dev/null > "$1/started" || exit 0
set +C
trap : HUP INT TERM
echo $$ 1<> "$1/process"
exec 3>&2 2>/dev/null
if read -r asked made < "$3" && read -r again _ < "$3" && [ "$asked" = "$again" ] && read -r now _ < /proc/uptime; then
    if [ "${now%.*}" -ge "$asked" ] || [ "${now%.*}" -ge "$made" ]; then
        echo lease 1<> "$1/interrupted"
        exit 0
    fi
fi
( [ -e "$1/wanted" ] || exit 143; exec "$2" -l "$1/script" 2>&3 3>&- )
echo $? 1<> "$1/status"
"""


def script_text(commands: Sequence[str], environment: Mapping[str, str], step_file: str) -> str:
    """One script of several commands: they share the shell, and the first that fails is the last.

    Each is a text of its own to the shell: a quote that one leaves open does not swallow the next, and one that is a
    list itself (`a && b`) fails as a whole, where `set -e` alone would pass over it.
    """
    exports = [f"export {name}={shlex.quote(value)}" for name, value in environment.items() if _EXPORTABLE.match(name)]
    if len(commands) == 1:
        return "\n".join([*exports, commands[0], ""])
    steps = [
        line
        for number, command in enumerate(commands, 1)
        for line in (
            # A disk that takes no more of the output is no failure of the script.
            f"echo {number} 1<> {shlex.quote(step_file)} || :",
            f"printf '%s\\n' {shlex.quote(f'$ {command}')} || :",
            f"eval {shlex.quote(command)}",
        )
    ]
    return "\n".join([*exports, "set -e", *steps, ""])
