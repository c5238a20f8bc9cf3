"""``ssl.*`` of a client's configuration → Python's TLS context.

Source: org.apache.kafka.common.security.ssl.DefaultSslEngineFactory. Stores are PEM, in files or
in the configuration itself, or PKCS12. Java's own JKS is read by nothing but Java; a file of the
type JKS that is PKCS12 is read, as Java does.
"""

from __future__ import annotations

import re
import shlex
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)

from aclkit.errors import AclkitError, UsageError
from aclkit.runtime.safe_read import read_file

_PEM: Final = re.compile(r"-{2,}BEGIN ([A-Z0-9 ]{1,60})-{2,}([^-]*)-{2,}END \1-{2,}")
_JAVA_ONLY: Final = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_MOST: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class _Identity:
    """What a client shows: its private key, its certificate, and those that vouch for it."""

    key: PrivateKeyTypes
    chain: Sequence[x509.Certificate]


def tls_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Make the context that a configuration asks for; without a truststore the system's holds.

    Raises:
        UsageError: a store that cannot be used, or an invalid value. The message
            quotes no password and no key.
    """
    trusted = _trusted(properties)
    context = ssl.create_default_context(
        cadata=None if trusted is None else "\n".join(map(_as_pem, trusted))
    )
    identity = _identity(properties)
    if identity is not None:
        _present(context, identity)
    _set_versions(context, properties)
    algorithm = properties.get("ssl.endpoint.identification.algorithm", "https")
    if algorithm.lower() not in ("https", ""):
        raise UsageError("ssl.endpoint.identification.algorithm: expected https or nothing")
    context.check_hostname = algorithm != ""
    return context


def _trusted(properties: Mapping[str, str]) -> list[x509.Certificate] | None:
    """Read the certificates to trust; None where no truststore is named."""
    where = "ssl.truststore.location"
    if inline := properties.get("ssl.truststore.certificates"):
        return _certificates("ssl.truststore.certificates", inline)
    path = properties.get(where)
    if not path:
        return None
    data = _read(where, path)
    kind = _kind("ssl.truststore.type", properties, path, data)
    if kind == "PEM":
        return _certificates(where, data.decode("latin-1"))
    store = _load_pkcs12(where, data, properties.get("ssl.truststore.password"))
    found = [held.certificate for held in [store.cert, *store.additional_certs] if held]
    if not found:
        raise UsageError(f"{where}: expected certificates in {path}, found none")
    return found


def _identity(properties: Mapping[str, str]) -> _Identity | None:
    """Read the client's key and certificate; None where there is no keystore."""
    password = properties.get("ssl.key.password")
    if inline := properties.get("ssl.keystore.key"):
        chain = properties.get("ssl.keystore.certificate.chain", "")
        return _identity_of_pem("ssl.keystore.key", inline + "\n" + chain, password)
    where = "ssl.keystore.location"
    path = properties.get(where)
    if not path:
        return None
    data = _read(where, path)
    kind = _kind("ssl.keystore.type", properties, path, data)
    if kind == "PEM":
        return _identity_of_pem(where, data.decode("latin-1"), password)
    store = _load_pkcs12(where, data, properties.get("ssl.keystore.password"))
    if store.key is None or store.cert is None:
        raise UsageError(f"{where}: expected a private key with its certificate in {path}")
    certificates = [held.certificate for held in [store.cert, *store.additional_certs]]
    return _Identity(store.key, certificates)


def _identity_of_pem(where: str, text: str, password: str | None) -> _Identity:
    keys = [block for block in _blocks(where, text) if block[0].endswith("PRIVATE KEY")]
    if len(keys) != 1:
        raise UsageError(f"{where}: expected one PEM private key, found {len(keys)}")
    label, body = keys[0]
    is_encrypted = label.startswith("ENCRYPTED")
    if is_encrypted and not password:
        raise UsageError(f"{where}: the private key is encrypted; expected ssl.key.password")
    try:
        key = load_pem_private_key(
            _block(label, body), (password or "").encode() if is_encrypted else None
        )
    except (ValueError, TypeError, UnsupportedAlgorithm):
        wrong = "; check ssl.key.password" if is_encrypted else ""
        raise UsageError(f"{where}: the private key cannot be read{wrong}") from None
    return _Identity(key, _certificates(where, text))


