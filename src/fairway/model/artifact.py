"""What is deployed, as people know it: an image with its tag, a module with its version."""

import enum

import msgspec


class ArtifactKind(enum.Enum):
    """What sort of thing carries the version."""

    #: The plugin did not say.
    UNKNOWN = "unknown"
    #: A container image with a tag or digest.
    CONTAINER_IMAGE = "container_image"
    #: An object in S3, such as a Lambda package.
    S3_OBJECT = "s3_object"
    #: The source tree itself, named by its commit.
    GIT_SOURCE = "git_source"
    #: A Terraform module.
    TERRAFORM_MODULE = "terraform_module"


class ArtifactVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact and the version of it that a deployment brings."""

    kind: ArtifactKind = ArtifactKind.UNKNOWN
    version: str = ""
    name: str = ""
    url: str = ""
