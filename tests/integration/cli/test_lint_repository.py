"""`fairway lint` looks at what a file says of the rest of its repository, too."""

from pathlib import Path

import pytest

from fairway.cli.lint import lint_paths

HEADER = "apiVersion: pipecd.dev/v1beta1\nkind: LambdaApp\nspec:\n  name: {}\n"
ENCRYPTION = "  encryption:\n    encryptedSecrets: {key: AgEi}\n    decryptionTargets:\n      - there.txt\n      - "


def an_application(repository: Path, directory: str, spec: str = "", name: str = "web") -> Path:
    (repository / ".git").mkdir(parents=True, exist_ok=True)
    folder = repository / directory
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "there.txt").write_text("{{ .encryptedSecrets.key }}\n")
    file = folder / "app.pipecd.yaml"
    file.write_text(HEADER.format(name) + spec)
    return file


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        pytest.param(ENCRYPTION + "../shared.txt\n", [], id="a file of the repository"),
        pytest.param(
            ENCRYPTION + "gone.txt\n",
            [
                "9:9: error: spec.encryption.decryptionTargets[1]: is 'gone.txt', which does not exist in the "
                "application's directory"
            ],
            id="a target that is not there",
        ),
        pytest.param(
            ENCRYPTION + "../../outside.txt\n",
            [
                "9:9: error: spec.encryption.decryptionTargets[1]: is '../../outside.txt', which leads out of the "
                "repository; only files of the repository are rendered"
            ],
            id="a target outside",
        ),
        pytest.param(
            "  attachment:\n    sources: {a: gone.txt}\n    targets: [there.txt, nosuch.txt]\n",
            [
                "6:18: error: spec.attachment.sources.a: is 'gone.txt', which does not exist in the application's "
                "directory",
                "7:26: error: spec.attachment.targets[1]: is 'nosuch.txt', which does not exist in the application's "
                "directory",
            ],
            id="attached files that are not there",
        ),
    ],
)
def test_files_that_are_to_be_rendered_are_looked_for(tmp_path: Path, spec: str, said: list[str]) -> None:
    (tmp_path / "outside.txt").write_text("")
    file = an_application(tmp_path / "repository", "web", spec)
    (tmp_path / "repository" / "shared.txt").write_text("")

    found = lint_paths([tmp_path / "repository"])

    assert [str(each) for each in found.problems] == [f"{file}:{each}" for each in said]


def test_a_name_that_two_applications_of_a_repository_have_is_a_warning(tmp_path: Path) -> None:
    first = an_application(tmp_path / "one", "a")
    second = an_application(tmp_path / "one", "b")
    an_application(tmp_path / "one", "c", name="worker")
    an_application(tmp_path / "two", "a")

    found = lint_paths([tmp_path, first])

    message = f"is 'web', the name of the application in {first} too; lists show both by that name"
    assert [str(each) for each in found.problems] == [f"{second}:4:9: warning: spec.name: {message}"]


def test_where_there_is_no_repository_nothing_is_outside_and_names_are_free(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        file = an_application(tmp_path, folder, "  attachment: {sources: {own: ../shared.txt}, targets: [there.txt]}\n")
    (tmp_path / "shared.txt").write_text("")
    (tmp_path / ".git").rmdir()

    assert lint_paths([tmp_path, file]).problems == ()


def test_a_file_without_a_name_or_a_plugin_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "app.pipecd.yaml"
    file.write_text("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  description: a shop\n")

    found = [(each.severity.value, each.position.line, each.message[:15]) for each in lint_paths([tmp_path]).problems]

    assert sorted(found) == [("warning", 3, "is missing; age"), ("warning", 4, "names no plugin")]
