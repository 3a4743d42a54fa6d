"""Read and validate five thousand application files, against a bare YAML parse of the same text."""

import asyncio

import yaml

from bench.figures import Figure, best_of
from bench.repository import APPLICATIONS, an_application
from fairway.config.read import read_file
from fairway.config.remembered import RememberedReadings


def bench_reading() -> Figure:
    """One file after another, as an agent would after a fresh start."""
    texts = [an_application(index).encode() for index in range(APPLICATIONS)]
    blobs = {f"apps/app-{index}/app.pipecd.yaml": str(index) for index in range(APPLICATIONS)}
    contents = {str(index): text for index, text in enumerate(texts)}
    remembered = RememberedReadings()
    remembered.read(blobs, contents)

    async def bare() -> None:
        for text in texts:
            yaml.load(text, Loader=yaml.CSafeLoader)

    async def ours() -> None:
        for text in texts:
            (reading,) = read_file(text, "app.pipecd.yaml")
            assert reading.problems == ()

    async def seen() -> None:
        assert not remembered.unknown(blobs)
        assert len(remembered.read(blobs, {})) == APPLICATIONS

    times = asyncio.run(best_of(bare, ours, seen))
    return Figure("read and validate", "yaml.load (C)", *times)
