"""Objects that plugins keep with an application: whoever asks finds what was put there last, or waits for it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import grpc
import pytest

from fairway.agent.outbox import Outbox
from fairway.agent.plugins.host_service import HostService
from fairway.rpc.agent_api import messages
from fairway.rpc.plugin_api import host_messages as m
from tests.integration.agent.test_outbox import AWAY, PATIENCE, RecordingServer

OF_WEB = {"application_id": "a-web", "plugin_name": "mine", "key": "state"}


class Aborted(Exception):
    """How a call was ended."""


class Context:
    """One call."""

    async def abort(self, code: grpc.StatusCode, _words: str) -> NoReturn:
        raise Aborted(code)


class ControlPlane:
    """A server that is back before it has been told everything."""

    async def call(self, _method: str, _request: Any) -> messages.GetApplicationSharedObjectResponse:
        return messages.GetApplicationSharedObjectResponse(object=b"as the server has it")


async def test_an_object_that_the_server_does_not_have_yet_is_not_taken_from_there(tmp_path: Path) -> None:
    server, context = RecordingServer(), cast(Any, Context())
    server.problem = AWAY
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        desk = SimpleNamespace(outbox=outbox, control_plane=ControlPlane())
        service = HostService(cast(Any, desk), lambda _context: "mine")
        put = m.PutApplicationSharedObjectRequest(**OF_WEB, object=b"newer")
        await service.PutApplicationSharedObject(put, context)
        asked = m.GetApplicationSharedObjectRequest(**OF_WEB)
        with pytest.raises(Aborted) as refused:
            await service.GetApplicationSharedObject(asked, context)
        server.problem = None
        await outbox.drained()
        found = await service.GetApplicationSharedObject(asked, context)

    assert (refused.value.args, found.object) == ((grpc.StatusCode.UNAVAILABLE,), b"as the server has it")
