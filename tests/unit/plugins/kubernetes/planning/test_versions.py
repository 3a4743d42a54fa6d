"""The images of manifests, as people know them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.kube.manifest import Manifest
from fairway.model.artifact import ArtifactKind, ArtifactVersion
from fairway.plugins.kubernetes.planning.versions import Image, image_versions, parse_image
from tests.unit.plugins.kubernetes.objects import a_config, a_deployment

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "image", "name", "version"),
    [
        pytest.param("web", Image("web"), "web", "latest", id="a name"),
        pytest.param("web:v1", Image("web", "v1"), "web", "v1", id="a tag"),
        # Defect 20: a port is no tag, and a digest has a colon too.
        pytest.param("host:5000/web", Image("host:5000/web"), "web", "latest", id="a port"),
        pytest.param("host:5000/a/web:v1", Image("host:5000/a/web", "v1"), "web", "v1", id="a port and a tag"),
        pytest.param(f"a/web@{DIGEST}", Image("a/web", "", DIGEST), "web", DIGEST, id="a digest"),
        pytest.param(f"h:1/web:v1@{DIGEST}", Image("h:1/web", "v1", DIGEST), "web", "v1", id="all of them"),
    ],
)
def test_an_image_is_taken_apart(text: str, image: Image, name: str, version: str) -> None:
    parsed = parse_image(text)

    assert (parsed, parsed.name, parsed.version) == (image, name, version)


WORD = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,6}[a-z0-9])?", fullmatch=True)


@given(st.lists(WORD, min_size=1, max_size=3), st.integers(0, 65535), st.one_of(st.just(""), WORD), st.booleans())
def test_what_was_put_together_is_taken_apart_as_it_was(path: list[str], port: int, tag: str, digest: bool) -> None:
    repository = f"registry:{port}/{'/'.join(path)}"

    parsed = parse_image(repository + (f":{tag}" if tag else "") + (f"@{DIGEST}" if digest else ""))

    assert parsed == Image(repository, tag, DIGEST if digest else "")


def an_object(kind: str, spec: Any) -> Manifest:
    return Manifest({"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "it"}, "spec": spec})


def test_images_are_found_wherever_pods_are_described_each_once() -> None:
    pod = {"containers": [{"image": "job:v2"}, {"image": "web:v1"}], "initContainers": [{"image": "init:v3"}]}
    manifests = [
        a_deployment(image="web:v1"),
        an_object("CronJob", {"jobTemplate": {"spec": {"template": {"spec": pod}}}}),
        an_object("Pod", {"containers": [{"image": "pod:v4"}]}),
        an_object("Odd", {"template": {"spec": {"containers": {"image": "no list"}}}}),
        a_config(),
    ]

    found = image_versions(manifests)

    assert [(each.name, each.version) for each in found] == [
        ("web", "v1"),
        ("job", "v2"),
        ("init", "v3"),
        ("pod", "v4"),
    ]
    assert found[0] == ArtifactVersion(kind=ArtifactKind.CONTAINER_IMAGE, name="web", version="v1", url="web:v1")


def test_without_images_there_is_nothing_to_say() -> None:
    assert image_versions([a_config()]) == ()
