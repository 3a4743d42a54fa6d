"""The trees of deployments: shared where it is safe, private where somebody writes, and gone afterwards."""

import asyncio
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fairway.agent import trees
from fairway.agent.trees import CommitTree, make_tree
from fairway.agent.workspace import Wanted, Workspace, WorkspaceError
from fairway.config.read import read_application
from fairway.git.errors import GitInputError
from fairway.git.materialise import Materialised
from fairway.secrets.sealed import PrivateKey, generate_key_pair, seal
from tests.integration.agent.running import an_application_file, script, until
from tests.integration.git.repositories import Origin, a_mirror, an_origin
from tests.patience import PATIENCE_SECONDS


def wanted(origin: Origin, text: str, directory: str = "web") -> Wanted:
    file = os.path.normpath(f"{directory}/app.pipecd.yaml")
    return Wanted(
        repository_id="r-1",
        commit=origin.head(),
        directory=directory,
        file=file,
        config=read_application(text.encode(), file),
    )


@pytest.fixture(params=[False, True], ids=["a small commit", "a large commit"])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether commits count as large, of which deployments share files."""
    if request.param:
        monkeypatch.setattr(trees, "_COPIED_ENTRIES", 0)
    return bool(request.param)


@pytest.mark.parametrize("directory", [pytest.param("web", id="in a directory"), pytest.param(".", id="at the root")])
async def test_what_one_deployment_writes_in_its_directory_no_other_sees(
    tmp_path: Path, directory: str, large: bool
) -> None:
    text = an_application_file(script("true"))
    files = {f"{directory}/run.sh": "echo web\n", f"{directory}/app.pipecd.yaml": text, "shared/base": "common\n"}
    origin = an_origin(tmp_path, files)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        one = await workspace.source("d-1", "target", mirror, wanted(origin, text, directory))
        (one.application_directory / "run.sh").write_text("echo changed\n")
        two = await workspace.source("d-2", "target", mirror, wanted(origin, text, directory))

    assert (two.application_directory / "run.sh").read_text() == "echo web\n"
    assert (one.root / "shared/base").samefile(two.root / "shared/base") is (large and directory == "web")


async def test_what_one_deployment_writes_elsewhere_in_place_no_later_one_sees(tmp_path: Path, large: bool) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        one = await workspace.source("d-1", "target", mirror, wanted(origin, text, "web"))
        side_by_side = await workspace.source("d-2", "target", mirror, wanted(origin, text, "deep/shop"))
        before = written(one.root)
        await until_the_clock_has_moved(tmp_path, (one.root / "shared/base").stat().st_mtime_ns)
        (one.root / "shared/base").write_text("changed in place")
        (one.root / "deep/shop/app.pipecd.yaml").write_text("changed in place")
        (one.root / "deep/shop/app.pipecd.yaml").chmod(0o600)
        while_it_runs = await workspace.source("d-3", "target", mirror, wanted(origin, text, "deep/shop"))
        # Its tree is not given to the next.
        await workspace.remove("d-1")
        afterwards = await workspace.source("d-4", "target", mirror, wanted(origin, text, "deep/shop"))

    assert written(while_it_runs.root) == written(afterwards.root) == before
    assert (written(side_by_side.root) == before) is not large
    assert (side_by_side.application_directory / "app.pipecd.yaml").read_text() == text


async def test_a_link_out_of_the_repository_is_in_the_way_of_the_application_that_has_it_alone(tmp_path: Path) -> None:
    text = an_application_file(script("true"))
    origin = an_origin(tmp_path, {f"{each}/app.pipecd.yaml": text for each in ("web", "shop", "shop2")})
    (origin.work / "shop" / "out").symlink_to("/etc/hostname")
    origin.commit_all()
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        for other in ("web", "shop2"):
            source = await workspace.source(other, "target", mirror, wanted(origin, text, other))
            assert not (source.root / "shop" / "out").is_symlink()
        with pytest.raises(GitInputError, match=r"'shop/out' points out of the repository \(to '/etc/hostname'\)"):
            await workspace.source("d-1", "target", mirror, wanted(origin, text, "shop"))


async def test_a_commit_that_was_given_up_before_it_was_looked_at_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")

    def given_up(_written: Materialised) -> CommitTree:
        raise asyncio.CancelledError

    async with await a_mirror(origin) as mirror:
        monkeypatch.setattr("fairway.agent.workspace.survey", given_up)
        with pytest.raises(asyncio.CancelledError):
            await workspace.source("d-1", "target", mirror, wanted(origin, text))
        monkeypatch.setattr("fairway.agent.workspace.survey", trees.survey)
        source = await workspace.source("d-1", "target", mirror, wanted(origin, text))

    assert (source.root / "shared/base").read_text() == "common\n"


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
        (plugins / "scriptrun" / "started" / id).mkdir(parents=True)
    (data / "deployments" / "open" / ".unfinished-x").mkdir()

    await Workspace(data, None, plugins).sweep({"open"})

    left = {str(each.relative_to(tmp_path)) for folder in (data, plugins) for each in folder.glob("*/*")}
    assert left == {"data/deployments/open", "plugins/scriptrun/open", "plugins/scriptrun/started"}
    assert [each.name for each in (plugins / "scriptrun" / "started").iterdir()] == ["open"]
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


async def test_nothing_is_left_of_a_tree_that_was_given_up_while_it_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    making, go = threading.Event(), threading.Event()

    def make_slowly(commit: CommitTree, root: Path, own: Path) -> None:
        making.set()
        go.wait()
        make_tree(commit, root, own)

    monkeypatch.setattr("fairway.agent.workspace.make_tree", make_slowly)
    async with await a_mirror(origin) as mirror:
        asked = asyncio.create_task(workspace.source("d-1", "target", mirror, wanted(origin, text)))
        await asyncio.to_thread(making.wait)
        asked.cancel()
        for _ in range(10):
            await asyncio.sleep(0)  # whoever hears of it has done so now
        ended_before = asked.done()
        go.set()
        await asyncio.gather(asked, return_exceptions=True)
        await workspace.remove("d-1")

    assert (ended_before, asked.cancelled()) == (False, True)
    assert list((tmp_path / "data" / "deployments").iterdir()) == []


class Contended(asyncio.Condition):
    """Tells when somebody has to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waited_for = asyncio.Event()

    async def __aenter__(self) -> None:
        if self.locked():
            self.waited_for.set()
        await super().__aenter__()


