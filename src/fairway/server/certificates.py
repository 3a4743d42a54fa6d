"""TLS for the server's port, with files that are read again when they change.

Certificates are renewed every few weeks by programs that replace two files; a server that has to be restarted for that
will one day not be. Each new connection looks whether the files have changed. A pair that does not fit, as when one of
the two has been replaced and the other not yet, leaves the last good one in use.
"""

import ssl
from pathlib import Path

import grpc
import msgspec
import structlog

from fairway.errors import UserError

_log = structlog.get_logger()


class BadCertificate(UserError):
    """Files that are no certificate with its key."""


class CertificateFiles(msgspec.Struct, frozen=True):
    """A certificate (with its chain) and its key, in PEM."""

    certificate: Path
    key: Path

    def stamp(self) -> tuple[int, ...]:
        """Something that differs once one of the files was replaced."""
        found = [path.stat() for path in (self.certificate, self.key)]
        return tuple(number for each in found for number in (each.st_mtime_ns, each.st_ino, each.st_size))


def server_credentials(files: CertificateFiles) -> grpc.ServerCredentials:
    """Credentials that follow the files; BadCertificate when they are no good to begin with."""
    stamp, current = _load(files)

    def renewed() -> grpc.ServerCertificateConfiguration | None:
        """A new pair, or nothing when the last one is still the one to use."""
        nonlocal stamp
        try:
            if files.stamp() == stamp:
                return None
            stamp, configuration = _load(files)
        except (BadCertificate, OSError) as error:
            _log.warning("the certificate files changed, but cannot be used yet", reason=str(error))
            return None
        return configuration

    return grpc.dynamic_ssl_server_credentials(
        current,
        renewed,  # type: ignore[arg-type]  # None means "unchanged"; the stubs do not know
        require_client_authentication=False,
    )


def _load(files: CertificateFiles) -> tuple[tuple[int, ...], grpc.ServerCertificateConfiguration]:
    try:
        stamp = files.stamp()
        # gRPC takes anything and fails at the first handshake; OpenSSL says at once whether the two fit.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
        pair = (files.key.read_bytes(), files.certificate.read_bytes())
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise BadCertificate(
            f"{files.certificate} and {files.key} are no certificate with its key: {reason}"
        ) from error
    return stamp, grpc.ssl_server_certificate_configuration([pair])
