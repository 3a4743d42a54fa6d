"""Which merge `fairway plan-preview` means, where the Git repository around has to say it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairway.cli.main import app
from tests.integration.git.repositories import an_origin, git


def test_a_branch_that_is_not_there_is_named_with_the_one_that_is_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = an_origin(tmp_path, {"web/words": "one"})
    git(origin.work, "branch", "feature")
    monkeypatch.chdir(origin.work)
    nowhere = {"FAIRWAY_SERVER": "http://127.0.0.1:1", "FAIRWAY_API_KEY": "key"}

    result = CliRunner(env=nowhere).invoke(app, ["plan-preview", "--head", "featur"])

    expected = "has no branch 'featur'; say another --head, or --commit; did you mean 'feature'?"
    assert (result.exit_code, expected in result.output) == (2, True), result.output
