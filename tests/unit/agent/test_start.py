"""An agent's file made ready: what is missing is said."""

from pathlib import Path

import pytest

from fairway.agent.start import AgentStartError, Line, agent_settings


@pytest.mark.parametrize(
    ("key", "said"),
    [
        pytest.param("pipedKeyFile: /nonexistent/key", "pipedKeyFile: /nonexistent/key cannot be read", id="no file"),
        pytest.param("pipedKeyData: '?'", "pipedKeyData is no base64", id="no base64"),
    ],
)
def test_a_key_that_cannot_be_read_is_said(key: str, said: str) -> None:
    spec = f"{{projectID: p, pipedID: a, apiAddress: 'h:1', {key}}}"
    text = f"apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec: {spec}\n"

    with pytest.raises(AgentStartError, match=said.replace("?", r"\?")):
        agent_settings(text.encode(), "agent.yaml", Path("data"), Line(insecure=True))


async def test_a_data_directory_is_where_it_was_when_the_agent_started(monkeypatch: pytest.MonkeyPatch) -> None:
    # Scripts run in other directories and find their journal by this path.
    monkeypatch.chdir("/")
    text = "apiVersion: pipecd.dev/v1beta1\nkind: Piped\n" + (
        "spec: {projectID: p, pipedID: a, apiAddress: 'h:1', pipedKeyData: c2VjcmV0}\n"
    )

    settings = agent_settings(text.encode(), "agent.yaml", Path("data"), Line(insecure=True))

    await settings.channel.close()
    assert settings.data == Path("/data")
