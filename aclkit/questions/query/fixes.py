"""An ACL that would allow an access → how it is proposed: when, and what else it makes. Pure.

``why``, ``can`` and ``denials`` propose ACLs in these words.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from aclkit.kafka.acls.command import command_of, options_of, with_operations
from aclkit.model.acl import Acl, acl_words
from aclkit.model.cluster_rights import instead_of, makes_of_client
from aclkit.model.values import dataclass


@dataclass(frozen=True, slots=True)
class Fix:
    """What would allow an access.

    Attributes:
        acls: the ACLs that it takes; they differ in their host.
        words: when to use it, and before that what it makes of the client.
        command: the command that adds them; None where kafka-acls cannot.
    """

    acls: tuple[Acl, ...]
    words: str
    command: str | None


def fixes_of(alternatives: Sequence[Sequence[Acl]], *, is_choice: bool = False) -> list[Fix]:
    """Return the ways to allow an access, of which one is enough.

    Args:
        alternatives: of each way the ACLs that it takes, which differ in their host.
        is_choice: one way that is left is not for all clients either.
    """
    is_choice = is_choice or len(alternatives) > 1
    return [
        Fix(tuple(acls), _when_words(acls[0], is_choice=is_choice), _command(acls))
        for acls in alternatives
    ]


def next_deny_words(deny: Acl) -> str:
    """Write that an ALLOW alone does not let a client work."""
    return f"{acl_words(deny)} stops what the client needs next"


def instead_words(alternatives: Sequence[Sequence[Acl]], requests: Collection[str]) -> str | None:
    """Write what to do in place of an ACL that makes an administrator or a broker of a client.

    Args:
        alternatives: as for ``fixes_of``.
        requests: Kafka's names of the requests that need the access.
    """
    return next(filter(None, (instead_of(acls[0], requests) for acls in alternatives)), None)


def _when_words(acl: Acl, *, is_choice: bool) -> str:
    if warning := makes_of_client(acl):
        return f"{warning} To allow it all the same"
    return f"To allow it, if the client {_USES[acl.operation]}" if is_choice else "To allow it"


_USES: Final = {"READ": "reads the topic", "WRITE": "writes to the topic"}


def _command(acls: Sequence[Acl]) -> str | None:
    options = options_of(acls[0])
    if options is None:
        return None
    hosts = tuple(acl.host for acl in acls if acl.host != "*")
    return command_of(
        "add", with_operations(replace(options, allow_host=hosts), [acls[0].operation])
    )


def fix_line(fix: Fix) -> str:
    """Write a fix in one line."""
    return f"{fix.words}: {fix.command or ' and '.join(map(acl_words, fix.acls))}"
