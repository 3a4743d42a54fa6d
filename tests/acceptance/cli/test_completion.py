"""What the shell offers: names from the server where it answers, nothing and no noise where it does not."""

from collections.abc import Iterator

import pytest

from tests.acceptance.cli.sites import Site, a_site, an_agent, an_application
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with a_site(tmp_path_factory.mktemp("site")) as site:
        agent = an_agent(site, "near")
        for name in ("cart", "cashier", "shop"):
            an_application(site, agent, name)
        yield site


def offered(site: Site, *words: str, **more: str) -> list[str]:
    """What bash gets when Tab is pressed behind the last word."""
    line = " ".join(["fairway", *words])
    asked = {"_FAIRWAY_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    done = site.run(**asked, **more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_names_of_applications_come_from_the_server(site: Site) -> None:
    more = {"FAIRWAY_COMPLETION_SECONDS": str(PATIENCE_SECONDS)}

    assert sorted(offered(site, "app", "get", "ca", **more)) == ["cart", "cashier"]


def test_commands_and_options_need_no_server(site: Site) -> None:
    assert offered(site, "dep", FAIRWAY_SERVER="") == ["deployment"]
    assert offered(site, "app", "sync", "cart", "--str") == ["--strategy"]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"FAIRWAY_SERVER": "http://127.0.0.1:1"}, id="a server that is not there"),
        pytest.param({"FAIRWAY_API_KEY": "first.wrong"}, id="a wrong key"),
        pytest.param({"FAIRWAY_SERVER": "", "FAIRWAY_API_KEY": ""}, id="no server at all"),
    ],
)
def test_without_an_answer_nothing_is_offered_and_nothing_said(site: Site, more: dict[str, str]) -> None:
    assert offered(site, "app", "get", "ca", **more) == []
