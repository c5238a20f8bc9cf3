"""Certificates, keys and stores, made when they are asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@cache
def authority(name):
    """Return (key, certificate) of an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key, _sign(name, key, name, key, is_ca=True)


@cache
def identity(name):
    """Return (key, certificate) of a server or client that the authority vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    return key, _sign(name, key, "ca", authority("ca")[0], is_ca=False)


def _sign(subject, key, issuer, issuer_key, *, is_ca):
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
    )
    return builder.sign(issuer_key, hashes.SHA256())


def pem(certificate):
    return certificate.public_bytes(Encoding.PEM).decode()


def pem_key(key, password=None):
    how = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode()


def key_store(name, password):
    key, certificate = identity(name)
    how = BestAvailableEncryption(password.encode())
    return pkcs12.serialize_key_and_certificates(
        name.encode(), key, certificate, [authority("ca")[1]], how
    )


def trust_store(password, ca="ca"):
    how = BestAvailableEncryption(password.encode())
    return pkcs12.serialize_java_truststore(
        [pkcs12.PKCS12Certificate(authority(ca)[1], b"ca")], how
    )
