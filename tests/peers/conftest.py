"""Peers that many tests share. `make test-peers` builds them; `make test` leaves these tests out."""

from collections.abc import Iterator

import pytest

from tests.peers.gitea import Gitea, a_gitea
from tests.peers.s3 import S3Server, an_s3_server


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """One S3 server for all tests; each has a bucket of its own."""
    with an_s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def gitea(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gitea]:
    """One Git host for all tests of a process; each has repositories of its own."""
    with a_gitea(tmp_path_factory.mktemp("gitea")) as host:
        yield host
