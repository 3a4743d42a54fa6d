"""Looking again whenever something may have changed, for as long as it takes.

The server's stream (/api/v1/stream) is only a bell: whatever rings, the truth is read again from the start of what is
not known yet. So a connection that breaks, a stream that says something twice or a server that has none costs time and
nothing else. While the stream is silent, its heartbeats make us look as well.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta

from fairway.cli.remote import Refused, Remote, Silent, Unreachable
from fairway.errors import TemporaryError

#: Seconds without a byte after which a stream is opened again; the server's heartbeats come more often.
SILENCE = 20.0
#: Seconds between looks where there is no stream.
INTERVAL = 1.0
#: Seconds for which a server may be away, for example to be restarted, before we give up.
AWAY = 120.0


class TimedOut(TemporaryError):
    """What was waited for did not come in time."""


class Watch:
    """Looks again and again, until what is looked for has come."""

    def __init__(
        self,
        remote: Remote,
        topics: Callable[[], Sequence[str]],
        lost: Callable[[Unreachable], None],
        timeout: timedelta | None = None,
    ) -> None:
        self._remote = remote
        self._topics = topics
        self._lost = lost
        self._deadline = time.monotonic() + timeout.total_seconds() if timeout is not None else float("inf")
        self._has_stream = True
        #: What the stream said last, so that it need not begin anew.
        self._last_id = ""
        #: Since when the server has not answered.
        self._away_since: float | None = None

    def run(self, look: Callable[[], bool]) -> None:
        """Call `look` until it is true; TimedOut or Unreachable when that takes too long."""
        done = False
        while not done:
            try:
                done = self._with_stream(look) if self._has_stream else self._without_stream(look)
            except Silent:
                if self._left() <= 0:
                    # A busy server may not even have begun to answer; it is asked once more, without a stream.
                    done = self._look(look)
            except Unreachable as error:
                self._be_patient(error)

    def _with_stream(self, look: Callable[[], bool]) -> bool:
        topics = tuple(self._topics())
        silence = min(SILENCE, max(self._left(), 0.1))
        try:
            with self._remote.stream("/stream", {"topic": topics}, self._headers(), silence) as chunks:
                # Subscribed first, read then: nothing that happens in between is missed.
                if self._look(look):
                    return True
                for _ in self._events(chunks):
                    if self._look(look):
                        return True
                    if tuple(self._topics()) != topics:
                        return False
        except Refused as error:
            if error.status in {429, 503}:
                return self._without_stream(look)
            if error.status not in {404, 405}:
                raise
            self._has_stream = False
        return False

    def _headers(self) -> dict[str, str]:
        return {"last-event-id": self._last_id} if self._last_id else {}

    def _events(self, chunks: Iterable[bytes]) -> Iterator[None]:
        """Once for each piece of the stream that ends an event; a heartbeat counts as one."""
        left = b""
        for chunk in chunks:
            *whole, left = (left + chunk).split(b"\n\n")
            if whole:
                self._last_id = last_id(whole) or self._last_id
                yield None

    def _without_stream(self, look: Callable[[], bool]) -> bool:
        if self._look(look):
            return True
        time.sleep(min(INTERVAL, max(self._left(), 0.0)))
        return False

    def _look(self, look: Callable[[], bool]) -> bool:
        done = look()
        self._away_since = None
        if not done and self._left() <= 0:
            raise TimedOut("it took too long")
        return done

    def _be_patient(self, error: Unreachable) -> None:
        """Wait a little before the next try, unless that has been going on for too long."""
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
            self._lost(error)
        if now - self._away_since > AWAY or self._left() <= 0:
            raise error
        time.sleep(min(INTERVAL, max(self._left(), 0.0)))

    def _left(self) -> float:
        return self._deadline - time.monotonic()


def last_id(events: Sequence[bytes]) -> str:
    """The id of the last event that has one."""
    lines = (line for event in reversed(events) for line in event.split(b"\n"))
    return next((line[3:].strip().decode("ascii", "replace") for line in lines if line.startswith(b"id:")), "")
