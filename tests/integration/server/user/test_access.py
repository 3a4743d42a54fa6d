"""Who may call APIService, and what they may do."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar, cast

import grpc
import msgspec
import pytest
from grpc import aio
from sqlalchemy import Connection
from structlog.testing import capture_logs

from fairway.model.api_key import APIKeyRole
from fairway.model.role import ADMIN
from fairway.rpc.context import CallContext
from fairway.rpc.convert.application import to_wire_deploy_targets
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as m
from fairway.server.actions.api_keys import disable_api_key
from fairway.server.actions.reading import list_audit_records
from fairway.server.callers import KEY_ROLES, Caller, CallerKind
from fairway.server.store import api_keys
from fairway.server.store.audit import AuditFilter
from fairway.server.store.changes import Listener
from fairway.server.store.errors import StoreUnavailable
from fairway.server.store.page import PageRequest
from fairway.server.store.store import Store
from fairway.server.user_auth import LAST_USED_PRECISION, UserAuth
from tests.integration.server.user.serving import Serving, code_of, refusal, serving
from tests.unit.server.user.builders import NOW, an_agent, an_application

T = TypeVar("T")

#: A request that passes every rule, for each call that changes something.
CHANGES = {
    "AddApplication": m.AddApplicationRequest(
        name="cart", piped_id="agent-1", git_path={"repo": {"id": "shop"}, "path": "apps/new"}
    ),
    "SyncApplication": m.SyncApplicationRequest(application_id="cart"),
    "UpdateApplication": m.UpdateApplicationRequest(
        application_id="cart", piped_id="agent-1", git_path={"repo": {"id": "shop"}, "path": "apps/new"}
    ),
    "DeleteApplication": m.DeleteApplicationRequest(application_id="cart"),
    "EnableApplication": m.EnableApplicationRequest(application_id="cart"),
    "DisableApplication": m.DisableApplicationRequest(application_id="cart"),
    "RenameApplicationConfigFile": m.RenameApplicationConfigFileRequest(
        application_ids=["cart"], new_filename="a.yaml"
    ),
    "UpdateApplicationDeployTargets": m.UpdateApplicationDeployTargetsRequest(
        application_id="cart", deploy_targets_by_plugin=to_wire_deploy_targets({"kubernetes": ("dev",)})
    ),
    "RegisterPiped": m.RegisterPipedRequest(name="dev"),
    "UpdatePiped": m.UpdatePipedRequest(piped_id="agent-1", name="dev"),
    "EnablePiped": m.EnablePipedRequest(piped_id="agent-1"),
    "DisablePiped": m.DisablePipedRequest(piped_id="agent-1"),
    "RegisterEvent": m.RegisterEventRequest(name="image", data="v1"),
    "RequestPlanPreview": m.RequestPlanPreviewRequest(
        repo_remote_url="git@github.com:acme/shop", head_branch="topic", head_commit="c0ffee", base_branch="main"
    ),
}
#: The same for each call that only looks, where it names an object.
LOOKS = {
    "GetApplication": m.GetApplicationRequest(application_id="cart"),
    "GetPiped": m.GetPipedRequest(piped_id="agent-1"),
    "Encrypt": m.EncryptRequest(plaintext="x", piped_id="agent-1"),
}
#: Calls that name no object, so there is none that could be foreign.
WITHOUT_OBJECT = {"RegisterPiped", "RegisterEvent", "RequestPlanPreview"}


async def used_at(served: Serving, key_id: str = "key-1") -> object:
    key = await served.store.read(lambda connection: api_keys.load_api_key(connection, key_id))
    return key.last_used_at


async def call_with(served: Serving, headers: Sequence[tuple[str, str]]) -> tuple[grpc.StatusCode, str]:
    async with aio.insecure_channel(served.address) as to_server:
        stub = UserStub(to_server)
        return await refusal(stub.ListApplications(m.ListApplicationsRequest(), metadata=tuple(headers)))


async def test_every_bad_key_gets_the_same_answer(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        key = await served.new_key()
        disabled = await served.new_key(key_id="key-2")
        await disable(served, "key-2")

        shown = [(), ("API-KEY nobody.secret",), (f"API-KEY {key}x",), (f"API-KEY {disabled}",), (f"Bearer {key}",)]
        answers = {await call_with(served, [("authorization", text) for text in each]) for each in shown}

        assert [code for code, _ in answers] == [grpc.StatusCode.UNAUTHENTICATED]


async def test_a_wrong_secret_is_refused_after_the_right_one_was_accepted(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        key = await served.new_key()
        right = await call_with(served, [("authorization", f"API-KEY {key}")])
        wrong = await call_with(served, [("authorization", f"API-KEY {key[:-1]}")])

        assert (right[0], wrong[0]) == (grpc.StatusCode.OK, grpc.StatusCode.UNAUTHENTICATED)


async def test_a_disabled_key_is_refused_once_it_is_no_longer_trusted_from_memory(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await client.ListApplications(m.ListApplicationsRequest())
        await disable(served, "key-1")
        served.clock.advance(timedelta(minutes=1))

        assert await code_of(client.ListApplications(m.ListApplicationsRequest())) is grpc.StatusCode.UNAUTHENTICATED


async def test_a_key_that_somebody_disabled_here_is_refused_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await client.ListApplications(m.ListApplicationsRequest())
        await disable_api_key(served.desk, an_administrator(), "key-1")

        assert await code_of(client.ListApplications(m.ListApplicationsRequest())) is grpc.StatusCode.UNAUTHENTICATED


async def test_a_change_is_recorded_with_the_key_and_where_it_was_used(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await client.RegisterPiped(m.RegisterPipedRequest(name="dev"))

        found = await list_audit_records(served.desk, an_administrator(), AuditFilter(project_ids=()), PageRequest())
        (record,) = found.items
        said = (record.actor, record.actor_kind, record.action, record.address)
        assert said == ("key-1", "api_key", "agent.create", "127.0.0.1")


def an_administrator() -> Caller:
    return Caller(kind=CallerKind.USER, name="ada", project_id="acme", roles=(ADMIN,))


@pytest.mark.parametrize("call", CHANGES)
async def test_a_key_that_may_only_look_changes_nothing(tmp_path: Path, call: str) -> None:
    async with serving(tmp_path) as served:
        await served.add(an_agent(), an_application())
        async with served.client(await served.new_key(APIKeyRole.READ_ONLY)) as client:
            assert await code_of(getattr(client, call)(CHANGES[call])) is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("call", [call for call in {**CHANGES, **LOOKS} if call not in WITHOUT_OBJECT])
async def test_what_belongs_to_another_project_is_refused(tmp_path: Path, call: str) -> None:
    async with serving(tmp_path) as served:
        await served.add(an_agent(), an_application())
        async with served.client(await served.new_key(project_id="other")) as client:
            answer = await code_of(getattr(client, call)({**CHANGES, **LOOKS}[call]))

        assert answer is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize("call", ["GetApplication", "GetDeployment", "GetCommand", "GetPiped"])
async def test_what_is_not_there_is_not_found(tmp_path: Path, call: str) -> None:
    request = {
        "GetApplication": m.GetApplicationRequest(application_id="nothing"),
        "GetDeployment": m.GetDeploymentRequest(deployment_id="nothing"),
        "GetCommand": m.GetCommandRequest(command_id="' OR 1=1 --"),
        "GetPiped": m.GetPipedRequest(piped_id="../../etc/passwd"),
    }[call]
    async with serving(tmp_path) as served, served.client(await served.new_key(APIKeyRole.READ_ONLY)) as client:
        assert await code_of(getattr(client, call)(request)) is grpc.StatusCode.NOT_FOUND


async def test_a_request_that_breaks_a_rule_is_refused_with_the_rule(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        code, words = await refusal(client.RegisterPiped(m.RegisterPipedRequest()))

        assert (code, words) == (grpc.StatusCode.INVALID_ARGUMENT, "name is empty; expected some text")


async def test_the_last_use_of_a_key_is_recorded_now_and_then(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        uses = []
        for wait in (timedelta(0), timedelta(minutes=1), LAST_USED_PRECISION):
            served.clock.advance(wait)
            await client.ListApplications(m.ListApplicationsRequest())
            uses.append(await used_at(served))

        assert uses == [NOW, NOW, NOW + timedelta(minutes=1) + LAST_USED_PRECISION]


class Unwritable:
    """A database that can be read but, just now, not written."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._store.read(work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        raise StoreUnavailable("the disk is full; free some space")

    @property
    def shared_url(self) -> str:
        return ""

    def listen(self, listener: Listener) -> None:
        """Nothing changes, so there is nothing to tell."""

    def close(self) -> None:
        """The store behind it is closed by whoever opened it."""


class Call:
    """What is asked of a call here; the real one exists only inside a server."""

    def __init__(self, key: str) -> None:
        self._key = key

    def invocation_metadata(self) -> list[tuple[str, str]]:
        return [("user-agent", "pipectl"), ("authorization", f"API-KEY {self._key}")]

    def peer(self) -> str:
        return "ipv4:198.51.100.7:4312"


async def test_a_key_is_good_even_when_its_use_cannot_be_recorded(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        call = cast("CallContext", Call(await served.new_key()))

        with capture_logs() as logged:
            caller = await UserAuth(Store(Unwritable(served.store)), served.clock).authenticate(call)

        assert caller == Caller(
            kind=CallerKind.API_KEY,
            name="key-1",
            project_id="acme",
            roles=(KEY_ROLES[APIKeyRole.READ_WRITE],),
            address="198.51.100.7",
        )
        assert [(entry["log_level"], entry["key_id"]) for entry in logged] == [("warning", "key-1")]


async def disable(served: Serving, key_id: str) -> None:
    def change(connection: Connection) -> None:
        api_keys.update_api_key(connection, key_id, lambda key: msgspec.structs.replace(key, disabled=True))

    await served.store.write(change)
