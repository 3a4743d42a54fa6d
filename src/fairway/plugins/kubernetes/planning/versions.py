"""What a commit would bring, as people know it: the images of its containers, with their tags or digests."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from fairway.kube.manifest import Body, Manifest
from fairway.model.artifact import ArtifactKind, ArtifactVersion
from fairway.plugins.kubernetes.parts import part

#: Where the pods of an object are described: a workload's, a CronJob's, and a pod's own.
_PODS: Final = (("spec", "template", "spec"), ("spec", "jobTemplate", "spec", "template", "spec"), ("spec",))
_TAG: Final = re.compile(r":([\w][\w.-]*)\Z", re.ASCII)
#: What an image without a tag means.
_NEWEST: Final = "latest"


class Image(msgspec.Struct, frozen=True):
    """A reference to an image, taken apart."""

    #: With its registry, without tag and digest.
    repository: str
    tag: str = ""
    #: With its algorithm, such as `sha256:…`.
    digest: str = ""

    @property
    def name(self) -> str:
        """The last part of where it is, which is what people call it."""
        return self.repository.rpartition("/")[2]

    @property
    def version(self) -> str:
        """Its tag, or its digest where it has none."""
        return self.tag or self.digest or _NEWEST


def parse_image(text: str) -> Image:
    """A reference as it stands in a manifest; a registry may have a port, and a digest may follow a tag."""
    repository, _, digest = text.strip().partition("@")
    tag = _TAG.search(repository)
    return Image(repository[: -len(tag[0])] if tag else repository, tag[1] if tag else "", digest)


def image_versions(manifests: Iterable[Manifest]) -> tuple[ArtifactVersion, ...]:
    """Every image of the manifests once, in the order in which they stand there; nothing where there are none."""
    found = dict.fromkeys(image for each in manifests for image in images_of(each.body))
    return tuple(
        ArtifactVersion(
            kind=ArtifactKind.CONTAINER_IMAGE, name=parse_image(each).name, version=parse_image(each).version, url=each
        )
        for each in found
    )


def images_of(body: Body) -> Iterator[str]:
    """The images of an object's containers, then of those that prepare the way for them."""
    for path in _PODS:
        pod = part(body, *path)
        if isinstance(pod, Mapping):
            yield from _images(pod.get("containers"))
            yield from _images(pod.get("initContainers"))


def _images(containers: Any) -> Iterator[str]:
    for each in containers if isinstance(containers, list) else ():
        image = part(each, "image")
        if isinstance(image, str) and image:
            yield image
