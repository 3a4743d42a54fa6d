"""The sealed format, both ways: anybody with the public key may seal, only the agent's private key opens.

    sealed text = base64( length of R, two bytes, big-endian | R | C )
    R = RSA-OAEP(SHA-256, no label) of K, 32 random bytes
    C = AES-256-GCM under K of the UTF-8 text, nonce of 12 zero bytes, no associated data, tag at the end

The zero nonce is safe because each K encrypts exactly one text. The bytes are those of PipeCD, so values move
between the two systems as they are. Where keys are stored is left to the caller. No message of this module
contains a key or a text, not even a part of one.
"""

import base64
import binascii
import secrets
from typing import Self

import msgspec
from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from fairway.secrets.secret import Secret, SecretError

KEY_BITS = 2048
_LENGTH_BYTES = 2
_CONTENT_KEY_BYTES = 32
_TAG_BYTES = 16
_NONCE = bytes(12)
_OAEP = padding.OAEP(mgf=padding.MGF1(hashes.SHA256()), algorithm=hashes.SHA256(), label=None)


class KeyPair(msgspec.Struct, frozen=True):
    """A fresh pair: PKCS#8 to keep on the agent, PKIX to hand out."""

    private_key_pem: Secret
    public_key_pem: str


def generate_key_pair(bits: int = KEY_BITS) -> KeyPair:
    """Make the key pair of one agent."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return KeyPair(Secret(private.decode()), _public_pem(key.public_key()))


def seal(plaintext: str, public_key_pem: str) -> str:
    """Encrypt a text so that only the holder of the private key can read it."""
    public_key = _load_public_key(public_key_pem)
    content_key = secrets.token_bytes(_CONTENT_KEY_BYTES)
    wrapped_key = public_key.encrypt(content_key, _OAEP)
    content = AESGCM(content_key).encrypt(_NONCE, _utf8(plaintext), None)
    sealed = len(wrapped_key).to_bytes(_LENGTH_BYTES, "big") + wrapped_key + content
    return base64.b64encode(sealed).decode()


def unseal(text: str, private_key_pem: str) -> Secret:
    """Open one sealed text; parse the key once with `PrivateKey.from_pem` to open several."""
    return PrivateKey.from_pem(private_key_pem).unseal(text)


class PrivateKey:
    """The agent's private key, parsed once and used for every sealed value."""

    __slots__ = ("_key",)

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        self._key = key

    @classmethod
    def from_pem(cls, pem: str) -> Self:
        """Read a PKCS#8 private key; other formats get an error that says how to convert them."""
        _refuse_other_armour(pem, _PRIVATE_ADVICE, "a private key in PKCS#8 (-----BEGIN PRIVATE KEY-----)")
        try:
            key = serialization.load_pem_private_key(pem.encode(), password=None)
        # The library's error may quote the input, and the input is a key: it is not chained.
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise SecretError("the private key cannot be read: its PEM block is damaged or incomplete") from None
        if not isinstance(key, rsa.RSAPrivateKey):
            raise SecretError(
                "the private key is not an RSA key; sealed values need RSA (fairway or openssl makes one)"
            )
        return cls(key)

    def public_key_pem(self) -> str:
        """The public half, to hand to whoever seals."""
        return _public_pem(self._key.public_key())

    def unseal(self, text: str) -> Secret:
        """Open one sealed text."""
        wrapped_key, content = _split(_decode(text))
        self._check_length(wrapped_key)
        try:
            content_key = self._key.decrypt(wrapped_key, _OAEP)
        except ValueError as error:
            raise SecretError(
                "the sealed value was made with another public key, or has been changed: seal it again with "
                "the public key of the agent that opens it"
            ) from error
        return Secret(_open(content_key, content))

    def _check_length(self, wrapped_key: bytes) -> None:
        wanted = (self._key.key_size + 7) // 8
        if len(wrapped_key) != wanted:
            raise SecretError(
                f"the sealed value was made for an RSA key of {len(wrapped_key) * 8} bits, but this key "
                f"has {self._key.key_size}: seal it again with this agent's public key"
            )

    def __repr__(self) -> str:
        return f"PrivateKey({self._key.key_size} bits)"


