"""Real certificates of gateways, as cert-manager would issue them from what we compose."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_PEM, _PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, in PEM."""

    certificate: str
    key: str


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@dataclass(frozen=True)
class Signer:
    """An authority of one gateway. One that is `renewed` has the same key and name, and another certificate."""

    name: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    days: int = 3650

    @property
    def certificate(self) -> str:
        subject = _name(self.name)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_now() - _DAY)
            .not_valid_after(_now() + self.days * _DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        return made.public_bytes(_PEM).decode()

    def renewed(self) -> Signer:
        return Signer(self.name, self.key, self.days + 1)

    def issue(self, uri: str, *hosts: str, expired: bool = False) -> Pair:
        """Return a certificate for an identity and host names, like those of `render.certificates`."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(uri), *(x509.DNSName(host) for host in hosts)]
        usage = ExtendedKeyUsageOID.SERVER_AUTH if hosts else ExtendedKeyUsageOID.CLIENT_AUTH
        made = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(_name(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_now() - 30 * _DAY)
            .not_valid_after(_now() + (-1 if expired else 365) * _DAY)
            .add_extension(x509.SubjectAlternativeName(names), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        private = key.private_bytes(_PEM, _PKCS8, serialization.NoEncryption())
        return Pair(made.public_bytes(_PEM).decode(), private.decode())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
