"""The stages that a plugin may name."""

import pytest

from fairway.agent.plugins.stage_names import checked_names
from fairway.config.plugin_source import BadPlugin


@pytest.mark.parametrize(
    "names", [(), ("GREET", "GREET_ROLLBACK"), ("ümlaut name",), tuple(f"S{number}" for number in range(1000))]
)
def test_names_that_can_be_used_are_kept_in_their_order(names: tuple[str, ...]) -> None:
    assert checked_names("greet", names) == names


@pytest.mark.parametrize(
    ("names", "why"),
    [
        pytest.param(["GREET", ""], 'names a stage ""; expected 1 to 200 printable characters, it has 0', id="empty"),
        pytest.param(["  "], 'names a stage "  "; expected 1 to 200 printable characters, it has 2', id="blank"),
        pytest.param(
            ["A\nB"], 'names a stage "A…"; expected 1 to 200 printable characters, it has 3', id="with a line break"
        ),
        pytest.param(
            ["A" * 201],
            f'names a stage "{"A" * 40}…"; expected 1 to 200 printable characters, it has 201',
            id="too long",
        ),
        pytest.param(["GREET", "WAVE", "GREET"], "names the stage GREET more than once", id="repeated"),
        pytest.param([""] * 1001, "names 1,001 stages; at most 1,000 are allowed", id="too many"),
    ],
)
def test_a_plugin_with_other_names_is_refused(names: list[str], why: str) -> None:
    with pytest.raises(BadPlugin) as refused:
        checked_names("greet", names)

    assert str(refused.value) == f"plugin greet {why}"
