"""PipeCD's file of the control plane (`kind: ControlPlane`), in this server's words.

Everything in it is either used or said to have no effect here and why, at its line, all at once: nobody should find out
by watching that their database or their administrator is not the one they wrote down. Options on the command line win
over the file, so what they replace is no error. Files that the file names (keys of a bucket) are read here, once.
"""

import configparser
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path as FilePath
from typing import Any

import msgspec
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.config.control_plane import ControlPlaneSpec, Filestore, ProjectEntry, SharedSso
from fairway.config.problems import ConfigError, Path, Problem, Severity, in_order
from fairway.config.read import read_file
from fairway.config.reader.document import Document, read_documents
from fairway.server.store.errors import AlreadyExists
from fairway.server.store.projects import Project, insert_project
from fairway.server.store.store import Store

#: What is read but means nothing here, and what does its work instead.
_WITHOUT_EFFECT: Mapping[Path, str] = {
    ("stateKey",): "the server makes keys for its cookies and sign-ins itself and keeps them in its database",
    ("cache",): "there is no cache to set up; verified keys are remembered for half a minute",
    ("insightCollector",): "figures are counted when they are asked for, so there is no schedule",
}
_DATASTORE = (
    "records cannot be kept there; they are kept in SQLite in --data, or in PostgreSQL with --database "
    "postgresql://user@host/name. Remove this part, or give --database"
)
_ADMINISTRATOR = (
    "a password that was hashed elsewhere is not taken over; the first start prints a link with which the "
    "administrator sets one, and `fairway user add` makes another for everybody else"
)


class FileSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the file means for this server."""

    #: Where people find the server; empty where the file does not say.
    web_url: str = ""
    #: Where logs are kept; empty where the file does not say.
    logs: str = ""
    #: How the bucket of the logs is reached, as obstore calls it. Holds secrets.
    log_options: dict[str, str] = {}
    #: Projects that exist from the start.
    projects: tuple[ProjectEntry, ...] = ()
    #: Ways to sign in.
    sign_in: tuple[SharedSso, ...] = ()
    #: What has no effect, for the operator to read.
    warnings: tuple[Problem, ...] = ()

    def __repr__(self) -> str:
        return f"FileSettings(web_url={self.web_url!r}, logs={self.logs!r}, …)"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts of the file the command line replaces."""

    database: bool = False
    logs: bool = False


def read_control_plane(data: bytes, file: str, given: Given) -> FileSettings:
    """What the file means; ConfigError with everything that stands in the way of using it."""
    readings = read_file(data, file)
    documents, _ = read_documents(data, file)
    found = [problem for reading in readings for problem in reading.problems]
    spec = readings[0].config if len(readings) == 1 else None
    if not isinstance(spec, ControlPlaneSpec) or not documents:
        errors = [problem for problem in found if problem.severity is Severity.ERROR]
        raise ConfigError(errors or [_not_one(documents, file)])
    document = documents[0]
    logs, options, log_problems = _logs(spec.filestore, document, given)
    problems = [*found, *_without_effect(document), *_datastore(spec, document, given), *log_problems]
    problems += [*_projects(spec, document), *_sign_in(spec, document)]
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ConfigError(in_order(problems))
    return FileSettings(
        web_url=spec.address.rstrip("/"),
        logs=logs,
        log_options=options,
        projects=spec.projects,
        sign_in=spec.shared_sso,
        warnings=tuple(in_order(problems)),
    )


