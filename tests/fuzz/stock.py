"""A server that has one of everything to ask for, and further ones to be ended."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from fairway.model.agent import AgentProfile
from fairway.model.api_key import APIKeyRole
from fairway.model.application import Repository
from fairway.model.command import BuildPlanPreview
from fairway.model.deployment import DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.role import Role
from fairway.model.stage import ManualOperation, StageStatus
from fairway.model.user import User
from fairway.server.logs import StageLogKey
from fairway.server.store import api_keys, leases, roles, users, webhooks
from fairway.server.store.leases import Lease
from fairway.server.webhooks.providers import ProviderName
from fairway.server.webhooks.webhook import Webhook
from tests.fuzz.openapi import Known, Told, with_what_is_there
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import a_chain, a_command, a_live_state, an_agent, an_api_key, an_event
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

#: What only the Git hosts of the webhooks know.
WEBHOOK_SECRET = "only-git-hosts-know-it"
IDS = {
    "application_id": "a-1",
    "deployment_id": "d-1",
    "stage_id": "s-1",
    "agent_id": "agent-1",
    "command_id": "c-1",
    "preview_id": "c-2",
    "event_id": "e-1",
    "chain_id": "chain-1",
    "user_id": "ada",
    "name": "Shipper",
    "key_id": "key-2",
    "webhook_id": "hook-1",
    "project_id": "shop",
}
ENDS = {
    "DELETE /api/v1/applications/{application_id}": {"application_id": "a-2"},
    "POST /api/v1/applications/{application_id}/disable": {"application_id": "a-3"},
    "PATCH /api/v1/applications/{application_id}": {"application_id": "a-3"},
    "POST /api/v1/agents/{agent_id}/disable": {"agent_id": "agent-2"},
    "POST /api/v1/deployments/{deployment_id}/stages/{stage_id}/skip": {"stage_id": "s-2"},
    "DELETE /api/v1/users/{user_id}": {"user_id": "bob"},
    "PATCH /api/v1/users/{user_id}": {"user_id": "cleo"},
    "DELETE /api/v1/roles/{name}": {"name": "Leaver"},
    "DELETE /api/v1/webhooks/{webhook_id}": {"webhook_id": "hook-2"},
}
PREVIEW = BuildPlanPreview(repository_id="shop", head_branch="topic", head_commit="c0ffee", base_branch="main")
_SOME_ROLES = {"type": "array", "items": {"enum": ["Viewer", "Shipper"]}}
_OF_AGENT = {"agent_id": {"enum": ["agent-1"]}, "repository_id": {"enum": ["shop"]}}
FIELDS: dict[str, dict[str, Any]] = {
    "ApplicationToAdd": _OF_AGENT,
    "ApplicationPatch": _OF_AGENT,
    "MergeToPreview": {"repository": {"enum": ["https://git.example.com/acme/shop.git"]}},
    "NewUserBody": {"roles": _SOME_ROLES},
    "UserChangeBody": {"roles": {**_SOME_ROLES, "type": ["array", "null"]}},
    "SettingsBody": {"group_roles": {"type": "object", "additionalProperties": _SOME_ROLES}},
}


@asynccontextmanager
async def stocked(folder: Path, role: APIKeyRole) -> AsyncIterator[tuple[Serving, Told]]:
    """The server, and its document with the ids of what is there."""
    async with serving(folder, role) as served:
        approval = a_stage("s-1", status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)
        analysis = a_stage("s-2", status=StageStatus.RUNNING, available_operation=ManualOperation.SKIP)
        await served.add(
            *(
                an_agent(id, profile=AgentProfile(repositories=(Repository(id="shop"),)))
                for id in ("agent-1", "agent-2")
            ),
            *(an_application(id) for id in ("a-1", "a-2", "a-3")),
            a_deployment(status=DeploymentStatus.RUNNING, stages=(approval, analysis)),
            a_command(),
            a_command("c-2", payload=PREVIEW),
            an_event(),
            a_chain(),
            a_live_state(),
        )
        await served.store.write(_people_and_doors)
        await served.logs.append(StageLogKey("d-1", "s-1", 0), [LogBlock(index=0, log="hello", created_at=NOW)])
        document = (await served.client.get("/api/v1/openapi.json")).json()
        yield served, with_what_is_there(document, Known(IDS, ENDS, FIELDS))


def _people_and_doors(connection: Connection) -> None:
    for id, role in (("ada", "Admin"), ("bob", "Viewer"), ("cleo", "Viewer")):
        users.insert_user(connection, User(id=id, roles=(role,), created_at=NOW, updated_at=NOW))
    for name in ("Shipper", "Leaver"):
        roles.save_role(connection, Role(name=name, permissions=()))
    for id in ("hook-1", "hook-2"):
        hook = Webhook(
            id=id,
            project_id="shop",
            name=id,
            provider=ProviderName.GITHUB,
            secret=WEBHOOK_SECRET,
            creator="ada",
            created_at=NOW,
        )
        webhooks.insert_webhook(connection, hook)
    api_keys.insert_api_key(connection, an_api_key("key-2"))
    lease = Lease(
        id="agent-1", fencing_token=1, holder="h-1", description="near 1", held_since=NOW, seconds=15.0, beat="b-1"
    )
    leases.change_lease(connection, "agent-1", lambda _: lease)
