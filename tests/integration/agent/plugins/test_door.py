"""The door of a foreign plugin: the kernel is asked whose a connection is."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import structlog.testing

from fairway.agent.plugins.door import Door
from fairway.agent.plugins.identity import identity_of

#: Waits for a line with a port, asks there, and prints the answer.
CLIENT = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.stdin.readline()))) as line:
    try:
        line.sendall(b"hello")
        print(line.recv(100).decode() or "hung up", flush=True)
    except ConnectionError:
        print("hung up", flush=True)
"""
CALLING = (sys.executable, "-S", "-c", CLIENT)
#: The same by a socket for both families, as gRPC's own library makes them.
BOTH_FAMILIES = """
import socket, sys
line = socket.socket(socket.AF_INET6)
line.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
line.connect(("::ffff:127.0.0.1", int(sys.stdin.readline())))
line.sendall(b"hello")
print(line.recv(100).decode())
"""
#: The same by a program that everybody may run.
BY_SHELL = ("bash", "-c", "read port; exec 3<>/dev/tcp/127.0.0.1/$port; read -r said <&3; echo ${said:-hung up}")


@asynccontextmanager
async def a_door(folder: Path) -> AsyncIterator[Door]:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"in: " + await reader.read(100))
        writer.close()

    inside = await asyncio.start_unix_server(echo, folder / "inside")
    async with inside, Door.open("foreign", folder / "inside") as door:
        yield door


async def a_process(*command: str, user: int | None = None) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, user=user
    )


async def answer(client: asyncio.subprocess.Process, door: Door) -> str:
    output, _ = await client.communicate(f"{door.port}\n".encode())
    return output.decode().strip()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(CALLING, id="itself"),
        pytest.param((sys.executable, "-S", "-c", BOTH_FAMILIES), id="by a socket for both families"),
        pytest.param(("sh", "-c", 'exec 3<&0; "$@" <&3 & wait', "sh", *CALLING), id="a child of it"),
    ],
)
async def test_the_plugin_comes_in(tmp_path: Path, command: tuple[str, ...]) -> None:
    async with a_door(tmp_path) as door:
        plugin = await a_process(*command)
        door.admit(identity_of(plugin.pid))

        assert await answer(plugin, door) == "in: hello"


async def test_another_process_does_not_and_is_told_of_once(tmp_path: Path) -> None:
    async with a_door(tmp_path) as door:
        plugin = await a_process("cat")
        door.admit(identity_of(plugin.pid))
        with structlog.testing.capture_logs() as logs:
            answers = [await answer(await a_process(*CALLING), door) for _ in range(2)]
        plugin.kill()
        await plugin.wait()

    assert answers == ["hung up", "hung up"]
    assert [(each["plugin"], each["reason"]) for each in logs] == [("foreign", "another process of this user called")]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
async def test_another_user_does_not(tmp_path: Path) -> None:
    async with a_door(tmp_path) as door:
        plugin = await a_process("cat")
        door.admit(identity_of(plugin.pid))
        with structlog.testing.capture_logs() as logs:
            answered = await answer(await a_process(*BY_SHELL, user=65534), door)
        plugin.kill()
        await plugin.wait()

    assert answered == "hung up"
    assert [each["reason"] for each in logs] == ["user 65534 called, not the user of this agent"]


async def test_a_plugin_may_call_before_the_agent_has_looked_who_it_is(tmp_path: Path) -> None:
    async with a_door(tmp_path) as door:
        door.admit(None)
        plugin = await a_process(*CALLING)
        answering = asyncio.create_task(answer(plugin, door))
        await asyncio.sleep(0)
        door.admit(identity_of(plugin.pid))

        assert await answering == "in: hello"
