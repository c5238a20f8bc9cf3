"""Attribute types and values of X.500 names, as Java 17 knows them: keyword ↔ OID, text ↔ DER.

Source: sun.security.x509.AVA and AVAKeyword. Java writes the nine types of RFC 2253 by keyword and
their values as text. Every other type it writes as its object identifier, and the value as ``#``
and the hexadecimal digits of its DER: ``serialNumber=4711`` is ``2.5.4.5=#130434373131``.
"""

from __future__ import annotations

import re
from typing import Final

from aclkit.errors import UsageError

KEYWORDS: Final = ("CN", "C", "O", "OU", "L", "ST", "STREET", "DC", "UID")
"""The attribute types of RFC 2253."""

_STANDARD: Final = {
    "CN": "2.5.4.3",
    "C": "2.5.4.6",
    "O": "2.5.4.10",
    "OU": "2.5.4.11",
    "L": "2.5.4.7",
    "ST": "2.5.4.8",
    "STREET": "2.5.4.9",
    "DC": "0.9.2342.19200300.100.1.25",
    "UID": "0.9.2342.19200300.100.1.1",
}
_FURTHER: Final = {
    "EMAILADDRESS": "1.2.840.113549.1.9.1",
    "SERIALNUMBER": "2.5.4.5",
    "T": "2.5.4.12",
    "SURNAME": "2.5.4.4",
    "GIVENNAME": "2.5.4.42",
    "INITIALS": "2.5.4.43",
    "GENERATION": "2.5.4.44",
    "DNQUALIFIER": "2.5.4.46",
    "IP": "1.3.6.1.4.1.42.2.11.2.1",
}
_ALIASES: Final = {"S": "ST", "EMAIL": "EMAILADDRESS", "DNQ": "DNQUALIFIER"}
_OF_KEYWORD: Final = _STANDARD | _FURTHER
_OF_OID: Final = {oid: name for name, oid in _OF_KEYWORD.items()}

_EMAIL: Final = _FURTHER["EMAILADDRESS"]

_PRINTABLE: Final = re.compile(r"[A-Za-z0-9 '()+,./:=?-]*")
_UTF8, _PRINTABLE_STRING, _IA5 = 0x0C, 0x13, 0x16
_TEXTS: Final = (_UTF8, _PRINTABLE_STRING, 0x14, _IA5, 0x1B, 0x1E)
"""Tags of DER that Java takes for a text; it reads the bytes of each of them as UTF-8."""


def standard_type(attribute_type: str) -> str:
    """Return a type as Java writes it: a keyword of RFC 2253 where it is one, else its OID.

    Raises:
        UsageError: Java knows no such keyword, so no broker has such a name.

    >>> [standard_type(text) for text in ("cn", "2.5.4.3", "serialNumber", "2.5.4.97")]
    ['CN', 'CN', '2.5.4.5', '2.5.4.97']
    """
    upper = attribute_type.upper()
    upper = _ALIASES.get(upper, upper)
    oid = attribute_type if attribute_type[:1].isdigit() else _OF_KEYWORD.get(upper)
    if oid is None:
        raise UsageError(
            f"Java does not know the attribute type {attribute_type!r}. Write its object "
            "identifier, for example 2.5.4.97=#…, as the broker's log shows the name."
        )
    known = _OF_OID.get(oid, oid)
    return known if known in KEYWORDS else oid


def readable_type(attribute_type: str) -> str:
    """Return the keyword of an object identifier where Java knows one.

    >>> readable_type("2.5.4.5")
    'SERIALNUMBER'
    """
    return _OF_OID.get(attribute_type, attribute_type)


def encode(attribute_type: str, value: str) -> str:
    """Write a text as Java encodes it: ``#`` and the DER in hexadecimal digits.

    >>> encode("2.5.4.5", "4711")
    '#130434373131'
    """
    if attribute_type == _EMAIL and value:
        # An IA5String, in which Java puts a question mark for each letter beyond ASCII.
        tag, data = _IA5, value.encode("ascii", "replace")
    else:
        tag = _PRINTABLE_STRING if _PRINTABLE.fullmatch(value) else _UTF8
        data = value.encode()
    return f"#{bytes((tag, *_length(len(data)))).hex()}{data.hex()}"


def decode(encoded: str) -> str | None:
    """Read ``#`` and the hexadecimal digits of DER; None where Java takes the value for no text.

    >>> decode("#130434373131")
    '4711'
    """
    tag, content = _parts(bytes.fromhex(encoded[1:]))
    return content.decode("utf-8", "replace") if tag in _TEXTS and content is not None else None


def is_der(encoded: str) -> bool:
    """Whether ``#`` and hexadecimal digits are one value: tag, length and as many bytes."""
    return _parts(bytes.fromhex(encoded[1:]))[1] is not None


def _length(length: int) -> bytes:
    """Write a length as DER does: one byte up to 127, else the number of bytes and these."""
    if length < 0x80:
        return bytes((length,))
    data = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes((0x80 | len(data), *data))


def _parts(data: bytes) -> tuple[int, bytes | None]:
    """Return the tag and the content; None where its length is not that of the rest."""
    if len(data) < 2:
        return 0, None
    start, length = 2, data[1]
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start], "big")
    return data[0], data[start:] if len(data) - start == length else None