def _certificates(where: str, text: str) -> list[x509.Certificate]:
    """Read the certificates of a PEM text, its lines joined or not."""
    found = [block for block in _blocks(where, text) if block[0].endswith("CERTIFICATE")]
    try:
        read = [x509.load_pem_x509_certificate(_block("CERTIFICATE", body)) for _, body in found]
    except ValueError:
        raise UsageError(f"{where}: a PEM certificate cannot be read") from None
    if not read:
        raise UsageError(f"{where}: expected a PEM certificate, found none")
    return read


def _blocks(where: str, text: str) -> list[tuple[str, str]]:
    r"""Cut a PEM text into labels and bodies; line ends may be spaces, or written ``\n``."""
    blocks = _PEM.findall(text.replace("\\n", "\n"))
    if not blocks:
        raise UsageError(f"{where}: expected PEM, found no -----BEGIN …-----")
    return blocks


def _block(label: str, body: str) -> bytes:
    """Write a PEM block as OpenSSL reads it: 64 letters a line."""
    letters = "".join(body.split())
    lines = "\n".join(letters[at : at + 64] for at in range(0, len(letters), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n".encode()


def _as_pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _read(where: str, path: str) -> bytes:
    try:
        return read_file(path, _MOST)
    except AclkitError as error:
        raise UsageError(f"{where}: {error}") from None


def _kind(type_key: str, properties: Mapping[str, str], path: str, data: bytes) -> str:
    """Return how a store is read: PEM or PKCS12; with the type JKS, its default, by what it is."""
    kind = (properties.get(type_key) or "JKS").upper()
    if kind == "PEM":
        return kind
    if data.startswith(_JAVA_ONLY):
        target = f"{path.rsplit('.', 1)[0] if '.' in Path(path).name else path}.p12"
        java_type = "JKS" if data.startswith(_JAVA_ONLY[0]) else "JCEKS"
        raise UsageError(
            f"{type_key}: {path} is a {java_type} store, which only Java reads. Convert it "
            f"with: keytool -importkeystore -srckeystore {shlex.quote(path)} -srcstoretype "
            f"{java_type} -destkeystore {shlex.quote(target)} -deststoretype PKCS12. Then pass "
            f"{target} with {type_key}=PKCS12"
        )
    if kind not in ("JKS", "PKCS12"):
        raise UsageError(f"{type_key}: expected PEM or PKCS12, found {kind!r}")
    return "PKCS12"


def _load_pkcs12(where: str, data: bytes, password: str | None) -> pkcs12.PKCS12KeyAndCertificates:
    try:
        return pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = where.replace("location", "password")
        raise UsageError(f"{where}: not a PKCS12 store, or {key} is wrong") from None


def _present(context: ssl.SSLContext, identity: _Identity) -> None:
    """Give a context the client's key and certificates.

    Python's ssl reads them from a file only. The file exists for a moment, no other user can read
    it, and its key is encrypted with a password that is not kept.
    """
    password = token_hex(32)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "identity.pem"
        try:
            key = identity.key.private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password.encode())
            )
            file.touch(mode=0o600)
            file.write_bytes(key + "".join(map(_as_pem, identity.chain)).encode())
            context.load_cert_chain(file, password=password)
        except (OSError, ValueError, UnsupportedAlgorithm) as error:
            reason = getattr(error, "reason", None) or type(error).__name__
            raise UsageError(
                f"ssl.keystore: key and certificate cannot be used: {reason}"
            ) from None


def _set_versions(context: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    """Honour ``ssl.enabled.protocols``, and ``ssl.protocol`` as the highest."""
    given = properties.get("ssl.enabled.protocols", "")
    names = [name.strip() for name in given.split(",") if name.strip()]
    known = sorted(_VERSIONS[name] for name in names if name in _VERSIONS)
    if names and not known:
        raise UsageError(
            f"ssl.enabled.protocols: expected {' or '.join(_VERSIONS)}, found {given!r}"
        )
    context.minimum_version = known[0] if known else ssl.TLSVersion.TLSv1_2
    if known:
        context.maximum_version = known[-1]
    highest = properties.get("ssl.protocol", "TLSv1.3")
    if highest not in (*_VERSIONS, "TLS"):
        raise UsageError(f"ssl.protocol: expected {' or '.join(_VERSIONS)}, found {highest!r}")
    if highest == "TLSv1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
