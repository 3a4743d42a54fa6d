"""The bucket that PipeCD's file of the control plane keeps its logs in, as our log store is told of one.

Keys stand in files of their own, which are read here, once; nothing of what they hold gets into a problem.
"""

import configparser
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from fairway.config.control_plane import Filestore
from fairway.config.problems import Path, Problem, Severity
from fairway.config.reader.document import Document


def bucket_of(filestore: Filestore, document: Document) -> tuple[str, dict[str, str], list[Problem]]:
    """The place of the logs, how to reach it, and what is wrong with that."""
    config, base = filestore.config, ("spec", "filestore", "config")
    bucket = str(config.get("bucket", ""))
    problems = [] if bucket else [document.problem((*base, "bucket"), "is missing; expected the name of the bucket")]
    reader = _FileReader(document, base)
    match filestore.type:
        case "S3":
            url, options = f"s3://{bucket}", _s3_options(config, reader)
        case "MINIO":
            url, options = f"s3://{bucket}", _minio_options(config, reader)
            if config.get("autoCreateBucket"):
                why = f"has no effect: make the bucket {bucket!r} before you start"
                path: Path = (*base, "autoCreateBucket")
                problems.append(document.problem(path, why, Severity.WARNING, of_key=True))
        case "GCS":
            url, options = f"gs://{bucket}", {}
            if key := reader.text(config, "credentialsFile"):
                options["google_service_account_key"] = key
    return url, options, [*problems, *reader.problems]


def _s3_options(config: Mapping[str, Any], reader: "_FileReader") -> dict[str, str]:
    options = {
        "aws_region": str(config.get("region", "")),
        "aws_role_arn": str(config.get("roleARN", "")),
        "aws_web_identity_token_file": str(config.get("tokenFile", "")),
        **reader.credentials(config),
    }
    return {name: value for name, value in options.items() if value}


def _minio_options(config: Mapping[str, Any], reader: "_FileReader") -> dict[str, str]:
    endpoint = str(config.get("endpoint", ""))
    if not endpoint:
        reader.complain("endpoint", "is missing; expected an address such as https://minio:9000")
    if "://" not in endpoint:
        # As PipeCD's client reads it.
        endpoint = f"https://{endpoint}"
    return {
        "aws_endpoint": endpoint,
        "aws_region": "us-east-1",
        "aws_virtual_hosted_style_request": "false",
        "aws_allow_http": "true" if endpoint.startswith("http://") else "false",
        "aws_access_key_id": reader.text(config, "accessKeyFile"),
        "aws_secret_access_key": reader.text(config, "secretKeyFile"),
    }


class _FileReader:
    """Reads the files that a part of the document names, and remembers what is wrong with them."""

    def __init__(self, document: Document, base: Path) -> None:
        self._document = document
        self._base = base
        self.problems: list[Problem] = []

    def complain(self, name: str, message: str) -> None:
        """Remember a problem with a field of the part."""
        self.problems.append(self._document.problem((*self._base, name), message))

    def text(self, config: Mapping[str, Any], name: str) -> str:
        """What the named file holds; empty when none is named."""
        path = str(config.get(name, ""))
        if not path:
            return ""
        try:
            return FilePath(path).read_text().strip()
        except OSError as error:
            self.complain(name, f"names {path}, which cannot be read: {error.strerror}")
        except UnicodeError:
            self.complain(name, f"names {path}, which is no text")
        return ""

    def credentials(self, config: Mapping[str, Any]) -> dict[str, str]:
        """The keys in a file of AWS's command line, of one profile."""
        text, profile = self.text(config, "credentialsFile"), str(config.get("profile", "") or "default")
        if not text:
            return {}
        parsed = configparser.ConfigParser(interpolation=None)
        try:
            parsed.read_string(text)
            found = dict(parsed[profile])
        except (configparser.Error, KeyError):
            # The text may hold keys, so it is not repeated.
            self.complain("credentialsFile", f"names a file without the profile {profile!r}; expected AWS's format")
            return {}
        names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        return {name: found[name] for name in names if name in found}
