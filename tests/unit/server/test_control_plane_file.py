"""What PipeCD's file of the control plane means here. Key files are real ones in a temporary directory."""

from pathlib import Path

import pytest

from fairway.config.control_plane import ProjectEntry
from fairway.config.problems import ConfigError
from fairway.server.control_plane_file import FileSettings, Given, load_control_plane, read_control_plane
from fairway.server.sign_in.providers import GitHubProvider, OidcProvider

HEAD = "apiVersion: pipecd.dev/v1beta1\nkind: ControlPlane\nspec:\n"
NOTHING_GIVEN = Given()


def read(spec: str, given: Given = NOTHING_GIVEN) -> FileSettings:
    return read_control_plane((HEAD + spec).encode(), "cp.yaml", given)


def problems(spec: str, given: Given = NOTHING_GIVEN) -> list[str]:
    with pytest.raises(ConfigError) as refusal:
        read(spec, given)
    return [str(problem) for problem in refusal.value.problems]


def test_address_and_projects_are_used() -> None:
    settings = read("  address: https://cd.acme.dev/\n  projects:\n    - id: shop\n      desc: the shop\n")

    assert settings == FileSettings(web_url="https://cd.acme.dev", projects=(ProjectEntry(id="shop", desc="the shop"),))


@pytest.mark.parametrize("kind", ["MYSQL", "FIRESTORE"])
def test_a_database_that_cannot_be_meant_is_refused_with_what_to_use_instead(kind: str) -> None:
    (problem,) = problems(f"  datastore:\n    type: {kind}\n")

    assert problem.startswith(f"cp.yaml:5:11: error: spec.datastore.type: is {kind}: records cannot be kept there")
    assert "--database postgresql://user@host/name" in problem


def test_a_database_that_the_command_line_replaces_has_no_effect() -> None:
    settings = read("  datastore:\n    type: MYSQL\n", Given(database=True))

    assert [str(each) for each in settings.warnings] == [
        "cp.yaml:5:5: warning: spec.datastore.type: is MYSQL and has no effect: --database says where records are"
    ]


def test_everything_without_effect_is_said_at_its_line() -> None:
    settings = read(
        "  stateKey: hunter2\n"
        "  cache:\n    ttl: 1m\n"
        "  insightCollector:\n    application:\n      enabled: true\n"
        "  projects:\n    - id: shop\n      staticAdmin:\n        username: ada\n        passwordHash: $2a$10$x\n"
    )

    said = [str(each) for each in settings.warnings]
    assert [line.split(" has no effect")[0] for line in said] == [
        "cp.yaml:4:3: warning: spec.stateKey:",
        "cp.yaml:5:3: warning: spec.cache:",
        "cp.yaml:7:3: warning: spec.insightCollector:",
        "cp.yaml:12:7: warning: spec.projects[0].staticAdmin:",
    ]
    assert "the first start prints a link" in said[-1]
    assert "hunter2" not in "".join(said)


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        "  stateKey: x\n  datastore:\n    type: MYSQL\n  filestore:\n    type: S3\n    config:\n      region: eu\n"
        "  sharedSSOConfigs:\n    - name: a\n      provider: OIDC\n      oidc:\n"
        "        clientId: a\n        clientSecret: b\n        issuer: https://dex\n"
    )

    assert [line.split(": ")[2] for line in found] == [
        "spec.stateKey",
        "spec.datastore.type",
        "spec.filestore.config.bucket",
        "spec.sharedSSOConfigs[0]",
    ]


def test_logs_in_s3_with_the_keys_of_a_profile(tmp_path: Path) -> None:
    keys = tmp_path / "credentials"
    keys.write_text(
        "[default]\naws_access_key_id = no\naws_secret_access_key = no\n"
        "[cd]\naws_access_key_id = id\naws_secret_access_key = top%secret\n"
    )

    settings = read(
        "  filestore:\n    type: S3\n    config:\n      bucket: logs\n      region: eu-central-1\n"
        f"      profile: cd\n      credentialsFile: {keys}\n"
    )

    assert settings.logs == "s3://logs"
    assert settings.log_options == {
        "aws_region": "eu-central-1",
        "aws_access_key_id": "id",
        "aws_secret_access_key": "top%secret",
    }
    assert "top%secret" not in repr(settings)


def test_logs_in_s3_with_a_role() -> None:
    settings = read(
        "  filestore:\n    type: S3\n    config:\n      bucket: logs\n      roleARN: arn:x\n      tokenFile: /token\n"
    )

    assert settings.log_options == {"aws_role_arn": "arn:x", "aws_web_identity_token_file": "/token"}


