"""Applications with charts, and places that serve charts, all on this machine."""

import hashlib
import io
import json
import os
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fairway.plugins.kubernetes.manifests.load import Manifests
from fairway.sdk import Files
from tests.clusters.programs import program

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\n",
    "values.yaml": "replicas: 1\nnote: plain\n",
    "crds/planet.yaml": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: planets.example.com}\n"
    ),
    "templates/deployment.yaml": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n"
        "  namespace: {{ .Release.Namespace }}\n"
        "spec:\n  replicas: {{ .Values.replicas }}\n  note: {{ .Values.note | quote }}\n"
    ),
    "templates/hook.yaml": (
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  annotations: {helm.sh/hook: pre-install}\n"
    ),
}


def a_repository(root: Path, files: Mapping[str, str]) -> Files:
    """A repository with an application in `shop`."""
    for name, text in {"shop/app.pipecd.yaml": "", **files}.items():
        path = root / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Files(
        application_directory=root / "repository" / "shop",
        commit="0" * 40,
        config_text=b"",
        config_filename="app.pipecd.yaml",
        shared_directory=root / "repository" / ".pipe",
    )


def a_chart(directory: str, **changed: str) -> dict[str, str]:
    """The chart's files below a directory."""
    return {f"{directory}/{name}": text for name, text in {**CHART, **changed}.items()}


async def no_install(name: str, version: str, script: str) -> Path:
    """An agent that has no network."""
    raise AssertionError(f"{name} {version} is on the PATH and need not be installed")


def manifests_of(root: Path, config: Mapping[str, Any] | None = None) -> Manifests:
    """What loads manifests, with its state below a directory."""
    return Manifests(root / "state", config or {}, no_install)


@pytest.fixture
def tools_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """helm and kustomize, and nothing of what the machine has of them; what they were told stands in `bin/told`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("helm", "kustomize"):
        script = f'#!/bin/sh\necho "$@" >> {folder}/told\nexec {program(name)} "$@"\n'
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def a_remote(directory: Path) -> str:
    """A Git remote with the chart in `deep`, on the branch main and at the tag v1."""
    for name, text in CHART.items():
        path = directory / "deep" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run(["git", "-C", str(directory), *command], check=True)
    return f"file://{directory}"


def packed(files: Mapping[str, str]) -> bytes:
    """A chart as an archive; the same for the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"web/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


class Pages:
    """What a server gives out by path, who may have it, and what was asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, bytes]] = {}
        #: What has to stand in `Authorization`; empty: nothing.
        self.authorization = ""
        self.asked: list[str] = []
        self.address = ""

    def put_repository(self, *versions: str) -> None:
        """A chart repository with these versions of the chart."""
        entries = []
        for version in versions:
            archive = packed({**CHART, "Chart.yaml": f"apiVersion: v2\nname: web\nversion: {version}\n"})
            self.pages[f"/web-{version}.tgz"] = ("application/gzip", archive)
            entries.append({"apiVersion": "v2", "name": "web", "version": version, "urls": [f"web-{version}.tgz"]})
        index = {"apiVersion": "v1", "entries": {"web": entries}}
        self.pages["/index.yaml"] = ("application/yaml", json.dumps(index).encode())

    def put_registry(self, version: str) -> None:
        """An OCI registry with the chart below `charts`, as far as reading goes."""
        archive, config = packed(CHART), json.dumps({"name": "web", "version": version, "apiVersion": "v2"}).encode()
        layers = {archive: "application/vnd.cncf.helm.chart.content.v1.tar+gzip"}
        kind = "application/vnd.oci.image.manifest.v1+json"
        manifest = {
            "schemaVersion": 2,
            "mediaType": kind,
            "config": _blob(config, "application/vnd.cncf.helm.config.v1+json"),
            "layers": [_blob(content, media) for content, media in layers.items()],
        }
        content = json.dumps(manifest).encode()
        for name in (version, _blob(content, "")["digest"]):
            self.pages[f"/v2/charts/web/manifests/{name}"] = (kind, content)
        for blob in (archive, config):
            self.pages[f"/v2/charts/web/blobs/{_blob(blob, '')['digest']}"] = ("application/octet-stream", blob)
        self.pages["/v2/"] = ("application/json", b"{}")
        tags = json.dumps({"name": "charts/web", "tags": [version]}).encode()
        self.pages["/v2/charts/web/tags/list"] = ("application/json", tags)


def _blob(content: bytes, media_type: str) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": media_type, "digest": digest, "size": len(content)}


@contextmanager
def served() -> Iterator[Pages]:
    """A server on this machine while the block lasts."""
    pages = Pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages.asked.append(self.path)
            kind, content = pages.pages.get(self.path.partition("?")[0], ("", b""))
            allowed = not pages.authorization or self.headers.get("Authorization") == pages.authorization
            self.send_response(401 if not allowed else 200 if kind else 404)
            if not allowed:
                self.send_header("WWW-Authenticate", 'Basic realm="charts"')
                kind, content = "", b""
            self.send_header("Content-Type", kind or "text/plain")
            self.send_header("Content-Length", str(len(content)))
            if kind.startswith("application/vnd.oci"):
                self.send_header("Docker-Content-Digest", _blob(content, "")["digest"])
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pages.address = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
