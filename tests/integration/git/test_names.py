"""Branch names: ours is never more lenient than git's own judgement."""

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from fairway.git.errors import GitInputError
from fairway.git.names import checked_branch


@settings(max_examples=40, deadline=None)
@given(st.text(st.sampled_from("ab.-/@{}~^:?*[\\ \x7f\tlock"), min_size=1, max_size=8))
def test_a_branch_passes_only_if_git_agrees(name: str) -> None:
    done = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    try:
        checked_branch(name)
    except GitInputError:
        return

    assert done.returncode == 0
