"""A real S3 server: versitygw over a directory of the test, whose folders are its buckets."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from tests.peers.programs import running, the_peer
from tests.ports import a_free_port

ACCESS_KEY, SECRET_KEY = "fairway-test", "s3-secret-of-the-test"


class S3Server(NamedTuple):
    """Where it listens, and where its buckets are."""

    port: int
    root: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """What a client of it finds in its environment."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }

    def new_bucket(self) -> str:
        """The address of a place in a new bucket."""
        name = f"bucket-{uuid4()}"
        (self.root / name).mkdir()
        return f"s3://{name}/logs"

    def files(self, url: str) -> list[Path]:
        """The objects of a bucket as they lie on disk."""
        bucket = self.root / url.removeprefix("s3://").partition("/")[0]
        return sorted(path for path in bucket.rglob("*") if path.is_file() and ".sgwtmp" not in path.parts)


@contextmanager
def an_s3_server(folder: Path) -> Iterator[S3Server]:
    """A server that keeps its buckets in the folder."""
    root = folder / "buckets"
    root.mkdir()
    server = S3Server(a_free_port(), root)

    def answers() -> bool:
        with socket.socket() as caller:
            return caller.connect_ex(("127.0.0.1", server.port)) == 0

    command: list[str | Path] = [the_peer("versitygw"), "--port", f"127.0.0.1:{server.port}", "--quiet", "posix", root]
    keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    with running(command, folder / "said", answers, keys):
        yield server