def test_logs_in_minio(tmp_path: Path) -> None:
    for name in ("id", "secret"):
        (tmp_path / name).write_text(f"the-{name}\n")

    settings = read(
        "  filestore:\n    type: MINIO\n    config:\n      endpoint: http://minio:9000\n      bucket: logs\n"
        f"      accessKeyFile: {tmp_path}/id\n      secretKeyFile: {tmp_path}/secret\n      autoCreateBucket: true\n"
    )

    assert settings.logs == "s3://logs"
    assert settings.log_options == {
        "aws_endpoint": "http://minio:9000",
        "aws_region": "us-east-1",
        "aws_virtual_hosted_style_request": "false",
        "aws_allow_http": "true",
        "aws_access_key_id": "the-id",
        "aws_secret_access_key": "the-secret",
    }
    assert "make the bucket 'logs' before you start" in str(settings.warnings[0])


def test_logs_in_a_bucket_of_google(tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text('{"type": "service_account"}')

    settings = read(
        f"  filestore:\n    type: GCS\n    config:\n      bucket: logs\n      credentialsFile: {tmp_path}/key.json\n"
    )

    assert (settings.logs, settings.log_options) == (
        "gs://logs",
        {"google_service_account_key": '{"type": "service_account"}'},
    )


def test_logs_elsewhere_by_the_command_line_leave_the_file_alone() -> None:
    settings = read("  filestore:\n    type: S3\n    config:\n      credentialsFile: /nowhere\n", Given(logs=True))

    assert (settings.logs, settings.log_options) == ("", {})
    assert "--logs says where logs are" in str(settings.warnings[0])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "which cannot be read: No such file or directory", id="missing"),
        pytest.param(b"hunter2", "names a file without the profile 'default'", id="no credentials"),
        pytest.param(b"[other]\n", "names a file without the profile 'default'", id="another profile"),
        pytest.param(b"\xff\xfe\x00", "which is no text", id="no text"),
    ],
)
def test_a_file_of_keys_that_cannot_be_used_is_named(content: bytes | None, said: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    if content is not None:
        keys.write_bytes(content)

    (problem,) = problems(f"  filestore:\n    type: S3\n    config:\n      bucket: b\n      credentialsFile: {keys}\n")

    assert "spec.filestore.config.credentialsFile" in problem
    assert said in problem
    assert "hunter2" not in problem


def test_ways_to_sign_in_are_used() -> None:
    settings = read(
        "  address: https://cd.acme.dev\n"
        "  sharedSSOConfigs:\n    - name: hub\n      provider: GITHUB\n      sessionTtl: 8\n      github:\n"
        "        clientId: a\n        clientSecret: b\n        uploadUrl: https://up\n        proxyUrl: http://p\n"
        "    - name: dex\n      provider: OIDC\n      oidc:\n        clientId: c\n        clientSecret: d\n"
        "        issuer: https://dex.acme.dev\n        scopes: [openid, groups]\n        rolesClaimKey: groups\n"
    )

    assert settings.sign_in == (
        GitHubProvider(name="hub", client_id="a", client_secret="b", proxy_url="http://p", session_hours=8),
        OidcProvider(
            name="dex",
            client_id="c",
            client_secret="d",
            issuer="https://dex.acme.dev",
            scopes=("openid", "groups"),
            roles_claim="groups",
        ),
    )
    assert [str(each).split(": ")[2] for each in settings.warnings] == ["spec.sharedSSOConfigs[0].github.uploadUrl"]


def test_a_way_to_sign_in_that_cannot_be_used_is_told_at_its_line() -> None:
    entry = "provider: OIDC\n      oidc:\n        clientId: c\n        clientSecret: hunter2\n"

    first, second = problems(
        "  address: https://cd.acme.dev\n  sharedSSOConfigs:\n"
        f"    - name: My Dex\n      {entry}        issuer: https://dex\n    - name: dex\n      {entry}"
    )

    assert first.startswith("cp.yaml:6:7: error: spec.sharedSSOConfigs[0]: a sign-in provider is called 'My Dex'")
    assert second.startswith("cp.yaml:12:7: error: spec.sharedSSOConfigs[1]: the issuer of the sign-in provider 'dex'")
    assert "hunter2" not in first + second


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", "the file is empty", id="nothing"),
        pytest.param(
            "apiVersion: pipecd.dev/v1beta1\nkind: EventWatcher\nspec:\n  events: []\n",
            "is no control plane",
            id="another kind",
        ),
        pytest.param(f"{HEAD}  adress: x\n", "adress", id="a field that is none"),
        pytest.param(f"{HEAD}  address: x\n---\n{HEAD}  address: z\n", "expected one document", id="two of them"),
        pytest.param("{", "did not find expected node", id="no YAML"),
    ],
)
def test_what_is_no_control_plane_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_control_plane(text.encode(), "cp.yaml", NOTHING_GIVEN)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cp\.yaml:1:1: error: cannot be read: No such file or directory"):
        load_control_plane(tmp_path / "cp.yaml", NOTHING_GIVEN)
