"""Everything of the OpenAPI document is asked for, rightly and wrongly, and answered as the document says.

By somebody who may do everything, by somebody who may only look, and by a stranger. No answer is a defect of the
server, and none shows a secret. Set FAIRWAY_FUZZ_EXAMPLES to look longer than `make test` does.
"""

import asyncio
import os
from pathlib import Path

import pytest

from fairway.model.api_key import APIKeyRole
from tests.fuzz.openapi import Effort, Operation, Outcome, Told, run
from tests.fuzz.stock import WEBHOOK_SECRET, stocked
from tests.integration.server.http_api.serving import Serving

EXAMPLES = int(os.environ.get("FAIRWAY_FUZZ_EXAMPLES", "2"))
#: Whoever is refused for who they are is refused on both sides of a limit.
LITTLE = Effort(EXAMPLES, limits="FAIRWAY_FUZZ_EXAMPLES" in os.environ)
#: What is asked for in one test each, so that they run side by side; each takes about as long as the others.
SHARES = (
    {"applications"},
    {"deployments", "commands", "plan previews"},
    {"agents", "events"},
    {"audit", "roles", "users"},
    {"api-keys", "chains", "home", "probes", "projects", "session", "settings", "webhooks"},
)
#: Nobody guesses a password or a signature, and a key has no session to end.
CLOSED = {"POST /api/v1/session", "DELETE /api/v1/session", "POST /webhooks/{webhook_id}"}
#: What may be asked without a key.
OPEN = {"GET /healthz", "GET /readyz", "GET /metrics"}
#: What a key that may only look does not see.
HIDDEN = ("/api/v1/api-keys", "/api/v1/audit", "/api/v1/roles", "/api/v1/settings", "/api/v1/users", "/api/v1/webhooks")


async def asked(served: Serving, told: Told, key: str | None, effort: Effort = LITTLE) -> Outcome:
    """What comes of asking for everything, in a thread because the server runs in this one."""
    return await asyncio.to_thread(run, told, str(served.client.base_url), key, effort)


def operations(told: Told) -> set[Operation]:
    return {f"{method.upper()} {path}" for path, item in told.asked["paths"].items() for method in item}


def all_tags(told: Told) -> set[str]:
    return {tag for item in told.asked["paths"].values() for each in item.values() for tag in each["tags"]}


def shown_secrets(outcome: Outcome, served: Serving) -> list[str]:
    """Answers with a secret that was there before."""
    secrets = (served.key, served.key.partition(".")[2], served.key_hash, WEBHOOK_SECRET)
    return [answer for answer in outcome.answers if any(secret in answer for secret in secrets)]


@pytest.mark.parametrize("tags", [pytest.param(tags, id=" ".join(sorted(tags))) for tags in SHARES])
async def test_whoever_may_do_everything_reaches_everything_and_gets_what_is_documented(
    tmp_path: Path, tags: set[str]
) -> None:
    async with stocked(tmp_path, APIKeyRole.ADMIN) as (served, whole):
        told = whole.about(tags)
        outcome = await asked(served, told, served.key, Effort(EXAMPLES, limits=True))

    assert outcome.mistakes == {}
    assert outcome.reached == operations(told) - CLOSED
    assert shown_secrets(outcome, served) == []


async def test_nothing_is_left_out(tmp_path: Path) -> None:
    async with stocked(tmp_path, APIKeyRole.ADMIN) as (_, told):
        assert sorted(tag for tags in SHARES for tag in tags) == sorted(all_tags(told))


async def test_whoever_may_only_look_sees_what_is_documented_and_changes_nothing(tmp_path: Path) -> None:
    async with stocked(tmp_path, APIKeyRole.READ_ONLY) as (served, told):
        outcome = await asked(served, told, served.key)

    seen = {each for each in operations(told) if each.startswith("GET ") and not each[4:].startswith(HIDDEN)}
    assert outcome.mistakes == {}
    assert outcome.reached == seen
    assert shown_secrets(outcome, served) == []


async def test_a_stranger_gets_nothing_but_refusals_that_are_documented(tmp_path: Path) -> None:
    async with stocked(tmp_path, APIKeyRole.ADMIN) as (served, told):
        outcome = await asked(served, told, None)

    assert outcome.mistakes == {}
    assert outcome.reached == OPEN
    assert shown_secrets(outcome, served) == []
