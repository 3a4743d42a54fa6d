"""Nobody of a provider can be called like somebody local, nor like somebody of another provider."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.sign_in.names import is_local_name, is_provider_name, vouched_name
from fairway.server.sign_in.providers import (
    BadSignInProvider,
    GitHubProvider,
    OidcProvider,
    SignInProvider,
    refuse_bad_providers,
)

DEX = OidcProvider(name="dex", issuer="https://dex.example", client_id="fairway", client_secret="s3cret")
GITHUB = GitHubProvider(name="github", client_id="fairway", client_secret="s3cret")


@pytest.mark.parametrize("name", ["a", "jo", "jo.doe", "jo-doe_2", "0", "a" * 63])
def test_a_plain_name_is_a_local_one(name: str) -> None:
    assert is_local_name(name)


@pytest.mark.parametrize("name", ["", "Jo", "jo@dex", "jo doe", ".jo", "jo-", "jö", "a" * 64, "jo\n", "jo/doe"])
def test_no_other_name_is(name: str) -> None:
    assert not is_local_name(name)


@given(st.text(), st.text(), st.sampled_from(["dex", "github"]), st.sampled_from(["dex", "github"]))
def test_names_of_providers_are_nobody_elses(one: str, other: str, provider: str, another: str) -> None:
    first, second = vouched_name(one, provider), vouched_name(other, another)

    assert first is None or not is_local_name(first)
    assert provider == another or first is None or first != second


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb", "a\u202eb", "x" * 151])
def test_a_name_that_cannot_be_shown_or_asked_for_is_none(name: str) -> None:
    assert vouched_name(name, "dex") is None


@pytest.mark.parametrize("name", ["link", "out", "style", "local", "", "Dex", "a@b", "a/b", "-a"])
def test_a_provider_cannot_have_a_name_that_means_something_else(name: str) -> None:
    assert not is_provider_name(name)


@pytest.mark.parametrize(
    ("providers", "said"),
    [
        pytest.param((OidcProvider(name="Dex", issuer="https://x", client_id="", client_secret=""),), "Dex", id="name"),
        pytest.param((DEX, GITHUB, DEX), "two sign-in providers", id="twice"),
        pytest.param((OidcProvider(name="x", issuer="dex", client_id="", client_secret=""),), "issuer", id="issuer"),
    ],
)
def test_a_provider_that_cannot_work_is_refused_at_the_start(providers: tuple[SignInProvider, ...], said: str) -> None:
    with pytest.raises(BadSignInProvider, match=said):
        refuse_bad_providers(providers)


def test_a_provider_does_not_show_its_secret() -> None:
    refuse_bad_providers((DEX, GITHUB))

    assert "s3cret" not in f"{DEX!r} {GITHUB!r}"
