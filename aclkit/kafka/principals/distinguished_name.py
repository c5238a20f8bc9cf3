"""The text of an X.500 name ↔ its parts, after RFC 2253, as Java writes it for a broker.

Source: RFC 2253 and X500Principal.getName(): no spaces around separators, the types that the RFC
knows in upper case, values escaped with a backslash; other types as object identifiers with encoded
values. Read is also what older tools write: spaces, ``;`` for ``,``, quoted
values, and a backslash with two hexadecimal digits for a byte of UTF-8.

Source of the types: sun.security.x509.AVA and AVAKeyword. Java writes the nine types of RFC 2253 by
keyword and their values as text. Every other type it writes as its object identifier, and the value
as ``#`` and the hexadecimal digits of its DER: ``serialNumber=4711`` is ``2.5.4.5=#130434373131``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
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


_TYPE: Final = re.compile(r"\s*(?:(?:OID|oid)\.)?([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*")
_SPECIAL: Final = ',=+<>#;"\\'
_SEPARATORS: Final = ",;+"
_BLANKS: Final = " \r"
_ENCODED: Final = re.compile(r"#(?:[0-9A-Fa-f]{2})+")
_BYTES: Final = re.compile(r"(?:\\[0-9A-Fa-f]{2})+")


@dataclass(frozen=True, slots=True)
class NameAttribute:
    """One attribute of a name.

    Attributes:
        attribute_type: a keyword of RFC 2253, or an object identifier.
        value: unescaped.
        is_joined: it belongs to the same level as the part before (``+``).
        is_encoded: the value is ``#`` and the hexadecimal digits of its DER.
    """

    attribute_type: str
    value: str
    is_joined: bool = False
    is_encoded: bool = False


def parse_name(text: str) -> tuple[NameAttribute, ...]:
    r"""Read a distinguished name as Java does, the most specific part first.

    Raises:
        UsageError: it is none, or has an attribute type that Java does not know.

    >>> [(part.attribute_type, part.value) for part in parse_name(r"cn=Doe\, Jane, OU=ops")]
    [('CN', 'Doe, Jane'), ('OU', 'ops')]
    >>> render_name(parse_name("serialNumber=4711,CN=device-7"))
    '2.5.4.5=#130434373131,CN=device-7'
    """
    parts: list[NameAttribute] = []
    at, before = 0, ","
    while before:
        found = _TYPE.match(text, at)
        if found is None:
            raise _bad(text, at, "type=value, for example CN=alice,OU=ops")
        at = found.end()
        read = (
            _encoded
            if text.startswith("#", at)
            else _quoted
            if text[at : at + 1] == '"'
            else _plain
        )
        value, at = read(text, at)
        at += len(text[at:]) - len(text[at:].lstrip(" "))
        after = text[at : at + 1]
        if after and after not in _SEPARATORS:
            raise _bad(text, at, "',' or '+' or the end")
        kind, is_encoded = standard_type(found[1]), read is _encoded
        parts.append(_attribute(kind, value, is_joined=before == "+", is_encoded=is_encoded))
        at, before = at + 1, after
    return tuple(parts)


def render_name(parts: Iterable[NameAttribute]) -> str:
    r"""Write a name as Java does.

    >>> render_name([NameAttribute("CN", "Doe, Jane"), NameAttribute("OU", "#1")])
    'CN=Doe\\, Jane,OU=\\#1'
    """
    text = ""
    for part in parts:
        separator = "" if not text else "+" if part.is_joined else ","
        text += f"{separator}{part.attribute_type}="
        text += part.value if part.is_encoded else escape(part.value)
    return text


def escape(value: str) -> str:
    """Write a value so that it can stand in a name, each blank at its ends escaped."""
    escaped = "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in value)
    core = escaped.strip(_BLANKS)
    before, _, after = escaped.partition(core) if core else (escaped, "", "")
    return f"{_each_escaped(before)}{core}{_each_escaped(after)}".replace("\0", "\\00")


def _each_escaped(blanks: str) -> str:
    return "".join(f"\\{blank}" for blank in blanks)


def _attribute(kind: str, value: str, *, is_joined: bool, is_encoded: bool) -> NameAttribute:
    """Return a part as Java keeps it: the types of RFC 2253 as text, all others encoded."""
    if kind not in KEYWORDS:
        value, is_encoded = value if is_encoded else encode(kind, value), True
    elif is_encoded:
        text = decode(value)
        value, is_encoded = (value, True) if text is None else (text, False)
    return NameAttribute(kind, value, is_joined, is_encoded)


def _encoded(text: str, at: int) -> tuple[str, int]:
    found = _ENCODED.match(text, at)
    if found is None or not is_der(found[0]):
        raise _bad(text, at, "the hexadecimal digits of a DER value after #")
    return found[0].lower(), found.end()


def _quoted(text: str, at: int) -> tuple[str, int]:
    value, at = "", at + 1
    while text[at : at + 1] != '"':
        if at >= len(text):
            raise _bad(text, at, "a closing quotation mark")
        letters, at = _letters(text, at)
        value += letters
    return value, at + 1


def _plain(text: str, at: int) -> tuple[str, int]:
    """Read a value up to a separator, without the spaces in front of that."""
    value, spaces = "", ""
    while at < len(text) and text[at] not in _SEPARATORS:
        if text[at] == " ":
            spaces, at = spaces + " ", at + 1
            continue
        letters, at = _letters(text, at)
        value, spaces = value + spaces + letters, ""
    return value, at


def _letters(text: str, at: int) -> tuple[str, int]:
    """Read one letter, or what a backslash and the letters after it stand for."""
    if text[at] != "\\":
        return text[at], at + 1
    encoded = _BYTES.match(text, at)
    if encoded is not None:
        try:
            return bytes.fromhex(encoded[0].replace("\\", "")).decode(), encoded.end()
        except UnicodeDecodeError:
            raise _bad(text, at, "bytes of UTF-8 after backslashes") from None
    if at + 1 == len(text):
        raise _bad(text, at, "a character after the backslash")
    return text[at + 1], at + 2


def _bad(text: str, at: int, expected: str) -> UsageError:
    return UsageError(
        f"Invalid distinguished name {text!r}: expected {expected}, at character {at}"
    )
