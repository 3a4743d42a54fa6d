"""A certificate authority for one cluster of the tests: who the API server is, and who may call it as whom.

A person of Kubernetes is nothing but a client certificate: its common name is the user, its organisations the groups.
"""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_SERVICE_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
_DAY = timedelta(days=1)
_SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


class Pair(NamedTuple):
    """Both in PEM."""

    key: bytes
    certificate: bytes


class Authority(NamedTuple):
    """What every party of the cluster trusts."""

    pair: Pair

    @classmethod
    def new(cls) -> "Authority":
        """One that signs itself."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("fairway test clusters")
        certificate = (
            _unsigned(name, key.public_key(), name, key.public_key(), _DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
        )
        return cls(_pair(key, certificate.sign(key, hashes.SHA256())))

    @classmethod
    def load(cls, folder: Path) -> "Authority":
        """The one that was saved there."""
        return cls(Pair((folder / "ca.key").read_bytes(), (folder / "ca.crt").read_bytes()))

    def save(self, folder: Path) -> None:
        """So that other processes can let people in too."""
        (folder / "ca.key").write_bytes(self.pair.key)
        (folder / "ca.crt").write_bytes(self.pair.certificate)

    def server(self) -> Pair:
        """The API server's own, for loopback and for the names that pods would call it by."""
        addresses = [x509.IPAddress(IPv4Address(address)) for address in ("127.0.0.1", "10.96.0.1")]
        names = x509.SubjectAlternativeName([*addresses, *(x509.DNSName(name) for name in _SERVICE_NAMES)])
        return self._signed(_name("kube-apiserver"), names, _DAY)

    def client(self, user: str, groups: tuple[str, ...] = (), valid_for: timedelta = _DAY) -> Pair:
        """A person's; with a negative time it has expired already."""
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        return self._signed(_name(user, *groups), usage, valid_for)

    def _signed(self, subject: x509.Name, extension: x509.ExtensionType, valid_for: timedelta) -> Pair:
        ours = serialization.load_pem_private_key(self.pair.key, None)
        assert isinstance(ours, ec.EllipticCurvePrivateKey)
        issuer = x509.load_pem_x509_certificate(self.pair.certificate).subject
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _unsigned(subject, key.public_key(), issuer, ours.public_key(), valid_for)
        return _pair(key, certificate.add_extension(extension, critical=False).sign(ours, hashes.SHA256()))


def signing_key() -> bytes:
    """A key with which a cluster signs the tokens of its service accounts."""
    return _pem(rsa.generate_private_key(65537, 2048))


def _unsigned(
    subject: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePublicKey,
    valid_for: timedelta,
) -> x509.CertificateBuilder:
    # Begun a week ago, so that one which has expired also was valid once.
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer, subject, key, x509.random_serial_number(), now - timedelta(days=7), now + valid_for
    )
    # Newer Pythons refuse certificates that do not say which key signed which.
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False).add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False
    )


def _name(common: str, *organisations: str) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation) for organisation in organisations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _pair(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Pair:
    return Pair(_pem(key), certificate.public_bytes(serialization.Encoding.PEM))


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
