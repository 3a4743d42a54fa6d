"""An agent's file made ready: what is missing is said."""

from pathlib import Path

import msgspec
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


@pytest.mark.parametrize(
    "generation", [pytest.param("plugins: []", id="v1"), pytest.param("cloudProviders: []", id="v0")]
)
async def test_what_the_server_is_told_of_an_agent_of_either_generation_holds_no_secret(generation: str) -> None:
    text = f"""\
apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  pipedID: a
  apiAddress: h:1
  pipedKeyData: c2VjcmV0
  git: {{username: ada, password: aHVzaC1odXNo}}
  repositories: [{{repoId: r-1, remote: "https://ada:hush-hush@git/shop.git", branch: main}}]
  {generation}
"""

    settings = agent_settings(text.encode(), "agent.yaml", Path("data"), Line(insecure=True))
    told = msgspec.json.encode(settings.profile).decode()

    await settings.channel.close()
    assert [each for each in ("c2VjcmV0", "aHVzaC1odXNo", "hush-hush") if each in told] == []
    assert "projectID: p" in settings.profile.config
    assert settings.profile.repositories[0].remote.endswith("git/shop.git")
