"""How an agent is shown that runs, and one that does not."""

from io import StringIO

from rich.console import Console

from fairway.agent.lease import LeaseState
from fairway.agent.status import AgentState, RepositoryState
from fairway.cli.agent_status import status_card
from fairway.cli.output import show
from tests.unit.model.builders import NOW


def test_what_an_agent_did_before_it_ended_is_shown_as_past() -> None:
    ended = AgentState(
        id="near",
        version="1",
        server="fairway.example",
        started_at=NOW,
        process=None,
        plugins=(),
        deployments=(),
        repositories=(
            RepositoryState(id="shop", head="abc", trouble=""),
            RepositoryState(id="far", head="", trouble="no"),
        ),
        unsent=0,
        lease=LeaseState(role="active", reason="it holds the lease"),
    )
    file = StringIO()

    show(Console(file=file, width=200, highlight=False, markup=False), status_card(ended, NOW))

    lines = [" ".join(line.split()) for line in file.getvalue().splitlines()]
    assert "role was active" in lines
    assert "shop abc ○ was watched" in lines
    assert "far ○ did not answer" in lines
