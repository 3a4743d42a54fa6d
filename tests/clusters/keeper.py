"""Keeps one cluster for as long as somebody else's process lives: `python -m tests.clusters.keeper HOME PID`.

It stands between the tests and the programs, so that these end however the tests end: it holds a handle of the process,
not its number, and is told by the kernel when it is gone, also by `kill -9`. The programs die with the keeper in turn.
The command returns once the cluster is ready, or with what went wrong; the keeper stays behind in a session of its own
and takes orders from a socket, one line each: `stop PROGRAM`, `start PROGRAM`, `end`.
"""

import os
import selectors
import shutil
import signal
import socket
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tests.clusters.api import Api, Refused
from tests.clusters.certificates import Authority, Pair, signing_key
from tests.clusters.components import FIRST, THEN, HeldPort, Site
from tests.clusters.kubeconfigs import Door, by_certificate, write_kubeconfig
from tests.clusters.processes import DidNotStart, Processes

READY = "ready"
#: How often it is looked whether all programs run.
_LOOK_SECONDS = 1.0
_CUSTOM = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DEFINITIONS = Path(__file__).with_name("definitions.yaml")
#: More than all tests together make.
_ROOM = {"cpu": "10k", "memory": "100Ti", "pods": "100k"}


class Keeper:
    """One cluster and its programs."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._processes = Processes(site.commands(), site.home / "logs")

    def start(self) -> None:
        """Return when a pod could run."""
        _write_keys(self._site)
        self._api = Api(self._site.url, self._site.pki)
        self._processes.start(*FIRST)
        self._processes.wait("the API server", self._answers)
        self._processes.start(*THEN)
        self._api.create("/api/v1/nodes", _node("node-1"))
        for each in yaml.safe_load_all(_DEFINITIONS.read_text()):
            self._api.create(_CUSTOM, each)
        self._processes.wait("a node that is ready", self._has_ready_node)
        self._processes.wait("kinds of others", self._serves_definitions)

    def obey(self, order: str) -> None:
        """One line of the socket."""
        match order.split():
            case ["stop", name]:
                self._processes.stop(name)
            case ["start", name]:
                self._processes.start(name)
                self._processes.wait("the API server", self._answers)
            case _:
                raise ValueError(f"no such order: {order}")

    def look_after(self) -> None:
        """Start again what has ended by itself, such as for a machine that was too slow for it."""
        if self._processes.are_wanted(*FIRST):
            self._processes.start_again()

    def end(self) -> None:
        """Leave nothing."""
        self._processes.stop_all()
        shutil.rmtree(self._site.home, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            return self._api.text("/readyz") == "ok"
        except (OSError, HTTPException, Refused):
            return False

    def _has_ready_node(self) -> bool:
        return _holds(self._api.get("/api/v1/nodes/node-1")["status"].get("conditions", []), "Ready")

    def _serves_definitions(self) -> bool:
        """That they are established is said a moment before they are served, and before they are among the kinds."""
        return all(self._serves(each["spec"]) for each in self._api.get(_CUSTOM)["items"])

    def _serves(self, definition: Mapping[str, Any]) -> bool:
        name = definition["names"]["plural"]
        for path in (f"/apis/{definition['group']}/{each['name']}" for each in definition["versions"]):
            try:
                self._api.get(f"{path}/{name}")
                kinds = self._api.get(path)["resources"]
            except Refused:
                return False
            if name not in {each["name"] for each in kinds}:
                return False
        return True


def _holds(conditions: list[dict[str, str]], name: str) -> bool:
    return any((each["type"], each["status"]) == (name, "True") for each in conditions)


def _write_keys(site: Site) -> None:
    site.pki.mkdir()
    authority = Authority.new()
    authority.save(site.pki)
    admin = authority.client("admin", ("system:masters",))
    for name, pair in {"kube-apiserver": authority.server(), "admin": admin}.items():
        (site.pki / f"{name}.key").write_bytes(pair.key)
        (site.pki / f"{name}.crt").write_bytes(pair.certificate)
    (site.pki / "accounts.key").write_bytes(signing_key())
    door = Door(site.home.name, site.url, authority.pair.certificate)
    write_kubeconfig(site.kubeconfig, door, by_certificate(Pair(*admin)))


def _node(name: str) -> dict[str, object]:
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"allocatable": _ROOM, "capacity": _ROOM},
    }


def _serve(keeper: Keeper, listener: socket.socket, watched: int) -> None:
    """Until the process is gone, or the order to end."""
    with selectors.DefaultSelector() as selector:
        selector.register(watched, selectors.EVENT_READ)
        selector.register(listener, selectors.EVENT_READ)
        while watched not in (ready := {key.fd for key, _ in selector.select(_LOOK_SECONDS)}):
            keeper.look_after()
            if listener.fileno() not in ready:
                continue
            caller, _ = listener.accept()
            with caller, caller.makefile("rw") as lines, suppress(OSError):
                if (order := lines.readline().strip()) == "end":
                    keeper.end()
                    lines.write(f"{READY}\n")
                    return
                try:
                    keeper.obey(order)
                    lines.write(f"{READY}\n")
                except (DidNotStart, ValueError) as error:
                    lines.write(str(error))


def _keep(home: Path, pid: int, told: int) -> None:
    """In the process that stays; `told` is where the other one waits for news."""
    with ExitStack() as held:
        watched = os.pidfd_open(pid)
        ports = [HeldPort() for _ in range(3)]
        for port in ports:
            held.callback(port.close)
        listener = held.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(home / "orders"))
        listener.listen()
        (home / "logs").mkdir()
        keeper = Keeper(Site(home, *(port.number for port in ports)))
        held.callback(keeper.end)
        keeper.start()
        os.write(told, READY.encode())
        os.close(told)
        _serve(keeper, listener, watched)


def _leave(signum: int, _: object) -> NoReturn:
    sys.exit(f"ended by {signal.Signals(signum).name}")


def main(home: Path, pid: int) -> None:
    """Fork; the one that returns says whether the cluster is ready."""
    hear, told = os.pipe()
    if os.fork() == 0:
        os.close(hear)
        os.setsid()
        # The caller reads what the other process says, to its end.
        with (home / "keeper.log").open("wb") as log:
            os.dup2(log.fileno(), sys.stdout.fileno())
            os.dup2(log.fileno(), sys.stderr.fileno())
        signal.signal(signal.SIGTERM, _leave)
        try:
            _keep(home, pid, told)
        except (DidNotStart, OSError, Refused) as error:
            with suppress(OSError):
                os.write(told, str(error).encode())
            raise
        return
    os.close(told)
    with os.fdopen(hear) as news:
        said = news.read()
    if said != READY:
        sys.exit(said or "the keeper ended without a word")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
