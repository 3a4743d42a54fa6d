"""What is remembered of renderings, and what is forgotten."""

import asyncio

import pytest

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.manifests.renderings import Rendering, Renderings, digest


class Counting:
    """Makes renderings and counts how often it was asked to."""

    def __init__(self, size: int = 1) -> None:
        self.made = 0
        self.size = size
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self) -> Rendering:
        self.made += 1
        await self.gate.wait()
        return Rendering(manifests=(Manifest({"number": self.made}),), size=self.size)


async def test_those_who_ask_at_once_share_one_rendering() -> None:
    renderings, make = Renderings(), Counting()
    make.gate.clear()

    waiting = [asyncio.create_task(renderings.get("a", make)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    make.gate.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)

    assert make.made == 1
    assert results[1] is results[2]
    assert isinstance(results[0], asyncio.CancelledError)


async def test_what_was_not_asked_for_the_longest_is_forgotten_first() -> None:
    renderings, make = Renderings(most=2), Counting()

    for key in ("a", "b", "a", "c"):
        await renderings.get(key, make)
    made = make.made
    await renderings.get("a", make)
    known = make.made
    await renderings.get("b", make)

    assert (made, known, make.made) == (3, 3, 4)


async def test_the_bytes_are_bounded_too() -> None:
    renderings, make = Renderings(most_bytes=10), Counting(size=6)

    for key in ("a", "b", "a"):
        await renderings.get(key, make)

    assert make.made == 3


async def test_an_error_is_not_remembered() -> None:
    renderings, make = Renderings(), Counting()

    async def fails() -> Rendering:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await renderings.get("a", fails)

    assert (await renderings.get("a", make)).size == 1


async def test_what_floats_is_made_again_after_a_while() -> None:
    times = iter([1.0, 200.0, 400.0, 400.0])
    renderings = Renderings(now=lambda: next(times))
    made: list[str] = []

    async def make() -> Rendering:
        made.append("made")
        return Rendering(manifests=(), floating=True)

    for expected in (1, 1, 2):
        await renderings.get("a", make)
        assert len(made) == expected


async def test_what_is_being_made_is_broken_off_at_the_end() -> None:
    renderings, make = Renderings(), Counting()
    make.gate.clear()
    waiting = asyncio.create_task(renderings.get("a", make))
    await asyncio.sleep(0)

    await renderings.close()

    with pytest.raises(asyncio.CancelledError):
        await waiting


def test_where_one_content_ends_and_the_next_begins_makes_a_difference() -> None:
    assert len({digest([("a", b"bc")]), digest([("ab", b"c")]), digest([("a", b"b"), ("", b"c")])}) == 3