async def test_whoever_is_given_up_at_the_very_end_of_its_tree_leaves_its_turn_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    making, go = threading.Semaphore(0), threading.Semaphore(0)

    def make_slowly(commit: CommitTree, root: Path, own: Path) -> None:
        making.release()
        go.acquire()
        make_tree(commit, root, own)

    monkeypatch.setattr("fairway.agent.workspace.make_tree", make_slowly)
    async with await a_mirror(origin) as mirror:
        for each in ("d-1", "d-2"):
            monkeypatch.setattr(workspace, "_changed", changed := Contended())
            asked = asyncio.create_task(workspace.source(each, "target", mirror, wanted(origin, text)))
            await asyncio.to_thread(making.acquire)
            async with changed:
                go.release()
                await changed.waited_for.wait()
                asked.cancel()
                await asyncio.wait({asked})
        go.release()
        async with asyncio.timeout(PATIENCE_SECONDS):
            source = await workspace.source("d-3", "target", mirror, wanted(origin, text))

    assert source.root.is_dir()


async def test_of_many_files_that_cannot_be_written_one_reason_is_told(tmp_path: Path) -> None:
    text = an_application_file(script("true"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": text})
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        async with workspace.shared(mirror, wanted(origin, text)):
            for pipe in ("one", "two"):
                os.mkfifo(tmp_path / "data" / "commits" / "r-1" / origin.head() / "web" / pipe)
        with pytest.raises(WorkspaceError) as raised:
            await workspace.source("d-1", "target", mirror, wanted(origin, text))

    assert re.fullmatch(r"the files of [0-9a-f]{7} cannot be written \(`[^`]*` is a named pipe\)", str(raised.value))


def written(root: Path) -> dict[str, str]:
    """Every file below, and what is in it."""
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*") if each.is_file()}


def two_applications(folder: Path, padding: int) -> tuple[Origin, str]:
    text = an_application_file(script("true"))
    files = {f"{each}/app.pipecd.yaml": text for each in ("web", "deep/shop")} | {"shared/base": "common\n"}
    return an_origin(folder, files | {f"more/{each}": "" for each in range(padding)}), text


@pytest.mark.parametrize("padding", [pytest.param(0, id="few files"), pytest.param(300, id="many files")])
async def test_a_tree_that_nobody_changed_is_given_to_the_next_application(
    tmp_path: Path, padding: int, large: bool
) -> None:
    origin, text = two_applications(tmp_path, padding)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        one = await workspace.source("d-1", "target", mirror, wanted(origin, text, "web"))
        before, inode = written(one.root), one.root.stat().st_ino
        (one.application_directory / "made").write_text("by a script")
        (one.application_directory / "app.pipecd.yaml").write_text("changed in place")
        await workspace.remove("d-1")
        two = await workspace.source("d-2", "target", mirror, wanted(origin, text, "deep/shop"))
        three = await workspace.source("d-3", "target", mirror, wanted(origin, text, "web"))

    own, other = "deep/shop/app.pipecd.yaml", "web/app.pipecd.yaml"
    assert two.root.stat().st_ino == inode
    assert written(two.root) == written(three.root) == before
    assert [(two.root / each).samefile(three.root / each) for each in (own, other, "shared/base")] == [
        False,
        False,
        large,
    ]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda root: (root / "shared/new").write_text(""), id="a new file"),
        pytest.param(lambda root: (root / "shared/base").unlink(), id="a removed file"),
        pytest.param(lambda root: (root / "web/app.pipecd.yaml").rename(root / "web/x"), id="a renamed file"),
        pytest.param(lambda root: (root / "shared").rename(root / "other"), id="a renamed directory"),
        pytest.param(lambda root: (root / "new").mkdir(), id="a new directory"),
        pytest.param(lambda root: (root / "deep/shop").rename(root / "deep/was"), id="its own directory renamed"),
        pytest.param(lambda root: (root / "shared").chmod(0o700), id="another mode"),
        pytest.param(lambda root: (root / "shared/base").write_text(""), id="a file changed in place"),
    ],
)
async def test_a_tree_that_somebody_changed_is_given_to_nobody(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        one = await workspace.source("d-1", "target", mirror, wanted(origin, text, "deep/shop"))
        before, made_at = written(one.root), one.root.stat().st_ctime_ns
        await until_the_clock_has_moved(tmp_path, made_at)
        change(one.root)
        await workspace.remove("d-1")
        two = await workspace.source("d-2", "target", mirror, wanted(origin, text, "web"))

    assert written(two.root) == before
    assert (two.root / "shared").stat().st_mode & 0o777 == 0o755
    assert not list((tmp_path / "data" / "spare").glob("*"))


async def until_the_clock_has_moved(folder: Path, since: int) -> None:
    """The kernel's time of a change goes in steps of some milliseconds."""

    async def look() -> bool:
        (folder / "now").write_text("")
        return (folder / "now").stat().st_ctime_ns > since

    await until(look)


async def test_trees_that_wait_for_nobody_are_removed(tmp_path: Path) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        for each in range(20):
            await workspace.source(f"d-{each}", "target", mirror, wanted(origin, text, "web"))
    for each in range(20):
        await workspace.remove(f"d-{each}")
    waiting = len(list((tmp_path / "data" / "spare").iterdir()))
    await workspace.sweep(())

    assert (waiting, list((tmp_path / "data").glob("*/*"))) == (16, [])


async def test_a_tree_that_the_disk_does_not_keep_for_the_next_is_removed(tmp_path: Path) -> None:
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        await workspace.source("d-1", "target", mirror, wanted(origin, text, "web"))
        (tmp_path / "data" / "spare").rmdir()
        (tmp_path / "data" / "spare").touch()
        await workspace.remove("d-1")

    assert list((tmp_path / "data" / "deployments").iterdir()) == []


async def test_whoever_only_reads_is_given_the_commit_unless_something_is_opened_in_it(tmp_path: Path) -> None:
    spec = "  attachment:\n    sources: {base: ../shared/base}\n    targets: [app.pipecd.yaml]\n"
    origin, text = two_applications(tmp_path, 0)
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        opened = wanted(origin, an_application_file(script("true"), spec=spec), "web")
        async with (
            workspace.shared(mirror, wanted(origin, text, "web")) as one,
            workspace.shared(mirror, wanted(origin, text, "deep/shop")) as two,
            workspace.shared(mirror, opened) as rendered,
        ):
            pass

    assert one is not None
    assert two is not None
    assert (one.root == two.root, one.config_text, rendered) == (True, text.encode(), None)


async def test_many_commits_at_once_are_each_there_until_their_trees_are_made(tmp_path: Path) -> None:
    text = an_application_file(script("true"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": text, "web/version": "0\n"})
    files = [wanted(origin, text)]
    for version in range(1, 12):
        origin.commit({"web/version": f"{version}\n"})
        files.append(wanted(origin, text))
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with await a_mirror(origin) as mirror:
        made = await asyncio.gather(
            *(workspace.source(f"d-{number}", "target", mirror, each) for number, each in enumerate(files))
        )

    versions = [(each.application_directory / "version").read_text() for each in made]
    assert versions == [f"{number}\n" for number in range(12)]
    # And afterwards only the newest are kept written out.
    assert len(list((tmp_path / "data" / "commits" / "r-1").iterdir())) == 4
