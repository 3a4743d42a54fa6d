"""The agent, as a plugin talks to it: logs, notes, commands and objects, over PipeCD's PluginService.

An agent that is being replaced does not answer for a while, and one whose server is away may not be able to; a call is
repeated, which changes nothing, until it does. What a running stage asks for is asked for as long as it runs: it must
not fail for an outage, however long. Whoever gives it up ends that, too.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from google.protobuf.message import Message
from grpc import aio

from fairway.errors import TemporaryError, UserError
from fairway.git.retry import Retry
from fairway.model.command import Command
from fairway.model.log_block import LogBlock
from fairway.model.registration import Registration, Standing
from fairway.rpc.convert.command import from_wire_command
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.convert.registration import from_wire_registration
from fairway.rpc.plugin_api import TOKEN_KEY, ApplicationStub, HostStub, LiveStateHintStub, SecretStub
from fairway.rpc.plugin_api import application_messages as a
from fairway.rpc.plugin_api import host_messages as m
from fairway.rpc.plugin_api import live_state_hint_messages as h
from fairway.rpc.plugin_api import secret_messages as s
from fairway.secrets.secret import Secret

#: How often commands are asked for; PipeCD's agents have no way to tell of them.
ASK_SECONDS = 0.5
_CALL_SECONDS = 15.0
#: A tool is downloaded, and a large one takes a while.
_INSTALL_SECONDS = 660.0


class AgentAway(TemporaryError):
    """The agent does not answer."""


class AgentRefused(UserError):
    """The agent answered with an error."""


class NotInstalled(TemporaryError):
    """The agent could not install a tool; it may another time."""


class AgentClient:
    """The services of the agent that started this plugin."""

    def __init__(self, plugin: str, channel: aio.Channel, token: str = "", retry: Retry | None = None) -> None:
        self.plugin = plugin
        self._metadata = ((TOKEN_KEY, token),) if token else ()
        self._host = HostStub(channel)
        #: The services that PipeCD's agents do not offer, by their methods.
        self._own: dict[str, Any] = {
            "DecryptSecret": SecretStub(channel),
            "LiveStateChanged": LiveStateHintStub(channel),
            "FindApplication": ApplicationStub(channel),
        }
        self._retry = retry or Retry(attempts=30, first_delay=0.1, longest_delay=5.0)

    def stage(self, deployment_id: str, stage_id: str, application_id: str) -> "StageAgent":
        """The agent as one running stage sees it."""
        without_end = replace(self._retry, attempts=10**9)
        return StageAgent(_Line(self, without_end), deployment_id, stage_id, application_id)

    async def install_tool(self, name: str, version: str, script: str) -> Path:
        """Where a command-line tool is, installed if need be; NotInstalled, at once, when the agent has tried that in
        vain: whoever needs the tool can say so to people, and asks again."""
        request = m.InstallToolRequest(name=name, version=version, install_script=script)
        try:
            return Path((await self.call("InstallTool", request, _INSTALL_SECONDS)).installed_path)
        except AgentRefused as error:
            cause = error.__cause__
            if isinstance(cause, aio.AioRpcError) and cause.code() is grpc.StatusCode.ABORTED:
                raise NotInstalled(cause.details() or str(error)) from error
            raise

    async def live_state_changed(self, application_ids: Sequence[str]) -> bool:
        """Say that asking what runs is worth while; False for an agent that does not want to know, which polls."""
        try:
            await self.call("LiveStateChanged", h.LiveStateChangedRequest(application_ids=application_ids))
        except (AgentAway, AgentRefused) as error:
            # Any other fault costs latency only: the agent asks again by itself.
            return not _is(error, grpc.StatusCode.UNIMPLEMENTED)
        return True

    async def application_object(self, application_id: str, key: str) -> bytes | None:
        """What a stage has kept for an application; None where nothing was."""
        return await StageAgent(_Line(self, self._retry), "", "", application_id).get_object(key)

    async def call(self, method: str, request: Message, seconds: float = _CALL_SECONDS) -> Any:
        """The answer to one call by its name on the wire."""
        return await self._retry.run(lambda: self.once(method, request, seconds))

    async def once(self, method: str, request: Message, seconds: float = _CALL_SECONDS) -> Any:
        """The same, asked for once."""
        try:
            stub = self._own.get(method, self._host)
            return await getattr(stub, method)(request, metadata=self._metadata, timeout=seconds)
        except aio.AioRpcError as error:
            said = error.details() or error.code().name
            if error.code() is grpc.StatusCode.UNAVAILABLE:
                # Said by an agent whose server is unreachable, and by a connection that failed.
                raise AgentAway(f"the agent failed {method}: {said}") from error
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise AgentAway(f"the agent did not answer {method}: {said}") from error
            raise AgentRefused(f"the agent refused {method} ({error.code().name}): {said}") from error


def _is(error: AgentAway | AgentRefused, code: grpc.StatusCode) -> bool:
    cause = error.__cause__
    return isinstance(cause, aio.AioRpcError) and cause.code() is code


class _Line(NamedTuple):
    """How an agent is asked."""

    client: AgentClient
    retry: Retry

    async def call(self, method: str, request: Message) -> Any:
        return await self.retry.run(lambda: self.client.once(method, request))


class StageAgent:
    """What one running stage can ask of the agent and tell it."""

    def __init__(self, line: _Line, deployment_id: str, stage_id: str, application_id: str) -> None:
        self._line = line
        plugin = line.client.plugin
        self._stage: dict[str, Any] = {"deployment_id": deployment_id, "stage_id": stage_id}
        self._deployment: dict[str, Any] = {"deployment_id": deployment_id, "plugin_name": plugin}
        self._application: dict[str, Any] = {"application_id": application_id, "plugin_name": plugin}

    async def send_log(self, blocks: Sequence[LogBlock], completed: bool) -> None:
        """Hand over some of the log; it is safe when this returns."""
        wire = map(to_wire_log_block, blocks)
        request = m.ReportStageLogsFromLastCheckpointRequest(**self._stage, blocks=wire, completed=completed)
        await self._line.call("ReportStageLogsFromLastCheckpoint", request)

    async def note_stage(self, metadata: Mapping[str, str]) -> None:
        request = m.PutStageMetadataMultiRequest(**self._stage, metadata=dict(metadata))
        await self._line.call("PutStageMetadataMulti", request)

    async def stage_note(self, key: str) -> str | None:
        answer = await self._line.call("GetStageMetadata", m.GetStageMetadataRequest(**self._stage, key=key))
        return answer.value if answer.found else None

    async def note_deployment(self, metadata: Mapping[str, str]) -> None:
        request = m.PutDeploymentPluginMetadataMultiRequest(**self._deployment, metadata=dict(metadata))
        await self._line.call("PutDeploymentPluginMetadataMulti", request)

    async def deployment_note(self, key: str) -> str | None:
        request = m.GetDeploymentPluginMetadataRequest(**self._deployment, key=key)
        answer = await self._line.call("GetDeploymentPluginMetadata", request)
        return answer.value if answer.found else None

    async def shared_note(self, key: str) -> str | None:
        request = m.GetDeploymentSharedMetadataRequest(deployment_id=self._stage["deployment_id"], key=key)
        answer = await self._line.call("GetDeploymentSharedMetadata", request)
        return answer.value if answer.found else None

    async def put_object(self, key: str, value: bytes) -> None:
        request = m.PutApplicationSharedObjectRequest(**self._application, key=key, object=value)
        await self._line.call("PutApplicationSharedObject", request)

    async def get_object(self, key: str) -> bytes | None:
        request = m.GetApplicationSharedObjectRequest(**self._application, key=key)
        try:
            answer = await self._line.call("GetApplicationSharedObject", request)
        except AgentRefused as error:
            if _is(error, grpc.StatusCode.NOT_FOUND):
                return None
            raise
        return bytes(answer.object)

    async def find_application(self, application_id: str) -> Registration:
        request = a.FindApplicationRequest(application_id=application_id)
        try:
            return from_wire_registration(await self._line.call("FindApplication", request))
        except AgentRefused as error:
            if _is(error, grpc.StatusCode.UNIMPLEMENTED):
                return Registration(Standing.UNKNOWN)
            raise

    async def open_secret(self, sealed: str) -> Secret:
        request = s.OpenSecretRequest(deployment_id=self._stage["deployment_id"], secret=sealed)
        return Secret((await self._line.call("DecryptSecret", request)).decrypted_secret)

    async def install_tool(self, name: str, version: str, script: str) -> Path:
        # Not for ever: one that is nowhere to be had is a reason to fail.
        return await self._line.client.install_tool(name, version, script)

    async def commands(self) -> AsyncIterator[Command]:
        seen: set[str] = set()
        while True:
            answer = await self._line.call("ListStageCommands", m.ListStageCommandsRequest(**self._stage))
            for wire in answer.commands:
                if wire.id not in seen:
                    seen.add(wire.id)
                    yield from_wire_command(wire)
            await asyncio.sleep(ASK_SECONDS)
