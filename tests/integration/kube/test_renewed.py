"""What says how a cluster is reached is renewed while it is in use: nobody has to start anything again."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from aiohttp import web

from fairway.clock import FakeClock
from fairway.kube.access import Access
from fairway.kube.cluster import Cluster
from fairway.kube.errors import CredentialsRefused
from tests.clusters.certificates import Authority, Pair
from tests.clusters.kubeconfigs import Door, by_certificate, write_kubeconfig
from tests.integration.kube.double import CONFIG_MAPS, a_cluster, an_object, no_waits, refuses, says, serving
from tests.integration.kube.test_calls import COUNTING, a_plugin

ONE = an_object("one", "7")


class Guarded(NamedTuple):
    """A cluster behind TLS, and the kubeconfig by which it is reached."""

    url: str
    folder: Path
    tls: ssl.SSLContext
    authority: Authority
    cluster: Cluster

    def show(self, pair: Pair) -> None:
        """Show another certificate to whoever comes from now on."""
        _load(self.tls, pair, self.folder)

    def write(self, user: Pair, authority: Authority | None = None, url: str = "") -> None:
        """Renew the kubeconfig."""
        _write(self.folder, url or self.url, authority or self.authority, user)

    async def one(self) -> object:
        """What the cluster has."""
        return await self.cluster.get(CONFIG_MAPS, "", "one")


@asynccontextmanager
async def guarded(folder: Path, user: str = "old") -> AsyncIterator[Guarded]:
    """One that has been called by somebody of that name."""
    authority = Authority.new()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(cadata=authority.pair.certificate.decode())
    _load(tls, authority.server(), folder)
    async with serving(_unless_over, tls=tls) as double:
        path = _write(folder, double.url, authority, authority.client(user))
        async with Cluster("dev", Access.of(str(path)), no_waits()) as cluster:
            made = Guarded(double.url, folder, tls, authority, cluster)
            yield made


def _write(folder: Path, url: str, authority: Authority, user: Pair) -> Path:
    return write_kubeconfig(folder / "config", Door("dev", url, authority.pair.certificate), by_certificate(user))


def _load(tls: ssl.SSLContext, pair: Pair, folder: Path) -> None:
    (folder / "key").write_bytes(pair.key)
    (folder / "certificate").write_bytes(pair.certificate)
    tls.load_cert_chain(folder / "certificate", folder / "key")


async def _unless_over(request: web.Request) -> web.StreamResponse:
    """Refuses one person."""
    assert request.transport is not None
    shown = dict(pair for each in request.transport.get_extra_info("peercert")["subject"] for pair in each)
    return await (refuses(401) if shown["commonName"] == "over" else says(ONE))(request)


async def test_a_client_certificate_that_is_not_taken_any_more_is_read_again(tmp_path: Path) -> None:
    async with guarded(tmp_path, "over") as known:
        with pytest.raises(CredentialsRefused):
            await known.one()
        known.write(known.authority.client("new"))

        assert await known.one() == ONE


async def test_a_client_certificate_without_which_no_connection_comes_about_is_read_again(tmp_path: Path) -> None:
    async with guarded(tmp_path) as known:
        known.write(known.authority.client("old", valid_for=-timedelta(hours=1)))
        async with Cluster("dev", Access.of(str(tmp_path / "config")), no_waits()) as late:
            known.write(known.authority.client("new"))

            assert await late.get(CONFIG_MAPS, "", "one") == ONE


async def test_an_authority_that_has_changed_is_read_again(tmp_path: Path) -> None:
    async with guarded(tmp_path) as known:
        other = Authority.new()
        known.show(other.server())
        with pytest.raises(CredentialsRefused, match="not the cluster dev by its certificate"):
            await known.one()
        known.write(known.authority.client("old"), other)

        assert await known.one() == ONE


async def test_a_cluster_that_has_moved_is_called_at_its_new_place(tmp_path: Path) -> None:
    async with guarded(tmp_path) as known:
        known.write(known.authority.client("old"), url="https://127.0.0.1:1")
        async with Cluster("dev", Access.of(str(tmp_path / "config")), no_waits()) as late:
            known.write(known.authority.client("old"))

            assert await late.get(CONFIG_MAPS, "", "one") == ONE


async def test_a_kubeconfig_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    async with guarded(tmp_path, "over") as known:
        whole = (tmp_path / "config").read_text()
        (tmp_path / "config").write_text(whole[: len(whole) // 2])
        with pytest.raises(CredentialsRefused, match="config"):
            await known.one()
        known.write(known.authority.client("new"))

        assert await known.one() == ONE


async def test_a_credential_plugin_is_asked_once_for_all_whose_credentials_are_not_taken(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        old = request.headers["Authorization"] == "Bearer token-1"
        return await (refuses(401) if old else says(ONE))(request)

    program = a_plugin(tmp_path, COUNTING)
    async with serving(answer) as double, a_cluster(double, clock=FakeClock(), exec=program) as cluster:
        await asyncio.gather(*(cluster.get(CONFIG_MAPS, "", "one") for _ in range(20)))

    assert (tmp_path / "ran").read_text() == ".."
