"""docs/states.md says what the tables say, and every status has a meaning."""

import enum

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from tools.generate_states import PAGE, meanings, page


def test_the_page_is_the_one_the_tables_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make states` and commit docs/states.md"


@pytest.mark.parametrize("status", [DeploymentStatus, StageStatus])
def test_every_status_has_a_comment_that_says_what_it_means(status: type[enum.Enum]) -> None:
    found = meanings(status)

    assert [name for name, meaning in found.items() if meaning] == [member.name for member in status]