def _decode(text: str) -> bytes:
    compact = "".join(text.split())  # YAML folds long values into lines; Go's decoder skips the breaks as well
    if not compact:
        raise SecretError("the sealed value is empty; expected the base64 text that sealing printed")
    try:
        return base64.b64decode(compact, validate=True)
    except (binascii.Error, ValueError):
        # Not chained: somebody may have pasted the plaintext here, and the library's error can quote it.
        raise SecretError(
            "the sealed value is not base64; expected the text that sealing printed, copied whole"
        ) from None


def _split(sealed: bytes) -> tuple[bytes, bytes]:
    if len(sealed) < _LENGTH_BYTES:
        raise SecretError(f"the sealed value has {len(sealed)} bytes, which is too short; was it cut off?")
    content_start = _LENGTH_BYTES + int.from_bytes(sealed[:_LENGTH_BYTES], "big")
    if len(sealed) < content_start + _TAG_BYTES:
        raise SecretError(
            f"the sealed value has {len(sealed)} bytes, expected at least {content_start + _TAG_BYTES}: "
            "it is cut off, or it is not a sealed value"
        )
    return sealed[_LENGTH_BYTES:content_start], sealed[content_start:]


def _open(content_key: bytes, content: bytes) -> str:
    if len(content_key) != _CONTENT_KEY_BYTES:
        raise SecretError("the sealed value has a content key of the wrong size: seal it again")
    try:
        plaintext = AESGCM(content_key).decrypt(_NONCE, content, None)
    except InvalidTag as error:
        raise SecretError("the sealed value has been changed or cut off after sealing: seal it again") from error
    try:
        return plaintext.decode()
    except UnicodeDecodeError:
        # Not chained: that error carries the plaintext.
        raise SecretError(
            "the sealed value opens to bytes that are not UTF-8 text: base64-encode binary data, then seal it"
        ) from None


def _utf8(plaintext: str) -> bytes:
    try:
        return plaintext.encode()
    except UnicodeEncodeError:
        # Not chained: that error carries the plaintext.
        raise SecretError("the text to seal has half a surrogate pair in it, which UTF-8 cannot hold") from None


def _load_public_key(pem: str) -> rsa.RSAPublicKey:
    _refuse_other_armour(pem, _PUBLIC_ADVICE, "a public key in PKIX (-----BEGIN PUBLIC KEY-----)")
    try:
        key = serialization.load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SecretError("the public key cannot be read: its PEM block is damaged or incomplete") from error
    if not isinstance(key, rsa.RSAPublicKey):
        raise SecretError("the public key is not an RSA key; sealed values need RSA")
    return key


def _public_pem(key: rsa.RSAPublicKey) -> str:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


#: PEM labels that are near enough to be explained; `None` marks the right one.
_PRIVATE_ADVICE: dict[str, str | None] = {
    "PRIVATE KEY": None,
    "RSA PRIVATE KEY": "is in PKCS#1: convert it with `openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW`",
    "ENCRYPTED PRIVATE KEY": "is protected by a passphrase: remove it with `openssl pkcs8 -in OLD -out NEW`",
    "OPENSSH PRIVATE KEY": "is an SSH key: convert a copy with `ssh-keygen -p -m PKCS8 -f COPY`",
    "PUBLIC KEY": "is a public key: the private half of the same pair is needed here",
}
_PUBLIC_ADVICE: dict[str, str | None] = {
    "PUBLIC KEY": None,
    "RSA PUBLIC KEY": "is in PKCS#1: convert it with `openssl rsa -RSAPublicKey_in -in OLD -pubout -out NEW`",
    "PRIVATE KEY": "is a private key, which never leaves its agent: get its public half with "
    "`openssl pkey -in OLD -pubout -out NEW`",
    "RSA PRIVATE KEY": "is a private key, which never leaves its agent: get its public half with "
    "`openssl pkey -in OLD -pubout -out NEW`",
    "CERTIFICATE": "is a certificate: take the key out with `openssl x509 -in OLD -pubkey -noout`",
}


def _refuse_other_armour(pem: str, advice: dict[str, str | None], expected: str) -> None:
    _, begin, rest = pem.partition("-----BEGIN ")
    label, end, _ = rest.partition("-----")
    if not begin or not end:
        raise SecretError(f"the key is not PEM; expected {expected}")
    if label not in advice:
        raise SecretError(f"the key is of a kind that sealing does not know; expected {expected}")
    if (problem := advice[label]) is not None:
        raise SecretError(f"the key {problem}; expected {expected}")
