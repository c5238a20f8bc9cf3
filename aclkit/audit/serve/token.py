"""A file, or nothing → the token in force, which a change of the file replaces at once."""

from __future__ import annotations

import logging
import secrets
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from aclkit.audit.serve.auth import LEAST_TOKEN, TOKEN_LETTERS
from aclkit.errors import AclkitError, UsageError
from aclkit.runtime.safe_read import read_text

_LOOK_EVERY: Final = 1.0
"""Seconds between two looks at the file."""

_log = logging.getLogger(__name__)


class TokenFile:
    """The token of a file. While the file holds none, there is one that no user knows."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Read the file.

        Raises:
            UsageError: there is none, the token is too short, it does not end, or others may read
                it.
        """
        self._path, self._clock = path, clock
        self._seen = _state(path)
        self._token = read_token(path)
        self._looked_at = clock()

    def __call__(self) -> str:
        """Return the token; a pipe gave its own once and for all."""
        if self._seen is not None and self._clock() - self._looked_at >= _LOOK_EVERY:
            self._looked_at = self._clock()
            if (seen := _state(self._path)) != self._seen:
                self._seen = seen or ()
                self._read_again()
        return self._token

    def _read_again(self) -> None:
        try:
            self._token = read_token(self._path)
            _log.warning("The token has changed. All sessions have ended.")
        except UsageError as error:
            self._token = secrets.token_urlsafe(32)
            _log.warning(
                "warning: The token file holds no valid token, so all are refused. %s", error
            )


def read_token(path: str) -> str:
    """Read a token that others cannot.

    Raises:
        UsageError: there is none, it is too short, it does not end, or others may read it.
    """
    try:
        mode, text = Path(path).stat().st_mode, read_text(path).strip()
    except (OSError, AclkitError) as error:
        raise UsageError(f"Cannot read the token from {path}: {error}") from None
    if stat.S_IMODE(mode) & (stat.S_IROTH | stat.S_IWOTH):
        raise UsageError(f"Other users can read the token in {path}. Run: chmod o= {path}")
    if len(text) < LEAST_TOKEN or not TOKEN_LETTERS.issuperset(text):
        raise UsageError(
            f"Invalid token in {path}. It needs at least {LEAST_TOKEN} letters, digits, - and _. "
            "Make one: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return text


def _state(path: str) -> tuple[int, ...] | None:
    """Return what changes with a file's content; None where it is no regular file."""
    try:
        found = Path(path).stat()
    except OSError:
        return ()
    is_file = stat.S_ISREG(found.st_mode)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode) if is_file else None
