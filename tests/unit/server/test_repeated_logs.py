import logging
from collections.abc import Callable

from fairway.server.repeated_logs import RepeatedLines


class Listed(logging.Handler):
    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.addFilter(RepeatedLines(now))

    def emit(self, record: logging.LogRecord) -> None:
        suppressed = getattr(record, "suppressed", "")
        self.lines.append(f"{record.getMessage()} {suppressed}".strip())


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def a_log(clock: Clock) -> tuple[logging.Logger, Listed]:
    log, listed = logging.Logger("test"), Listed(clock)
    log.addHandler(listed)
    summaries = logging.getLogger("fairway.server.repeated_logs")
    summaries.handlers = [listed]
    summaries.propagate = False
    return log, listed


def test_a_line_that_repeats_is_written_ten_times_and_then_counted() -> None:
    clock = Clock()
    log, listed = a_log(clock)
    for number in range(2048):
        log.error("out of descriptors\nsocket %d", number)
    log.error("something else")
    clock.seconds = 10.0
    log.error("out of descriptors\nsocket %d", 0)

    kept = [each.partition("\n")[0] for each in listed.lines]
    assert kept == [
        *["out of descriptors"] * 10,
        "something else",
        "repeated lines were not written 2038",
        "out of descriptors",
    ]


def test_lines_below_a_warning_are_all_written() -> None:
    log, listed = a_log(Clock())
    for _ in range(100):
        log.info("a deployment has begun")

    assert len(listed.lines) == 100


def test_the_end_of_a_flood_is_reported_with_the_next_line_of_any_kind() -> None:
    clock = Clock()
    log, listed = a_log(clock)
    for _ in range(11):
        log.warning("again")
    clock.seconds = 10.0
    log.info("all is well")

    assert listed.lines[-2:] == ["repeated lines were not written 1", "all is well"]


def test_texts_without_end_are_forgotten_with_their_counts() -> None:
    log, listed = a_log(Clock())
    for number in range(3000):
        log.warning(f"text {number}")

    found = listed.filters[0]
    assert isinstance(found, RepeatedLines)
    assert len(found._windows) <= 1000
