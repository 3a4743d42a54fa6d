"""Clusters that are watched: once each, for whoever asks, and also through their absence."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from fairway.config.agent_file import DeployTarget
from fairway.config.providers import AppStateInformer
from fairway.kube.kinds import Kind
from fairway.plugins.kubernetes.live import picture as live_picture
from fairway.plugins.kubernetes.live.away import Away
from fairway.plugins.kubernetes.live.picture import Picture, User
from fairway.plugins.kubernetes.live.pictures import Pictures
from tests.integration.kube.double import (
    CONFIG_MAPS,
    a_cluster,
    a_list,
    an_object,
    for_ever,
    no_waits,
    refuses,
    says,
    serving,
    tells,
)
from tests.patience import PATIENCE_SECONDS

SHOP = User("kubernetes", "shop", "east")


def a_target(name: str, folder: Path, file: str = "kubeconfig", **config: object) -> DeployTarget:
    told = {
        "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x"}}],
    }
    (folder / file).write_bytes(msgspec.json.encode(told))
    return DeployTarget(name=name, config={"kubeConfigPath": str(folder / file), **config})


async def test_a_cluster_that_several_deploy_targets_lead_to_is_watched_once(tmp_path: Path) -> None:
    pictures = Pictures()
    (tmp_path / "link").symlink_to(tmp_path)

    first = pictures.of(a_target("east", tmp_path))

    assert pictures.of(a_target("also-east", tmp_path / "link")) is first
    assert pictures.of(a_target("west", tmp_path, "another")) is not first
    assert pictures.of(a_target("part", tmp_path, appStateInformer={"namespace": "shop"})) is not first


async def test_everybody_who_uses_the_pictures_is_told_and_the_last_one_ends_them(tmp_path: Path) -> None:
    pictures, told = Pictures(), list[str]()
    listeners = [lambda each, by=by: told.append(f"{by} {each}") for by in ("one", "other")]
    for listener in listeners:
        pictures.join(listener)
    picture = pictures.of(a_target("east", tmp_path))

    pictures.touched("shop")
    await pictures.leave(listeners[0])
    pictures.touched("bank")
    still_there = pictures.of(a_target("east", tmp_path)) is picture
    await pictures.leave(listeners[1])

    assert (told, still_there) == (["one shop", "other shop", "other bank"], True)
    assert pictures.of(a_target("east", tmp_path)) is not picture


async def test_that_a_kind_cannot_be_watched_and_that_it_can_again_is_a_change_for_all_who_use_it() -> None:
    touched: asyncio.Queue[str] = asyncio.Queue()
    listed = says(a_list("5", an_object("a", "1")))
    answers = (listed, *[refuses(500)] * 3, tells(then=for_ever))
    async with serving(*answers) as double, a_cluster(double) as cluster, asyncio.timeout(PATIENCE_SECONDS):
        picture = Picture(cluster, AppStateInformer(), touched.put_nowait, no_waits())

        await picture.watch(SHOP, [CONFIG_MAPS], frozenset())
        told = [await touched.get() for _ in range(2)]
        problems = await picture.watch(SHOP, [CONFIG_MAPS], frozenset())
        await picture.close()

    assert (told, problems) == (["shop", "shop"], {})


async def test_a_kind_that_is_not_listed_in_time_is_no_kind_without_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_picture, "_FIRST_SECONDS", 0.01)
    async with serving(for_ever) as double, a_cluster(double) as cluster:
        picture = Picture(cluster, AppStateInformer(), lambda _: None, no_waits())

        problems = await picture.watch(SHOP, [CONFIG_MAPS], frozenset())
        await picture.close()

    assert str(problems[CONFIG_MAPS]) == "The cluster dev is still being asked for configmaps"


def watches() -> list[str]:
    return sorted(name for task in asyncio.all_tasks() if (name := task.get_name()).startswith("watch "))


async def test_a_kind_is_watched_once_for_all_and_until_nobody_uses_it() -> None:
    services = Kind(group="", version="v1", kind="Service", plural="services", namespaced=True)
    bank, seen = User("kubernetes", "bank", "east"), list[list[str]]()
    async with serving(tells(then=for_ever)) as double, a_cluster(double) as cluster:
        double.answers[:0] = [says(a_list("5"))]
        picture = Picture(cluster, AppStateInformer(), lambda _: None, no_waits())

        async with asyncio.timeout(PATIENCE_SECONDS):
            await picture.watch(SHOP, [CONFIG_MAPS], frozenset())
            double.answers[:0] = [says(a_list("5"))]
            await picture.watch(bank, [CONFIG_MAPS, services], frozenset())
            seen.append(watches())
            await picture.watch(bank, [CONFIG_MAPS], frozenset())
            await until_ended(1, seen)
            picture.leave(SHOP)
            await until_ended(1, seen)
            picture.leave(bank)
            await until_ended(0, seen)

    assert seen == [["watch ConfigMap", "watch Service"], ["watch ConfigMap"], ["watch ConfigMap"], []]


async def until_ended(left: int, seen: list[list[str]]) -> None:
    while len(watches()) > left:  # noqa: ASYNC110  # nobody tells of it
        await asyncio.sleep(0)
    seen.append(watches())


async def test_a_cluster_that_was_silent_is_waited_for_and_who_asked_meanwhile_is_told() -> None:
    back: asyncio.Queue[str] = asyncio.Queue()
    async with serving(refuses(500, "later"), says({"gitVersion": "v1"})) as double, a_cluster(double) as cluster:
        double.answers[:0] = [refuses(500, "not yet")] * 5
        away = Away(back.put_nowait, no_waits())
        away.note("east", cluster, "east: it does not answer")
        meanwhile = [away.words("east", each) for each in ("shop", "bank", "shop")]
        async with asyncio.timeout(PATIENCE_SECONDS):
            told = sorted([await back.get(), await back.get()])

        assert meanwhile == ["east: it does not answer"] * 3
        assert (told, away.words("east", "shop")) == (["bank", "shop"], "")


async def test_a_cluster_that_answers_and_is_silent_again_is_not_called_back_more_and_more_often() -> None:
    waits, back = list[float](), asyncio.Queue[str]()
    async with serving(says({"gitVersion": "v1"})) as double, a_cluster(double) as cluster:
        away = Away(back.put_nowait, no_waits(waits))
        async with asyncio.timeout(PATIENCE_SECONDS):
            for answered in (False, False, True, False):
                away.note("east", cluster, "east: it does not answer")
                away.words("east", "shop")
                await back.get()
                if answered:
                    away.answered("east")

    assert waits == [1.0, 2.0, 3.0, 1.0]
