"""Every error that aclkit raises on purpose, one class per cause, each with its exit code.

A message names what is wrong, what is valid, where, and the next step if there is one. It begins
with a capital letter, unless with a name or an option.
Bad rows of a source are data, not errors: they go to the table ``acl_reject``.
"""

from __future__ import annotations

from typing import ClassVar


class AclkitError(Exception):
    """Base of all errors of aclkit; ``exit_code`` is what the command line ends with."""

    exit_code: ClassVar[int] = 4


class UsageError(AclkitError):
    """A usage error: invalid principal, host, resource, offset, SQL or file name."""

    exit_code = 2


class DataError(AclkitError):
    """The data is unusable or incomplete: wrong kind, no segments, holes, other cluster."""

    exit_code = 3


class SurroundingsError(AclkitError):
    """An environment error: Java, disk, permissions, the lock."""

    exit_code = 4


class DamagedError(SurroundingsError):
    """A file of the warehouse's own tables is missing or cannot be read."""


class UnnotedError(SurroundingsError):
    """What was sent cannot be noted, so it can be sent again."""


class GoneError(SurroundingsError):
    """A listed file no longer exists: its owner has removed or renamed it."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error; its kind if it has no text."""
    lines = map(str.strip, str(error).splitlines())
    return next(filter(None, lines), type(error).__name__)
