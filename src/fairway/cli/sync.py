"""From a command to its deployment to the end: what `app sync --wait` follows."""

import time
from datetime import timedelta

from fairway.cli.call import Call, decode
from fairway.cli.follow import NotReached, say_lost, wait_for
from fairway.cli.remote import segments
from fairway.cli.watch import TimedOut, Watch
from fairway.model.command import Command, CommandStatus

#: The key under which agents say which deployment a command led to; PipeCD's, like the rest of the wire.
DEPLOYMENT_ID = "TriggeredDeploymentID"


def follow_command(call: Call, body: bytes, timeout: timedelta | None) -> None:
    """Wait for the agent's answer, then for the end of the deployment that it started."""
    started = time.monotonic()
    asked = decode(body, Command)
    call.say(f"asked agent {asked.agent_id}; waiting for it to start a deployment")

    def look() -> bool:
        nonlocal asked
        asked = call.get(Command, segments("commands", asked.id))
        return asked.status is not CommandStatus.WAITING

    try:
        Watch(call.remote, lambda: [f"command:{asked.id}"], say_lost, timeout).run(look)
    except TimedOut as error:
        raise TimedOut(f"agent {asked.agent_id} has not answered command {asked.id}; does it run?") from error
    left = None if timeout is None else timeout - timedelta(seconds=time.monotonic() - started)
    wait_for(call, started_deployment(asked), (), left)


def started_deployment(asked: Command) -> str:
    """The deployment that a command led to; NotReached when it led to none."""
    if asked.status is not CommandStatus.SUCCEEDED:
        words = asked.status.value.replace("_", " ")
        said = "; ".join(f"{key}: {value}" for key, value in sorted(asked.metadata.items()))
        raise NotReached(f"command {asked.id} {words}" + (f" ({said})" if said else ""))
    if not asked.metadata.get(DEPLOYMENT_ID):
        raise NotReached(f"agent {asked.agent_id} took command {asked.id} but started no deployment")
    return asked.metadata[DEPLOYMENT_ID]
