"""The trees of deployments: shared where it is safe, private where somebody writes, and gone afterwards."""

import os
from pathlib import Path

import pytest

from fairway.agent.workspace import Wanted, Workspace, WorkspaceError
from fairway.config.read import read_application
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from tests.integration.agent.running import an_application_file, script
from tests.integration.git.repositories import Origin, a_mirror, an_origin


def wanted(origin: Origin, text: str, directory: str = "web") -> Wanted:
    file = os.path.normpath(f"{directory}/app.pipecd.yaml")
    return Wanted(
        repository_id="r-1",
        commit=origin.head(),
        directory=directory,
        file=file,
        config=read_application(text.encode(), file),
    )


@pytest.mark.parametrize("directory", [pytest.param("web", id="in a directory"), pytest.param(".", id="at the root")])
async def test_what_one_deployment_writes_in_its_directory_no_other_sees(tmp_path: Path, directory: str) -> None:
    text = an_application_file(script("true"))
    files = {f"{directory}/run.sh": "echo web\n", f"{directory}/app.pipecd.yaml": text, "shared/base": "common\n"}
    origin = an_origin(tmp_path, files)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        one = await workspace.source("d-1", "target", mirror, wanted(origin, text, directory))
        (one.application_directory / "run.sh").write_text("echo changed\n")
        two = await workspace.source("d-2", "target", mirror, wanted(origin, text, directory))

    assert (two.application_directory / "run.sh").read_text() == "echo web\n"
    assert (one.root / "shared/base").samefile(two.root / "shared/base") is (directory == "web")


async def test_secrets_are_opened_for_the_one_whose_they_are(tmp_path: Path) -> None:
    pair = generate_key_pair()
    sealed = seal("hush", pair.public_key_pem)
    spec = f"  encryption:\n    encryptedSecrets: {{key: {sealed}}}\n    decryptionTargets: [secret]\n"
    text = an_application_file(script("true"), spec=spec)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": text, "web/secret": "{{ .encryptedSecrets.key }}"})
    workspace = Workspace(tmp_path / "data", PrivateKey.from_pem(pair.private_key_pem.reveal()), tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        source = await workspace.source("d-1", "target", mirror, wanted(origin, text))

    opened = [each for each in (tmp_path / "data").rglob("secret") if each.read_text() == "hush"]
    assert opened == [source.application_directory / "secret"]


async def test_what_a_killed_agent_has_left_is_swept_up_except_of_those_that_go_on(tmp_path: Path) -> None:
    data, plugins = tmp_path / "data", tmp_path / "plugins"
    for id in ("open", "ended"):
        (data / "deployments" / id / "target").mkdir(parents=True)
        (plugins / "scriptrun" / id).mkdir(parents=True)
    (data / "deployments" / "open" / ".unfinished-x").mkdir()

    await Workspace(data, None, plugins).sweep({"open"})

    left = {str(each.relative_to(tmp_path)) for folder in (data, plugins) for each in folder.glob("*/*")}
    assert left == {"data/deployments/open", "plugins/scriptrun/open"}
    assert [each.name for each in (data / "deployments" / "open").iterdir()] == ["target"]


async def test_a_disk_that_takes_no_more_is_worth_another_try(tmp_path: Path) -> None:
    text = an_application_file(script("true"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": text})
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "deployments").write_text("where a directory should be")
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        with pytest.raises(WorkspaceError, match="cannot be written"):
            await workspace.source("d-1", "target", mirror, wanted(origin, text))
