"""What the questions about an access share: can, who-can, what-can, why, history and show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from aclkit.cli.context import Context, format_option, kept
from aclkit.cli.options import together
from aclkit.cli.output import tell
from aclkit.cli.suggestions import (
    check_order,
    looks_like_name,
    possible_resource,
)
from aclkit.errors import UsageError
from aclkit.model.resource import Resource
from aclkit.questions.arguments import History
from aclkit.questions.query.names import Unknown, not_known, unknown_note

question_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    kept("--known-only", "Exit with code 2 if a name does not exist.", is_flag=True),
    format_option,
    click.pass_obj,
)
"""What every question about an access takes."""


def taken_principal(text: str, *, quiet: bool = False) -> str:
    """Return the principal that a person means; note that a word without a type became a user.

    No ACL and no client has a principal without a colon, so the word can mean nothing else. A word
    that is an operation or a resource is no principal: then the words are in the wrong order.
    """
    if not 0 < len(text) <= _LONGEST_NAME or not looks_like_name(text):
        return text
    if not quiet:
        tell(f"Taking {text!r} as User:{text}.")
    return f"User:{text}"


_LONGEST_NAME: Final = 1_000


def tell_unknown(context: Context, unknown: Sequence[Unknown]) -> None:
    """Warn about unknown names.

    Raises:
        UsageError: only known names are accepted.
    """
    if not unknown:
        return
    if context.known_only:
        raise UsageError(f"{not_known(unknown)} --known-only accepts only known names.")
    tell(f"warning: {unknown_note(unknown)}")


def resource_of(command: str, asked: History) -> Resource:
    """Read the resource that an access is about, the words being in their order."""
    principal, resource = asked.principal, asked.resource
    check_order(command, principal=principal, operation=asked.operation, resource=resource)
    return possible_resource(resource, asked.operation)
