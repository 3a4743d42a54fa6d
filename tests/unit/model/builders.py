"""Nouns with every required field filled, so that a test names only what it is about."""

from datetime import UTC, datetime
from typing import Any

from fairway.model.application import Application, GitPath, Repository
from fairway.model.deployment import Deployment
from fairway.model.stage import Stage
from fairway.model.trigger import Commit, Trigger

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 1, 1, 13, tzinfo=UTC)


def a_commit(**fields: Any) -> Commit:
    known: dict[str, Any] = {"hash": "c0ffee", "message": "Say hello", "author": "ada", "branch": "main"}
    return Commit(**{**known, "created_at": NOW, **fields})


def a_trigger(**fields: Any) -> Trigger:
    return Trigger(**{"commit": a_commit(), "at": NOW, **fields})


def a_stage(id: str = "stage-0", **fields: Any) -> Stage:
    return Stage(**{"id": id, "name": "WAIT", "created_at": NOW, "updated_at": NOW, **fields})


def a_git_path(**fields: Any) -> GitPath:
    return GitPath(**{"repository": Repository(id="shop"), "path": "apps/cart", **fields})


def a_deployment(**fields: Any) -> Deployment:
    known: dict[str, Any] = {
        "id": "d-1",
        "application_id": "a-1",
        "application_name": "cart",
        "agent_id": "agent-1",
    }
    return Deployment(
        **{
            **known,
            "project_id": "shop",
            "git_path": a_git_path(),
            "trigger": a_trigger(),
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


def an_application(id: str = "a-1", **fields: Any) -> Application:
    known: dict[str, Any] = {"id": id, "name": "cart", "agent_id": "agent-1", "project_id": "shop"}
    return Application(**{**known, "git_path": a_git_path(), "created_at": NOW, "updated_at": NOW, **fields})
