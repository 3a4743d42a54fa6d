import functools
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairway.secrets.render import RenderRequest, TreeWriteError, render_targets
from fairway.secrets.sealed import KeyPair, PrivateKey, generate_key_pair, seal
from fairway.secrets.secret import Secret, SecretError
from fairway.secrets.template import TemplateValues


@functools.cache
def the_pair() -> KeyPair:
    return generate_key_pair()


@functools.cache
def the_key() -> PrivateKey:
    return PrivateKey.from_pem(the_pair().private_key_pem.reveal())


def sealed(**plaintexts: str) -> dict[str, str]:
    return {name: seal(text, the_pair().public_key_pem) for name, text in plaintexts.items()}


def a_tree(root: Path, files: Mapping[str, str]) -> Path:
    """A repository with one application in `app/`."""
    (root / "app").mkdir(parents=True)
    for name, text in files.items():
        (root / "app" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "app" / name).write_bytes(text.encode())
    return root


def contents(root: Path) -> dict[str, str]:
    app = root / "app"
    return {str(path.relative_to(app)): path.read_bytes().decode() for path in app.rglob("*") if path.is_file()}


def a_request(root: Path, targets: tuple[str, ...], **secrets: str) -> RenderRequest:
    return RenderRequest(root, root / "app", encrypted_secrets=sealed(**secrets), decryption_targets=targets)


def test_secrets_are_put_into_the_targets_and_nowhere_else(tmp_path: Path) -> None:
    template = "p: {{ .encryptedSecrets.p }}\r\n# é"
    root = a_tree(tmp_path, {"a.yaml": template, "sub/b.yaml": template, "c.yaml": template})

    values = render_targets(a_request(root, ("a.yaml", "./sub/b.yaml"), p="hunter2"), the_key())

    done = "p: hunter2\r\n# é"
    assert contents(root) == {"a.yaml": done, "sub/b.yaml": done, "c.yaml": template}
    assert values == TemplateValues({"p": Secret("hunter2")}, {})


def test_an_attached_file_has_its_secrets_by_the_time_it_is_attached(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"part": "p={{ .encryptedSecrets.p }}", "main": "{{ .attachment.part | indent 2 }}"})
    request = RenderRequest(
        root,
        root / "app",
        encrypted_secrets=sealed(p="{{ not a template }}"),
        decryption_targets=("part",),
        attachment_sources={"part": "part"},
        attachment_targets=("main",),
    )

    values = render_targets(request, the_key())

    assert contents(root) == {"part": "p={{ not a template }}", "main": "  p={{ not a template }}"}
    assert values.attachment == {"part": Secret("p={{ not a template }}")}


def test_a_file_in_all_three_lists_sees_everything(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"a": "{{ .encryptedSecrets.p }}+{{ .attachment.b }}", "b": "x"})
    request = RenderRequest(
        root,
        root / "app",
        encrypted_secrets=sealed(p="hunter2"),
        decryption_targets=("a",),
        attachment_sources={"a": "a", "b": "b"},
        attachment_targets=("a",),
    )

    render_targets(request, the_key())

    assert contents(root) == {"a": "hunter2+x", "b": "x"}


def test_a_file_in_both_lists_is_rendered_once(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"part.txt": "raw {{ x }}", "both": "{{ .encryptedSecrets.p }} {{ .attachment.part }}"})
    request = RenderRequest(
        root,
        root / "app",
        encrypted_secrets=sealed(p='{{ fail "a secret is not a template" }}'),
        decryption_targets=("both",),
        attachment_sources={"part": "part.txt"},
        attachment_targets=("./both",),
    )

    render_targets(request, the_key())

    assert contents(root)["both"] == '{{ fail "a secret is not a template" }} raw {{ x }}'


def test_attachments_alone_need_no_key(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"part": "x", "main": "[{{ .attachment.part }}]"})
    request = RenderRequest(root, root / "app", attachment_sources={"part": "part"}, attachment_targets=("main",))

    render_targets(request, None)

    assert contents(root) == {"part": "x", "main": "[x]"}


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"run.sh": "{{ .encryptedSecrets.p }}"})
    (root / "app/run.sh").chmod(0o750)

    render_targets(a_request(root, ("run.sh",), p="hunter2"), the_key())

    assert stat.S_IMODE((root / "app/run.sh").stat().st_mode) == 0o750


