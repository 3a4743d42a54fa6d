import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.agent_auth import AgentIdentity, AgentToken, parse_token
from fairway.server.status_codes import BadCredentials

PART = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=","), min_size=1)


@given(PART, PART, PART)
def test_a_token_has_project_agent_and_key(project: str, agent: str, key: str) -> None:
    token = parse_token(f"PIPED-TOKEN {project},{agent},{key}")

    assert token == AgentToken(identity=AgentIdentity(project_id=project, agent_id=agent), key=key)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("", id="nothing"),
        pytest.param("PIPED-TOKEN", id="no token"),
        pytest.param("PIPED-TOKEN ", id="an empty token"),
        pytest.param("PIPED-TOKEN shop,agent-1", id="no key"),
        pytest.param("PIPED-TOKEN shop,agent-1,", id="an empty key"),
        pytest.param("PIPED-TOKEN ,agent-1,key", id="an empty project"),
        pytest.param("PIPED-TOKEN shop,agent-1,key,more", id="four parts"),
        pytest.param("PIPED-TOKEN  shop,agent-1,key", id="two spaces"),
        pytest.param("PIPED-TOKEN shop,agent-1,a key", id="a space in the key"),
        pytest.param("piped-token shop,agent-1,key", id="the scheme in small letters"),
        pytest.param("API-KEY shop,agent-1,key", id="another scheme"),
        pytest.param("PIPED-TOKEN shop,agent-1,k\x00y", id="a byte that no key has"),
        pytest.param("PIPED-TOKEN shop,agent-1,kéy", id="a letter that no key has"),
    ],
)
def test_a_header_of_another_form_is_refused(header: str) -> None:
    with pytest.raises(BadCredentials):
        parse_token(header)


@given(st.text())
def test_any_other_text_is_refused_and_nothing_worse(text: str) -> None:
    with pytest.raises(BadCredentials):
        parse_token(f"Bearer {text}")


def test_a_token_does_not_show_its_key() -> None:
    token = parse_token("PIPED-TOKEN shop,agent-1,very-secret")

    assert "very-secret" not in repr(token) + str(token)
