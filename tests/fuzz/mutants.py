"""Sound inputs → the same with one thing changed, from a seed.

``ACLKIT_FUZZ=N`` has each test try N times as many as an ordinary run.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kafka.record.util import calc_crc32c

from tests.cli.running import split_batches

SEED = 20261122


def rounds(default: int) -> int:
    """How many mutants a test tries."""
    return default * int(os.environ.get("ACLKIT_FUZZ", "1"))


def each(name: str, default: int) -> Iterator[random.Random]:
    """A source of chance for each mutant, the same in every run."""
    for number in range(rounds(default)):
        yield random.Random(f"{SEED}/{name}/{number}")


FIELDS = {
    "base offset": (0, ">q"),
    "length": (8, ">i"),
    "epoch": (12, ">i"),
    "magic": (16, ">b"),
    "crc": (17, ">i"),
    "attributes": (21, ">h"),
    "last offset delta": (23, ">i"),
    "first timestamp": (27, ">q"),
    "max timestamp": (35, ">q"),
    "producer id": (43, ">q"),
    "producer epoch": (51, ">h"),
    "base sequence": (53, ">i"),
    "count": (57, ">i"),
}
"""A batch's header: where each field stands, and how it is written."""


@dataclass(frozen=True, slots=True)
class Lie:
    """A segment of which one batch's header lies; its CRC is right.

    Attributes:
        data: the segment.
        fields: what was changed.
        first: the first offset that the batch really holds.
        stop: the offset behind its last.
        is_last: no batch follows it in the segment.
    """

    data: bytes
    fields: tuple[str, ...]
    first: int
    stop: int
    is_last: bool


def lie(segment: bytes, rng: random.Random) -> Lie:
    """Change a field or two of one batch's header, and make its CRC right again."""
    batches = list(split_batches(segment))
    at = rng.choice([0, 1, len(batches) - 2, len(batches) - 1, *range(len(batches))])
    at = max(0, min(at, len(batches) - 1))
    first, own = batches[at]
    before = b"".join(content for _, content in batches[:at])
    behind = b"".join(content for _, content in batches[at + 1 :])
    fields = rng.choice([("last offset delta", "count"), *((name,) for name in FIELDS)])
    changed = bytearray(own + behind)
    number = 0
    for field in fields:
        offset, form = FIELDS[field]
        (true,) = struct.unpack_from(form, changed, offset)
        number = _other(true, form, rng) if field != "count" or len(fields) == 1 else number + 1
        struct.pack_into(form, changed, offset, _wrapped(number, form))
    if fields != ("crc",):
        end = _end(changed, len(own))
        struct.pack_into(">I", changed, 17, calc_crc32c(memoryview(changed)[21:end]))
    stop = first + struct.unpack_from(">i", own, 23)[0] + 1
    return Lie(before + bytes(changed), fields, first, stop, at == len(batches) - 1)


def _end(batch: bytearray, true: int) -> int:
    """Where the batch ends by its own word, if it can be so."""
    said = struct.unpack_from(">i", batch, 8)[0] + 12
    return said if 61 <= said <= len(batch) else true


def _other(true: int, form: str, rng: random.Random) -> int:
    bits = 8 * struct.calcsize(form)
    near = [true + step for step in (-2, -1, 1, 2, 3, 10, 100, 1_000_000)]
    far = [0, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), rng.getrandbits(bits)]
    flipped = [true ^ 1 << rng.randrange(bits) for _ in range(4)]
    return rng.choice([number for number in (*near, *far, *flipped) if number != true])


def _wrapped(number: int, form: str) -> int:
    bits = 8 * struct.calcsize(form)
    return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Change, cut out, double or insert some bytes."""
    start = rng.randrange(len(data))
    stop = min(len(data), start + rng.choice([1, 2, 8, 61, 500]))
    garbage = rng.choice([rng.randbytes(stop - start), bytes(stop - start), data[:61]])
    return rng.choice(
        [
            data[:start],
            data[:start] + data[stop:],
            data[:stop] + data[start:],
            data[:start] + garbage + data[stop:],
            data[:start] + garbage + data[start:],
        ]
    )


def edited(text: str, rng: random.Random) -> str:
    """Change a text as tools, terminals and editors do, or worse."""
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    line = lines[at]
    cut = rng.randrange(len(line) + 1)
    words = line.split(" ")
    word = rng.randrange(len(words))
    odd = rng.choice(
        ["", "\0", "-1", "9" * 25, "{", '"', "null", "[" * 3_000, "\ud800", "é", "1e9"]
    )
    lines[at] = rng.choice(
        [
            "",
            line[:cut],
            line + line,
            line[:cut] + odd + line[cut:],
            line[:cut] + "\n" + line[cut:],
            line.upper(),
            " ".join([*words[:word], odd, *words[word + 1 :]]),
            "WARN something else was said here\n" + line,
            rng.choice(lines),
            line.replace("\n", "\r\n"),
        ]
    )
    return "".join(lines)
