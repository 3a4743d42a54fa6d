"""Nouns with every required field filled, so that a test names only what it is about."""

from datetime import UTC, datetime
from typing import Any

from fairway.model.agent import Agent, AgentProfile
from fairway.model.application import Application, ApplicationKind, GitPath, Repository
from fairway.model.command import BuildPlanPreview, Command

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)

#: What the agents below follow.
SHOP = Repository(id="shop", remote="git@github.com:acme/shop.git", branch="main")


def an_agent(id: str = "agent-1", **fields: Any) -> Agent:
    known: dict[str, Any] = {"name": "dev", "project_id": "acme", "profile": AgentProfile(repositories=(SHOP,))}
    return Agent(**{"id": id, **known, "created_at": NOW, "updated_at": NOW, **fields})


def an_application(id: str = "cart", **fields: Any) -> Application:
    known: dict[str, Any] = {
        "name": id,
        "agent_id": "agent-1",
        "project_id": "acme",
        "kind": ApplicationKind.KUBERNETES,
        "git_path": GitPath(repository=SHOP, path=f"apps/{id}", config_filename="app.pipecd.yaml"),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Application(**{"id": id, **known, **fields})


def a_preview_command(**fields: Any) -> Command:
    payload = BuildPlanPreview(repository_id="shop", head_branch="topic", head_commit="c0ffee", base_branch="main")
    known: dict[str, Any] = {"id": "command-1", "agent_id": "agent-1", "project_id": "acme", "payload": payload}
    return Command(**{**known, "created_at": NOW, "updated_at": NOW, **fields})
