"""SingleFlight: many callers, few runs, and nobody gets a run that began before they asked."""

import asyncio

import pytest

from fairway.git.single_flight import SingleFlight


class Gate:
    """An operation that counts its runs and ends when it is let."""

    def __init__(self) -> None:
        self.runs = 0
        self.started = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self) -> None:
        self.runs += 1
        self.started.set()
        await self.open.wait()


async def test_callers_before_the_start_share_one_run_and_later_ones_share_the_next() -> None:
    gate = Gate()
    flight = SingleFlight(gate)
    early = [asyncio.create_task(flight.run()) for _ in range(5)]
    await gate.started.wait()
    late = [asyncio.create_task(flight.run()) for _ in range(5)]
    await asyncio.sleep(0)

    gate.open.set()
    await asyncio.gather(*early, *late)

    assert gate.runs == 2


async def test_a_cancelled_caller_does_not_stop_the_others() -> None:
    gate = Gate()
    flight = SingleFlight(gate)
    impatient, patient = asyncio.create_task(flight.run()), asyncio.create_task(flight.run())
    await gate.started.wait()

    impatient.cancel()
    gate.open.set()
    await patient

    assert (gate.runs, impatient.cancelled() or impatient.cancelling()) == (1, 1)


async def test_an_error_reaches_every_caller_and_the_next_run_starts_afresh() -> None:
    outcomes = iter([RuntimeError("broken"), None])

    async def operation() -> None:
        if error := next(outcomes):
            raise error

    flight = SingleFlight(operation)
    results = await asyncio.gather(flight.run(), flight.run(), return_exceptions=True)
    await flight.run()

    assert [str(result) for result in results] == ["broken", "broken"]


async def test_closing_stops_what_runs() -> None:
    flight = SingleFlight(Gate())
    caller = asyncio.create_task(flight.run())
    await asyncio.sleep(0)

    await flight.close()

    with pytest.raises(asyncio.CancelledError):
        await caller
