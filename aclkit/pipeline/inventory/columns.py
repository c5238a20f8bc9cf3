"""The columns of a user's file, and its values → the names that are meant, and texts. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aclkit.errors import UsageError
from aclkit.runtime.notation import shown_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What a file of a kind is about.

    Attributes:
        names: the columns that name a thing; all others are attributes of it.
        are_needed: a file without them is refused.
    """

    names: tuple[str, ...]
    are_needed: bool = True

    def rename(self, written: Sequence[str], where: str) -> list[str]:
        """Return the columns of a file, the naming ones as they are known here.

        These are found in any case and between spaces, ``Principal``; attributes stay as they
        are written.

        Raises:
            UsageError: one is missing, or there twice.
        """
        renamed = [
            plain if (plain := name.strip().lower()) in self.names else name for name in written
        ]
        if len(set(renamed)) != len(renamed):
            raise UsageError(f"{where}: expected distinct column names, found {_listed(written)}")
        if self.are_needed and not set(self.names) <= set(renamed):
            wanted = ", ".join(self.names)
            raise UsageError(f"{where}: expected columns {wanted}, found {_listed(written)}")
        return renamed


def as_text(value: Any, *, is_name: bool = False) -> str | None:  # noqa: ANN401 -- whatever JSON or Arrow holds
    """Return a value as text: lists and objects as JSON, all else as it is written there.

    Args:
        value: of JSON or of an Arrow column.
        is_name: it names a thing; then lists, fractions and the like are refused, because their
            spelling is not defined.

    Raises:
        ValueError: bytes that are no UTF-8, or a name that is neither text nor a whole number.

    >>> as_text(7), as_text(["x"]), as_text(b"User:a", is_name=True)
    ('7', '["x"]', 'User:a')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return _decode(value)
    if is_name and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"expected a text, found {value!r}")
    if isinstance(value, _IN_JSON):
        return json.dumps(value, default=as_text, ensure_ascii=False)
    return str(value)


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"expected UTF-8, found other bytes: {value[:_SHOWN]!r}") from None


def _listed(names: Collection[str]) -> str:
    if any("\0" in name for name in names):
        return "NUL bytes; perhaps it is UTF-16. Save it as UTF-8."
    return ", ".join(map(shown_key, sorted(names))) or "none"


_IN_JSON: Final = (bool, int, float, list, tuple, dict)
_SHOWN: Final = 40
