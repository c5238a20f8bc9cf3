"""Every error that aclkit raises on purpose, one class per cause, each with its exit code.

A message says what was expected, what was found, where, and where it helps the next step.
Bad rows of a source are data, not errors: they go to the table ``acl_reject``.
"""

from __future__ import annotations

from typing import ClassVar


class AclkitError(Exception):
    """Base of all errors of aclkit; ``exit_code`` is what the command line ends with."""

    exit_code: ClassVar[int] = 4


class UsageError(AclkitError):
    """The request makes no sense: bad principal, host, resource, offset, SQL or file name."""

    exit_code = 2


class DataError(AclkitError):
    """The data is unusable or incomplete: wrong kind, no segments, holes, other cluster."""

    exit_code = 3


class SurroundingsError(AclkitError):
    """What aclkit runs on is at fault: Java, disk, permissions, the lock."""

    exit_code = 4


class DamagedError(SurroundingsError):
    """A file of the warehouse's own tables is missing or cannot be read."""


class GoneError(SurroundingsError):
    """A file that was listed is there no more: its owner has removed or renamed it."""


def first_line(error: BaseException) -> str:
    """Return the first line that an error says; of one that says nothing its kind."""
    lines = map(str.strip, str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)
