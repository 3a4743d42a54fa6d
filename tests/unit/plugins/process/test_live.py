"""How what runs on the process platform differs from Git."""

import msgspec
import pytest

from fairway.plugins.process.live import drift
from fairway.plugins.process.records import Instance, Seen, Version, Wanted
from tests.unit.plugins.process.builders import NEW, OLD, a_group, an_instance, wanted

ELSEWHERE = msgspec.structs.replace(NEW, commit="c" * 40)
TWO = (an_instance("n1"), an_instance("n2"))


@pytest.mark.parametrize(
    ("wish", "instances", "in_git", "replicas", "expected"),
    [
        pytest.param(wanted(a_group()), TWO, NEW, 2, (), id="the same"),
        pytest.param(wanted(a_group()), TWO, ELSEWHERE, 2, (), id="a commit that leaves the application alone"),
        pytest.param(wanted(), (), NEW, 2, ("Nothing runs as primary",), id="nothing"),
        pytest.param(
            wanted(a_group()),
            TWO,
            OLD,
            2,
            ("The files of bbbbbbb run; those of aaaaaaa are different",),
            id="other files",
        ),
        pytest.param(
            wanted(a_group()),
            TWO,
            msgspec.structs.replace(NEW, command=("serve", "--fast")),
            2,
            ("The command, its environment or its health check is different in Git",),
            id="another command",
        ),
        pytest.param(
            wanted(a_group()),
            TWO,
            NEW,
            3,
            ("The primary is to have 2 processes where Git says 3",),
            id="another number",
        ),
        pytest.param(wanted(a_group()), TWO[:1], NEW, 2, ("1 of 2 processes of the primary run",), id="one is missing"),
        pytest.param(
            wanted(a_group(), a_group(variant="canary")),
            TWO,
            NEW,
            2,
            ("A canary runs, which no deployment is looking after",),
            id="a canary that was left",
        ),
    ],
)
def test_each_difference_is_a_sentence(
    wish: Wanted, instances: tuple[Instance, ...], in_git: Version, replicas: int, expected: tuple[str, ...]
) -> None:
    assert drift(wish, Seen(instances=instances), in_git, replicas) == expected
