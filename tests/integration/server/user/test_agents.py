"""Agents through APIService: registered, shown, named, let in or not, and given sealed secrets."""

import base64
from datetime import timedelta
from pathlib import Path

import grpc
import msgspec
import pytest

from fairway.model.agent import (
    Agent,
    AgentKey,
    AgentProfile,
    ConnectionStatus,
    EncryptionKind,
    SecretEncryption,
)
from fairway.rpc.convert.agent import to_wire_agent
from fairway.rpc.user_api import messages as m
from fairway.secrets.sealed import generate_key_pair, unseal
from fairway.server.actions.agents import ONLINE_FOR
from fairway.server.keys import matches
from fairway.server.store import agents
from tests.integration.server.user.serving import Serving, code_of, refusal, serving
from tests.unit.server.user.builders import NOW, an_agent


async def stored(served: Serving, agent_id: str) -> Agent:
    return await served.store.read(lambda connection: agents.load_agent(connection, agent_id))


def with_encryption(kind: EncryptionKind, public_key: str = "") -> Agent:
    return an_agent(profile=AgentProfile(secret_encryption=SecretEncryption(kind=kind, public_key=public_key)))


async def test_the_key_of_a_new_agent_is_shown_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        registered = await client.RegisterPiped(m.RegisterPipedRequest(name="dev", desc="Two clusters"))

        agent = await stored(served, registered.id)
        (key,) = agent.keys
        assert matches(key.hash, registered.key)
        assert agent == Agent(
            id="new-1",
            name="dev",
            desc="Two clusters",
            project_id="acme",
            keys=(AgentKey(hash=key.hash, creator="key-1", created_at=NOW),),
            created_at=NOW,
            updated_at=NOW,
        )


async def test_no_answer_carries_a_key_or_its_hash(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        agent = an_agent(keys=(AgentKey(hash="sha256$a$b", creator="ada", created_at=NOW),))
        await served.add(agent)

        shown = await client.GetPiped(m.GetPipedRequest(piped_id="agent-1"))

        assert shown.piped == to_wire_agent(msgspec.structs.replace(agent, keys=()))


@pytest.mark.parametrize(
    ("silent_for", "status"),
    [
        pytest.param(timedelta(0), ConnectionStatus.ONLINE, id="just heard"),
        pytest.param(ONLINE_FOR, ConnectionStatus.ONLINE, id="two minutes"),
        pytest.param(ONLINE_FOR + timedelta(seconds=1), ConnectionStatus.OFFLINE, id="longer"),
    ],
)
async def test_an_agent_is_online_while_it_was_heard_lately(
    tmp_path: Path, silent_for: timedelta, status: ConnectionStatus
) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())
        await served.store.write(lambda connection: agents.touch_agent(connection, "agent-1", NOW))
        served.clock.advance(silent_for)

        shown = await client.GetPiped(m.GetPipedRequest(piped_id="agent-1"))

        assert shown.piped == to_wire_agent(an_agent(status=status))


async def test_an_agent_gets_another_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())
        served.clock.advance(timedelta(minutes=1))

        await client.UpdatePiped(m.UpdatePipedRequest(piped_id="agent-1", name="prod", desc="All"))

        later = NOW + timedelta(minutes=1)
        assert await stored(served, "agent-1") == an_agent(name="prod", desc="All", updated_at=later)


async def test_a_disabled_agent_is_forgotten_at_once_and_may_come_back(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(an_agent())

        await client.DisablePiped(m.DisablePipedRequest(piped_id="agent-1"))
        disabled = await stored(served, "agent-1")
        await client.EnablePiped(m.EnablePipedRequest(piped_id="agent-1"))

        assert disabled == an_agent(disabled=True)
        assert served.forgotten == ["agent-1"]
        assert await stored(served, "agent-1") == an_agent()


@pytest.mark.parametrize("encoded", [False, True])
async def test_a_sealed_text_is_opened_by_the_agents_key_alone(tmp_path: Path, encoded: bool) -> None:
    pair, text = generate_key_pair(), "grüße\n\x00hunter2"
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(with_encryption(EncryptionKind.KEY_PAIR, pair.public_key_pem))

        sealed = await client.Encrypt(m.EncryptRequest(plaintext=text, piped_id="agent-1", base64_encoding=encoded))

        opened = unseal(sealed.ciphertext, pair.private_key_pem.reveal()).reveal()
        assert opened == (base64.b64encode(text.encode()).decode() if encoded else text)


@pytest.mark.parametrize(
    ("agent", "code"),
    [
        pytest.param(an_agent(), grpc.StatusCode.FAILED_PRECONDITION, id="no report yet"),
        pytest.param(with_encryption(EncryptionKind.GCP_KMS), grpc.StatusCode.FAILED_PRECONDITION, id="another kind"),
        pytest.param(
            with_encryption(EncryptionKind.KEY_PAIR, "no key"), grpc.StatusCode.INVALID_ARGUMENT, id="damaged key"
        ),
    ],
)
async def test_nothing_is_sealed_for_an_agent_without_a_usable_key(
    tmp_path: Path, agent: Agent, code: grpc.StatusCode
) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(agent)

        answer = await refusal(client.Encrypt(m.EncryptRequest(plaintext="hunter2", piped_id="agent-1")))

        assert answer[0] is code
        assert "hunter2" not in answer[1]


async def test_names_that_a_database_could_choke_on_are_kept_as_they_are(tmp_path: Path) -> None:
    odd = "Robert'); DROP TABLE agents;-- 💥 \x00"
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        registered = await client.RegisterPiped(m.RegisterPipedRequest(name=odd))

        assert (await client.GetPiped(m.GetPipedRequest(piped_id=registered.id))).piped.name == odd
        assert await code_of(client.GetPiped(m.GetPipedRequest(piped_id=odd))) is grpc.StatusCode.NOT_FOUND
