"""Log objects in a bucket; only who has one loads this module and obstore.

A local directory is not left to obstore: its local store renames a file without an fsync, so that a power failure may
take back what was acknowledged (`local_directory` has ours). Buckets acknowledge only what is safe, and obstore does
their signing, retries and timeouts.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Self

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import GCSStore, MemoryStore, S3Store

from fairway.server.logs.objects import LogPlaceError, LogStorageError

#: An agent that waits for an append gives up after a while and sends it again, so there is no use in going on for long.
_GIVE_UP_AFTER = timedelta(seconds=20)


class Bucket:
    """Objects in a bucket, or in memory for tests."""

    def __init__(self, store: S3Store | GCSStore | MemoryStore) -> None:
        self._store = store

    @classmethod
    def open(cls, url: str, options: Mapping[str, str]) -> Self:
        """The bucket of an `s3://` or `gs://` URL; what the options leave open comes from the usual variables.

        They are called as obstore calls them: `aws_region`, `aws_endpoint`, `google_service_account_key` …
        """
        retry: Any = {"max_retries": 3, "retry_timeout": _GIVE_UP_AFTER}
        config: Any = dict(options)
        try:
            if url.startswith("gs://"):
                return cls(GCSStore.from_url(url, config=config, retry_config=retry))
            return cls(S3Store.from_url(url, config=config, retry_config=retry))
        except (BaseError, ValueError) as error:
            # Not its text: it quotes keys that cannot be read.
            raise LogPlaceError(
                f"{url} cannot be used as a bucket for logs; check its name, keys and endpoint"
            ) from error

    async def create(self, objects: Mapping[str, bytes]) -> None:
        for name, content in objects.items():
            async with _explained("write", name):
                with suppress(AlreadyExistsError):
                    await obstore.put_async(self._store, name, content, mode="create", use_multipart=False)

    async def get(self, name: str) -> bytes | None:
        async with _explained("read", name):
            try:
                found = await obstore.get_async(self._store, name)
                return bytes(await found.bytes_async())
            except FileNotFoundError:
                return None

    async def list(self, folder: str) -> dict[str, int]:
        sizes: dict[str, int] = {}
        async with _explained("list", folder):
            async for page in obstore.list(self._store, prefix=folder):
                sizes.update((meta["path"], meta["size"]) for meta in page)
        return dict(sorted(sizes.items()))

    async def delete(self, names: Sequence[str]) -> None:
        if names:
            async with _explained("delete", names[0]):
                await obstore.delete_async(self._store, names)

    async def close(self) -> None:
        """Nothing is open between two calls."""


@asynccontextmanager
async def _explained(verb: str, name: str) -> AsyncIterator[None]:
    try:
        yield
    except (BaseError, OSError) as error:
        # obstore goes on with pages of its insides.
        said = str(error).partition("\n")[0]
        message = f"the bucket did not {verb} {name}: {said}; check that it can be reached and that its keys are right"
        raise LogStorageError(message) from error
