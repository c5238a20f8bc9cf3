"""What all fuzzers share: how many mutants, how they are made, and how each must end.

A seed and a number make the same mutant every time. ``ACLKIT_FUZZ=N`` takes N times as many.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aclkit.errors import AclkitError
from aclkit.model.visible import visible

TIMES = int(os.environ.get("ACLKIT_FUZZ", "1"))
CPU_SECONDS = 20
"""Of the processor, for one mutant: far more than any takes on a busy machine."""

PIECES = (
    *(bytes([code]) for code in (0, 9, 10, 13, 127, 128, 195, 255)),
    *(mark.encode() for mark in "\"',;.=:#[]{}\\"),
    b'""', b"'''", b'"""', b"\r\n", b"\\u0000", b"\\ud800", b"\\n", b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xff\xfe", b"[" * 50, b"{" * 50, b".a" * 40, b"9" * 400, b"0x" + b"f" * 40, b"-1", b"1e999",
    b"NaN", b"inf", b"nan", b"null", b"true", b"9223372036854775808", b"2026-13-45", b"a" * 300,
    b"10000-01-01",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63 - 1, -(2**63), 1e308, float("inf"), float("nan"),
    "", " ", "a", "*", "User:*", "\0", "\n", "a\nError: b", "\u202e", "😀", "é", "a" * 5_000,
    "9" * 500, "2026-13-45", "..", "/dev/null",
    [], {}, [[]], [None], {"": ""}, {"a\nb": 1}, [{}], [[[[["x"]]]]],
)  # fmt: skip


class Mutants:
    """A source of chance with the mutations that the fuzzers need."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def bytes_of(self, data: bytes) -> bytes:
        """Change some bytes: flipped, put in, taken out, doubled, cut off."""
        mutant = bytearray(data)
        for _ in range(self.chance.choice((1, 1, 2, 3, 8))):
            at, size = self._place(mutant)
            how = self.chance.randrange(7)
            if how == 0:
                mutant[at:at] = self.chance.choice(PIECES)
            elif how == 1:
                mutant[at : at + size] = self.chance.choice(PIECES)
            elif how == 2:
                mutant[at : at + 1] = bytes([self.chance.randrange(256)])
            elif how == 3:
                del mutant[at : at + size]
            elif how == 4:
                mutant[at:at] = mutant[at : at + size] * self.chance.choice((1, 2, 50))
            elif how == 5:
                other, more = self._place(mutant)
                mutant[at:at] = mutant[other : other + more]
            else:
                del mutant[at if self.chance.random() < 0.1 else len(mutant) - size // 4 :]
        return bytes(mutant)

    def value_of(self, value: Any) -> Any:
        """Change one place of nested lists and objects: another value, key, none, or twice."""
        if self.chance.random() < 0.3 or not value or not isinstance(value, dict | list):
            return self.chance.choice(VALUES)
        if isinstance(value, list):
            at = self.chance.randrange(len(value))
            one = [self.value_of(value[at])] * self.chance.choice((0, 1, 1, 1, 2))
            return [*value[:at], *one, *value[at + 1 :]]
        key = self.chance.choice(list(value))
        rest = {name: kept for name, kept in value.items() if name != key}
        how = self.chance.randrange(5)
        if how == 0:
            return rest
        if how == 1:
            return {
                self.chance.choice(["", "a\nb", key.upper(), f" {key}", "é"]): value[key],
                **rest,
            }
        return {**rest, key: self.value_of(value[key])}

    def _place(self, data: bytearray) -> tuple[int, int]:
        return self.chance.randrange(len(data) + 1), self.chance.choice((1, 2, 4, 16, 64))


def rounds(seed: str, count: int) -> Iterator[Mutants]:
    """Yield what each round draws from; a failure names its round."""
    for number in range(count * TIMES):
        with noted(f"round {number} of {seed!r}"):
            yield Mutants(f"{seed} {number}")


@contextmanager
def noted(note: str) -> Iterator[None]:
    """Put a note to whatever fails."""
    try:
        yield
    except BaseException as error:
        error.add_note(note)
        raise


def ends_well(
    call: Callable[[], object], shown: object, secret: str | None = None, *, tells_all: bool = False
) -> int:
    """Insist that a call ends as a command does: fine, or with one clear line and code 2 or 3.

    Args:
        call: what reads the mutant.
        shown: the mutant, for the message of a failure.
        secret: what must stand in no message.
        tells_all: a message has a line for each thing that is wrong.
    """
    with noted(f"mutant: {shown!r:.3000}"), _limited():
        try:
            call()
        except AclkitError as error:
            for line in str(error).split("\n") if tells_all else [str(error)]:
                check_message(line, error.exit_code, secret)
            return error.exit_code
    return 0


def check_message(message: str, code: int, secret: str | None = None) -> None:
    """Insist on one line, and on an exit code that speaks of what was given."""
    assert code in (0, 2, 3), message
    told = visible(message)
    assert "\n" not in message.strip(), told
    assert "Traceback" not in told
    assert secret is None or secret not in told, told


@contextmanager
def _limited() -> Iterator[None]:
    """Raise where one mutant takes more time of the processor than any needs."""

    def too_long(*_: object) -> None:
        raise AssertionError(f"more than {CPU_SECONDS} s")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
