"""Looking again and again at a server that is too busy to answer a stream."""

import threading
from datetime import timedelta

import pytest

from fairway.cli.profiles import Profile
from fairway.cli.remote import Remote
from fairway.cli.watch import TimedOut, Watch
from tests.integration.cli.scripted import Answer, Asked, a_scripted_server
from tests.patience import PATIENCE_SECONDS


def test_the_time_is_over_also_while_the_stream_says_nothing() -> None:
    ended, looks = threading.Event(), list[bool]()

    def answer(_: Asked) -> Answer:
        ended.wait(PATIENCE_SECONDS)
        return Answer(None)

    def look() -> bool:
        looks.append(True)
        return False

    with a_scripted_server(answer) as server, Remote(Profile(server=server.url, api_key="key")) as remote:
        watch = Watch(remote, lambda: ["deployments"], lambda _: None, timedelta(0))
        try:
            with pytest.raises(TimedOut):
                watch.run(look)
        finally:
            ended.set()

    assert looks == [True]
