"""Bytes at a position → a value of Kafka's messages, and where the next one begins.

Source: org.apache.kafka.common.protocol (ByteBufferAccessor, types). Whatever ends too early or is
no value at all is a ``ValueError`` that quotes no byte.
"""

from __future__ import annotations

from typing import Final

_LAST_SHIFT: Final = 28
"""Of the fifth and last byte of a number."""
_MORE: Final = 0x80
"""The bit that says that another byte follows."""


def read_number(value: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned varint: seven bits a byte, the lowest first.

    >>> read_number(bytes([0xAC, 0x02]), 0)
    (300, 2)

    Raises:
        ValueError: it ends after the end, or has more than five bytes.
    """
    number = shift = 0
    for place in range(at, len(value)):
        byte = value[place]
        if byte < _MORE:
            return number | byte << shift, place + 1
        if shift == _LAST_SHIFT:
            raise ValueError("a number has more than five bytes")
        number |= (byte - _MORE) << shift
        shift += 7
    raise ValueError("a number ends after the end of the record")


def read_integer(value: bytes, at: int, size: int) -> tuple[int, int]:
    """Read a signed number of so many bytes, the highest first.

    Raises:
        ValueError: it ends after the end.
    """
    end = at + size
    if end > len(value):
        raise ValueError("a number ends after the end of the record")
    return int.from_bytes(value[at:end], signed=True), end


def read_string(value: bytes, at: int) -> tuple[bytes, int]:
    """Read the bytes of a compact string: their number and one more stands before them.

    Raises:
        ValueError: it is null, or ends after the end.
    """
    size, start = read_number(value, at)
    end = start + size - 1
    if end < start:
        raise ValueError("a string is null")
    if end > len(value):
        raise ValueError("a string ends after the end of the record")
    return value[start:end], end


def skip_tags(value: bytes, at: int) -> int:
    """Pass over tagged fields, whatever they hold; return where the next field begins.

    Raises:
        ValueError: they end after the end.
    """
    tags, at = read_number(value, at)
    for _ in range(tags):
        _, at = read_number(value, at)
        size, at = read_number(value, at)
        at += size
        if at > len(value):
            raise ValueError("a tagged field ends after the end of the record")
    return at
