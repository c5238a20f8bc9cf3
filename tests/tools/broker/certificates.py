"""A folder → the certificates of an authority, of a broker on loopback and of a client, as PEM."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_Key = ec.EllipticCurvePrivateKey


def write_certificates(folder: Path, client: str = "client") -> None:
    """Write ``ca.pem``, and ``server.pem`` and ``client.pem`` with key and certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    ca = _sign(key, "aclkit test CA", key, None)
    (folder / "ca.pem").write_bytes(ca.public_bytes(Encoding.PEM))
    for file, name in (("server.pem", "localhost"), ("client.pem", client)):
        own = ec.generate_private_key(ec.SECP256R1())
        signed = _sign(own, name, key, ca)
        (folder / file).write_bytes(_pem(own) + signed.public_bytes(Encoding.PEM))


def _pem(key: _Key) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _sign(key: _Key, name: str, by: _Key, issuer: x509.Certificate | None) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer:
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(by, hashes.SHA256())
