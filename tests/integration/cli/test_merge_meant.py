"""Which merge `fairway plan-preview` means, where the Git repository around has to say it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairway.cli.call import UsageError
from fairway.cli.main import app
from fairway.cli.merge_previews import Merge
from fairway.cli.plan_preview import meant
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


def test_outside_of_a_repository_that_is_said_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    said = Merge(repository="shop", head_branch="feature", head_commit="", base_branch="")

    with pytest.raises(UsageError) as error:
        meant(None, said)

    assert str(error.value) == (
        "this is no Git repository, so where branch 'feature' is cannot be asked here; "
        "run this in a clone, or say --commit, the commit at its end"
    )


def test_the_repository_around_is_named_by_its_path_where_it_has_no_remote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = an_origin(tmp_path, {"web/words": "one"})
    git(origin.work, "remote", "remove", "origin")
    monkeypatch.chdir(origin.work / "web")

    merge = meant(None, Merge(repository="", head_branch="", head_commit="", base_branch=""))

    assert merge == Merge(
        repository=str(origin.work), head_branch="main", head_commit=origin.head(), base_branch="main"
    )


@pytest.mark.parametrize("said", [".", "../work"])
def test_a_path_is_meant_from_here(said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = an_origin(tmp_path, {"web/words": "one"})
    monkeypatch.chdir(origin.work)

    merge = meant(None, Merge(repository=said, head_branch="", head_commit="", base_branch=""))

    assert merge.repository == str(origin.work)
