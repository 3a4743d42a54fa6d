"""The goldens in sealed_by_go.json were made once by a program in Go; see the file's own `about`."""

import base64
import functools
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from fairway.secrets.sealed import KeyPair, PrivateKey, generate_key_pair, seal, unseal
from fairway.secrets.secret import Secret, SecretError


class GoldenValue(msgspec.Struct, frozen=True):
    plaintext: str
    sealed: str


class Goldens(msgspec.Struct, frozen=True):
    private_key: str
    public_key: str
    private_key_pkcs1: str
    public_key_pkcs1: str
    values: tuple[GoldenValue, ...]
    not_utf8: str


GO = msgspec.json.decode(Path(__file__).with_name("sealed_by_go.json").read_bytes(), type=Goldens)
KEY = PrivateKey.from_pem(GO.private_key)
SEALED = GO.values[1].sealed


@functools.cache
def another_pair() -> KeyPair:
    return generate_key_pair()


def changed(sealed: str, position: int) -> str:
    raw = bytearray(base64.b64decode(sealed))
    raw[position] ^= 1
    return base64.b64encode(raw).decode()


@pytest.mark.parametrize("golden", [pytest.param(g, id=repr(g.plaintext)) for g in GO.values])
def test_what_go_sealed_is_opened(golden: GoldenValue) -> None:
    assert KEY.unseal(golden.sealed) == Secret(golden.plaintext)


def test_the_public_half_is_what_go_writes() -> None:
    assert KEY.public_key_pem() == GO.public_key


@given(st.text())
def test_what_is_sealed_is_opened(plaintext: str) -> None:
    assert KEY.unseal(seal(plaintext, GO.public_key)) == Secret(plaintext)


def test_the_layout_is_length_wrapped_key_content_and_tag() -> None:
    raw = base64.b64decode(seal("hunter2", GO.public_key))

    assert (raw[:2], len(raw)) == (b"\x01\x00", 2 + 256 + len("hunter2") + 16)


def test_sealing_twice_gives_different_texts() -> None:
    assert seal("hunter2", GO.public_key) != seal("hunter2", GO.public_key)


def test_a_generated_pair_works_and_hides_its_private_half() -> None:
    pair = another_pair()

    assert unseal(seal("x", pair.public_key_pem), pair.private_key_pem.reveal()) == Secret("x")
    assert "BEGIN PRIVATE" not in repr(pair)


@pytest.mark.parametrize("gap", [pytest.param("\n", id="folded"), pytest.param("\r\n  ", id="indented, from Windows")])
def test_line_breaks_inside_a_sealed_value_do_not_matter(gap: str) -> None:
    folded = gap.join(SEALED[start : start + 60] for start in range(0, len(SEALED), 60)) + gap

    assert KEY.unseal(folded) == Secret("hunter2")


@pytest.mark.parametrize(
    ("sealed", "words"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("s3cr3t-plaintext!", "not base64", id="a plaintext pasted by mistake"),
        pytest.param("s3cr3t-plaintext-mit-Größe", "not base64", id="not even ASCII"),
        pytest.param(SEALED[:-3], "not base64", id="cut inside a base64 group"),
        pytest.param("AQ==", "1 bytes", id="shorter than the length"),
        pytest.param(SEALED[:200], "cut off", id="cut inside the wrapped key"),
        pytest.param(SEALED[:356], "cut off", id="cut inside the tag"),
        pytest.param(SEALED + "AAAA", "not base64", id="something after the padding"),
        pytest.param(changed(SEALED, 10), "another public key", id="wrapped key changed"),
        pytest.param(changed(SEALED, 260), "changed or cut off", id="content changed"),
        pytest.param(changed(SEALED, -1), "changed or cut off", id="tag changed"),
        pytest.param(changed(SEALED, 1), "RSA key of 2056 bits", id="length changed"),
        pytest.param(seal("x", another_pair().public_key_pem), "another public key", id="sealed for another key"),
        pytest.param(GO.not_utf8, "not UTF-8", id="binary content"),
    ],
)
def test_a_sealed_value_that_cannot_be_opened_says_why(sealed: str, words: str) -> None:
    with pytest.raises(SecretError, match=words) as caught:
        KEY.unseal(sealed)

    assert "s3cr3t" not in f"{caught.value!r} {caught.value.__cause__!r}"


@given(st.binary(max_size=400))
def test_any_bytes_give_a_secret_error(raw: bytes) -> None:
    with pytest.raises(SecretError):
        KEY.unseal(base64.b64encode(raw).decode())


@given(st.integers(min_value=0, max_value=len(base64.b64decode(SEALED)) - 1))
def test_no_byte_can_be_changed_unnoticed(position: int) -> None:
    with pytest.raises(SecretError):
        KEY.unseal(changed(SEALED, position))


def an_elliptic_key(private: bool) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    if private:
        return key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def seal_x(pem: str) -> str:
    return seal("x", pem)


@pytest.mark.parametrize(
    ("load", "pem", "words"),
    [
        pytest.param(PrivateKey.from_pem, GO.private_key_pkcs1, "openssl pkcs8 -topk8 -nocrypt", id="private PKCS#1"),
        pytest.param(seal_x, GO.public_key_pkcs1, "openssl rsa -RSAPublicKey_in", id="public PKCS#1"),
        pytest.param(PrivateKey.from_pem, GO.public_key, "private half", id="the wrong half to open"),
        pytest.param(seal_x, GO.private_key, "-pubout", id="the wrong half to seal"),
        pytest.param(PrivateKey.from_pem, "hunter2", "not PEM", id="no PEM, private"),
        pytest.param(seal_x, "", "not PEM", id="no PEM, public"),
        pytest.param(seal_x, "-----BEGIN CAKE-----", "does not know", id="another kind of block"),
        pytest.param(PrivateKey.from_pem, GO.private_key[:500], "damaged", id="private, cut off"),
        pytest.param(seal_x, GO.public_key[:100], "damaged", id="public, cut off"),
        pytest.param(PrivateKey.from_pem, an_elliptic_key(private=True), "not an RSA key", id="private, elliptic"),
        pytest.param(seal_x, an_elliptic_key(private=False), "not an RSA key", id="public, elliptic"),
    ],
)
def test_a_key_that_cannot_be_used_says_what_to_do(load: Callable[[str], object], pem: str, words: str) -> None:
    with pytest.raises(SecretError) as caught:
        load(pem)

    assert words in str(caught.value)
    assert all(line not in str(caught.value) for line in pem.splitlines() if len(line) > 40)


def test_a_private_key_shows_only_its_size() -> None:
    assert repr(KEY) == "PrivateKey(2048 bits)"