def load_control_plane(path: FilePath, given: Given) -> FileSettings:
    """The same for a file on the disk."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError([Document(str(path), "", None).problem((), f"cannot be read: {error.strerror}")]) from error
    return read_control_plane(data, str(path), given)


async def make_projects(store: Store, clock: Clock, entries: Iterable[ProjectEntry]) -> None:
    """Make the projects that are not there yet; those that are stay as people left them."""
    now = clock.now()
    wanted = [Project(id=entry.id, desc=entry.desc, created_at=now, updated_at=now) for entry in entries]

    def make(connection: Connection) -> None:
        for project in wanted:
            with suppress(AlreadyExists):
                insert_project(connection, project)

    if wanted:
        await store.write(make)


def _not_one(documents: list[Document], file: str) -> Problem:
    document = documents[0] if documents else Document(file, "", None)
    return document.problem((), "is no control plane; expected one document of the kind ControlPlane")


def _without_effect(document: Document) -> Iterator[Problem]:
    for path, instead in _WITHOUT_EFFECT.items():
        if document.at(("spec", *path)) is not None:
            yield _warning(document, path, f"has no effect: {instead}")


def _datastore(spec: ControlPlaneSpec, document: Document, given: Given) -> Iterator[Problem]:
    if spec.datastore is None:
        return
    path: Path = ("datastore", "type")
    if given.database:
        yield _warning(document, path, f"is {spec.datastore.type} and has no effect: --database says where records are")
    else:
        yield document.problem(("spec", *path), f"is {spec.datastore.type}: {_DATASTORE}")


def _projects(spec: ControlPlaneSpec, document: Document) -> Iterator[Problem]:
    for number, project in enumerate(spec.projects):
        if project.static_admin is not None:
            yield _warning(document, ("projects", number, "staticAdmin"), f"has no effect: {_ADMINISTRATOR}")


def _sign_in(spec: ControlPlaneSpec, document: Document) -> Iterator[Problem]:
    for number, provider in enumerate(spec.shared_sso):
        path: Path = ("sharedSSOConfigs", number)
        if not spec.address:
            yield document.problem(
                ("spec", *path), "needs spec.address: whoever signs in has to come back to this server's own address"
            )
        inner = "github" if provider.provider == "GITHUB" else "oidc"
        for name in ("uploadUrl", "proxyUrl"):
            if document.at(("spec", *path, inner, name)):
                yield _warning(document, (*path, inner, name), f"has no effect: {_UNUSED_ADDRESS[name]}")


_UNUSED_ADDRESS = {
    "uploadUrl": "nothing is uploaded to GitHub",
    "proxyUrl": "set HTTPS_PROXY in the server's environment for a proxy",
}


def _logs(filestore: Filestore | None, document: Document, given: Given) -> tuple[str, dict[str, str], list[Problem]]:
    """The place of the logs, how to reach it, and what is wrong with that."""
    if filestore is None:
        return "", {}, []
    if given.logs:
        return "", {}, [_warning(document, ("filestore",), "has no effect: --logs says where logs are")]
    config, base = filestore.config, ("spec", "filestore", "config")
    bucket = str(config.get("bucket", ""))
    problems = [] if bucket else [document.problem((*base, "bucket"), "is missing; expected the name of the bucket")]
    reader = _FileReader(document, base)
    match filestore.type:
        case "S3":
            url, options = f"s3://{bucket}", _s3_options(config, reader)
        case "MINIO":
            url, options = f"s3://{bucket}", _minio_options(config, reader)
            if config.get("autoCreateBucket"):
                path: Path = ("filestore", "config", "autoCreateBucket")
                problems.append(_warning(document, path, f"has no effect: make the bucket {bucket!r} before you start"))
        case "GCS":
            url, options = f"gs://{bucket}", {}
            if key := reader.text(config, "credentialsFile"):
                options["google_service_account_key"] = key
    return url, options, [*problems, *reader.problems]


def _s3_options(config: Mapping[str, Any], reader: "_FileReader") -> dict[str, str]:
    options = {
        "aws_region": str(config.get("region", "")),
        "aws_role_arn": str(config.get("roleARN", "")),
        "aws_web_identity_token_file": str(config.get("tokenFile", "")),
        **reader.credentials(config),
    }
    return {name: value for name, value in options.items() if value}


def _minio_options(config: Mapping[str, Any], reader: "_FileReader") -> dict[str, str]:
    endpoint = str(config.get("endpoint", ""))
    if not endpoint:
        reader.complain("endpoint", "is missing; expected an address such as https://minio:9000")
    if "://" not in endpoint:
        # As PipeCD's client reads it.
        endpoint = f"https://{endpoint}"
    return {
        "aws_endpoint": endpoint,
        "aws_region": "us-east-1",
        "aws_virtual_hosted_style_request": "false",
        "aws_allow_http": "true" if endpoint.startswith("http://") else "false",
        "aws_access_key_id": reader.text(config, "accessKeyFile"),
        "aws_secret_access_key": reader.text(config, "secretKeyFile"),
    }


class _FileReader:
    """Reads the files that a part of the document names, and remembers what is wrong with them."""

    def __init__(self, document: Document, base: Path) -> None:
        self._document = document
        self._base = base
        self.problems: list[Problem] = []

    def complain(self, name: str, message: str) -> None:
        """Remember a problem with a field of the part."""
        self.problems.append(self._document.problem((*self._base, name), message))

    def text(self, config: Mapping[str, Any], name: str) -> str:
        """What the named file holds; empty when none is named."""
        path = str(config.get(name, ""))
        if not path:
            return ""
        try:
            return FilePath(path).read_text().strip()
        except OSError as error:
            self.complain(name, f"names {path}, which cannot be read: {error.strerror}")
        except UnicodeError:
            self.complain(name, f"names {path}, which is no text")
        return ""

    def credentials(self, config: Mapping[str, Any]) -> dict[str, str]:
        """The keys in a file of AWS's command line, of one profile."""
        text, profile = self.text(config, "credentialsFile"), str(config.get("profile", "") or "default")
        if not text:
            return {}
        parsed = configparser.ConfigParser(interpolation=None)
        try:
            parsed.read_string(text)
            found = dict(parsed[profile])
        except (configparser.Error, KeyError):
            # The text may hold keys, so it is not repeated.
            self.complain("credentialsFile", f"names a file without the profile {profile!r}; expected AWS's format")
            return {}
        names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        return {name: found[name] for name in names if name in found}


def _warning(document: Document, path: Path, message: str) -> Problem:
    return document.problem(("spec", *path), message, Severity.WARNING, of_key=True)
