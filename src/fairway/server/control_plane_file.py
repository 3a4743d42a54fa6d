"""PipeCD's file of the control plane (`kind: ControlPlane`), in this server's words.

Everything in it is either used or said to have no effect here and why, at its line, all at once: nobody should find out
by watching that their database or their administrator is not the one they wrote down. Options on the command line win
over the file, so what they replace is no error.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path as FilePath

import msgspec
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.config.control_plane import ControlPlaneSpec, OidcSso, ProjectEntry, SharedSso
from fairway.config.problems import ConfigError, Path, Problem, Severity, in_order
from fairway.config.read import read_file
from fairway.config.reader.document import Document, read_documents
from fairway.server.control_plane_bucket import bucket_of
from fairway.server.sign_in.providers import (
    BadSignInProvider,
    GitHubProvider,
    OidcProvider,
    SignInProvider,
    refuse_bad_providers,
)
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
    #: Who else may vouch for people.
    sign_in: tuple[SignInProvider, ...] = ()
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
    logs, options, log_problems = "", dict[str, str](), list[Problem]()
    if spec.filestore is not None and given.logs:
        log_problems = [_warning(document, ("filestore",), "has no effect: --logs says where logs are")]
    elif spec.filestore is not None:
        logs, options, log_problems = bucket_of(spec.filestore, document)
    problems = [*found, *_without_effect(document), *_datastore(spec, document, given), *log_problems]
    sign_in, sign_in_problems = _sign_in(spec, document)
    problems += [*_projects(spec, document), *sign_in_problems]
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ConfigError(in_order(problems))
    return FileSettings(
        web_url=spec.address.rstrip("/"),
        logs=logs,
        log_options=options,
        projects=spec.projects,
        sign_in=sign_in,
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


def _sign_in(spec: ControlPlaneSpec, document: Document) -> tuple[tuple[SignInProvider, ...], list[Problem]]:
    """Who else may vouch for people, and what is wrong with that."""
    providers: list[SignInProvider] = []
    problems: list[Problem] = []
    for number, entry in enumerate(spec.shared_sso):
        path: Path = ("spec", "sharedSSOConfigs", number)
        if not spec.address:
            why = "needs spec.address: whoever signs in has to come back to this server's own address"
            problems.append(document.problem(path, why))
        for name, why in _UNUSED.items():
            found = (*path, "github" if entry.github else "oidc", name)
            if document.at(found):
                problems.append(document.problem(found, f"has no effect: {why}", Severity.WARNING, of_key=True))
        provider = _provider(entry)
        try:
            refuse_bad_providers([*providers, provider])
        except BadSignInProvider as error:
            problems.append(document.problem(path, str(error)))
        else:
            providers.append(provider)
    return tuple(providers), problems


_UNUSED = {
    "uploadUrl": "nothing is uploaded to GitHub",
    "avatarUrlClaimKey": "no pictures of people are shown",
}


def _provider(entry: SharedSso) -> SignInProvider:
    if entry.github is not None:
        github = entry.github
        return GitHubProvider(
            name=entry.name,
            client_id=github.client_id,
            client_secret=github.client_secret,
            base_url=github.base_url,
            proxy_url=github.proxy_url,
            session_hours=entry.session_ttl,
        )
    oidc = entry.oidc or OidcSso(client_id="", client_secret="")
    return OidcProvider(
        name=entry.name,
        issuer=oidc.issuer,
        client_id=oidc.client_id,
        client_secret=oidc.client_secret,
        redirect_uri=oidc.redirect_uri,
        authorization_endpoint=oidc.authorization_endpoint,
        token_endpoint=oidc.token_endpoint,
        user_info_endpoint=oidc.user_info_endpoint,
        scopes=oidc.scopes,
        roles_claim=oidc.roles_claim_key,
        username_claim=oidc.username_claim_key,
        proxy_url=oidc.proxy_url,
        session_hours=entry.session_ttl,
    )


def _warning(document: Document, path: Path, message: str) -> Problem:
    return document.problem(("spec", *path), message, Severity.WARNING, of_key=True)
