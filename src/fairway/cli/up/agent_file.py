"""The agent's file of `fairway up`: written at the first start, its user's from then on.

Who adds a plugin, a cluster or a repository to it finds that again; at each start only what `up` has to see to is
brought up to date: who the agent is, where its server is, the repositories on this machine, and a key pair for sealed
values where none is named. A file that nobody can read is not written over.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import yaml

from fairway.cli.up.places import Places, write_private
from fairway.cli.up.sealing_keys import secret_management
from fairway.config.read import read_agent
from fairway.config.reader.document import read_documents
from fairway.errors import UserError

_PROJECT = "default"
_HEADER = "# Yours to change; `fairway up` itself sees to who the agent is and where its server is.\n"


class WatchedRepository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository on this machine for the agent to watch."""

    id: str
    path: Path
    branch: str

    @property
    def entry(self) -> dict[str, str]:
        """How an agent's file names it."""
        return {"repoId": self.id, "remote": str(self.path), "branch": self.branch}


class AgentFile:
    """The file, as it was when it was read."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._document = _read(places.agent_file)
        self._spec: Mapping[str, Any] = self._document.get("spec", {})

    @property
    def agent_id(self) -> str:
        """Who the agent is; nobody yet in a file that is to be written."""
        return str(self._spec.get("pipedID", ""))

    @property
    def server(self) -> str:
        """Where its server was; nowhere yet in a file that is to be written."""
        return str(self._spec.get("apiAddress", ""))

    @property
    def repositories(self) -> list[WatchedRepository]:
        """The repositories on this machine that are watched."""
        return [
            WatchedRepository(id=each["repoId"], path=Path(each["remote"]), branch=each["branch"])
            for each in self._spec.get("repositories") or ()
            if _is_here(each)
        ]

    @property
    def watches_elsewhere(self) -> bool:
        """Whether repositories of other machines are watched, too."""
        return not all(map(_is_here, self._spec.get("repositories") or ()))

    def write(self, id: str, server: str, repositories: Sequence[WatchedRepository]) -> None:
        """Have it name this agent, its server and these repositories; the rest stays as it is."""
        own: dict[str, Any] = {
            "projectID": _PROJECT,
            "pipedID": id,
            "pipedKeyFile": str(self._places.agent_key.absolute()),
            "apiAddress": server,
        }
        before = self._spec or {"plugins": [{"name": "process", "url": "builtin:process"}]}
        own["secretManagement"] = secret_management(self._places, before.get("secretManagement"))
        spec = {**own, **before, **own, "repositories": _brought_up_to_date(before, repositories)}
        document = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Piped", **self._document, "spec": spec}
        # Not touched where nothing changes, for the sake of comments and of how somebody likes to write.
        if document != self._document:
            text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
            write_private(self._places.agent_file, f"{_HEADER}{text}")


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror})") from error
    # Whoever wrote something into it that no agent can use is told what and where, before anything is started.
    read_agent(text, str(file))
    (document,), _ = read_documents(text, str(file))
    values: dict[str, Any] = document.value
    return values


def _is_here(entry: Mapping[str, Any]) -> bool:
    return str(entry["remote"]).startswith("/")


def _brought_up_to_date(spec: Mapping[str, Any], repositories: Sequence[WatchedRepository]) -> list[Mapping[str, Any]]:
    """Those on this machine as they are to be, then those elsewhere as they were."""
    before = {each["repoId"]: each for each in spec.get("repositories") or ()}
    here = {each.id: {**before.get(each.id, {}), **each.entry} for each in repositories}
    elsewhere = [each for id, each in before.items() if id not in here and not _is_here(each)]
    return [*here.values(), *elsewhere]