def test_a_target_may_be_anywhere_in_the_repository(tmp_path: Path) -> None:
    root = a_tree(tmp_path / "repository", {})
    (root / "shared.yaml").write_text("{{ .encryptedSecrets.p }}")
    (root / "app/link.yaml").symlink_to("../shared.yaml")

    render_targets(a_request(root, ("../shared.yaml", "link.yaml"), p="hunter2"), the_key())

    assert (root / "shared.yaml").read_text() == "hunter2"
    assert (root / "app/link.yaml").is_symlink()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        pytest.param("../../outside.yaml", "leads out of the repository", id="dots"),
        pytest.param("link-to-file", "leads out of the repository", id="a link to a file"),
        pytest.param("link-to-directory/outside.yaml", "leads out of the repository", id="a link to a directory"),
        pytest.param("/etc/hostname", "is not a relative path", id="absolute"),
        pytest.param("", "is not a relative path", id="empty"),
        pytest.param("a\0b", "is not a relative path", id="a zero byte"),
        pytest.param("missing.yaml", "does not exist", id="missing"),
        pytest.param("dangling", "does not exist", id="a link to nothing"),
        pytest.param("loop", "cannot be reached", id="a link to itself"),
        pytest.param("good.yaml/x", "cannot be reached", id="below a file"),
        pytest.param(".", "is not a regular file", id="a directory"),
        pytest.param("pipe", "is not a regular file", id="a pipe"),
        pytest.param("../.git/config", "is inside .git", id="inside .git"),
        pytest.param("binary", "is not UTF-8 text (byte 1 does not fit)", id="not UTF-8"),
    ],
)
def test_a_target_that_cannot_be_rendered_stops_everything(tmp_path: Path, target: str, words: str) -> None:
    (tmp_path / "outside.yaml").write_text("theirs {{ .encryptedSecrets.p }}")
    root = a_tree(tmp_path / "repository", {"good.yaml": "{{ .encryptedSecrets.p }}", "../.git/config": "x"})
    for name, aim in {"link-to-file": "../../outside.yaml", "link-to-directory": "../..", "dangling": "no"}.items():
        (root / "app" / name).symlink_to(aim)
    (root / "app/loop").symlink_to("loop")
    (root / "app/binary").write_bytes(b"a\xffb")
    os.mkfifo(root / "app/pipe")

    with pytest.raises(SecretError) as caught:
        render_targets(a_request(root, ("good.yaml", target), p="hunter2"), the_key())

    assert [words in problem for problem in caught.value.problems] == [True]
    assert (root / "app/good.yaml").read_text() == "{{ .encryptedSecrets.p }}"
    assert (tmp_path / "outside.yaml").read_text() == "theirs {{ .encryptedSecrets.p }}"


def test_problems_of_one_kind_are_told_together(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"a": "{{ .encryptedSecrets.q }}", "b": "{{ nothing }}", "c": "{{ .encryptedSecrets.p }}"})

    with pytest.raises(SecretError) as caught:
        render_targets(a_request(root, ("a", "b", "c"), p="hunter2"), the_key())

    assert [problem.partition(": ")[0] for problem in caught.value.problems] == ["a:1:4", "b:1:4"]
    assert contents(root)["c"] == "{{ .encryptedSecrets.p }}"


def test_broken_seals_and_missing_files_are_told_together(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {})
    request = RenderRequest(
        root,
        root / "app",
        encrypted_secrets={"bad": "!", "good": sealed(x="hunter2")["x"], "empty": ""},
        decryption_targets=("no.yaml",),
        attachment_sources={"part": "no.txt"},
        attachment_targets=("no.yaml",),
    )

    with pytest.raises(SecretError) as caught:
        render_targets(request, the_key())

    assert [" ".join(problem.split()[:2]) for problem in caught.value.problems] == [
        "encryption.encryptedSecrets.bad: the",
        "encryption.encryptedSecrets.empty: the",
        "attachment.sources: 'no.txt'",
        "encryption.decryptionTargets: 'no.yaml'",
        "attachment.targets: 'no.yaml'",
    ]


def test_sealed_values_without_a_key_say_so(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"a": "x"})

    with pytest.raises(SecretError, match="this agent has no private key"):
        render_targets(a_request(root, ("a",), p="hunter2"), None)


@pytest.mark.parametrize("call", ["fchmod", "replace"])
def test_a_failed_write_leaves_the_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    root = a_tree(tmp_path, {"a": "{{ .encryptedSecrets.p }}", "b": "{{ .encryptedSecrets.p }}"})
    before = contents(root)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)  # the operating system is the third party here

    with pytest.raises(TreeWriteError, match="No space left on device"):
        render_targets(a_request(root, ("a", "b"), p="hunter2"), the_key())

    assert contents(root) == before


def test_the_files_of_an_application_have_a_limit_in_total(tmp_path: Path) -> None:
    root = a_tree(tmp_path, {"a": "x" * (6 << 20), "b": "x" * (6 << 20), "c": "x" * (6 << 20)})

    with pytest.raises(SecretError) as caught:
        render_targets(a_request(root, ("a", "b", "c"), p="hunter2"), the_key())

    assert str(caught.value) == (
        "encryption.decryptionTargets: 'c' makes 18874368 bytes with the files before it; "
        "the limit for the rendered and attached files of an application is 16777216 bytes"
    )
