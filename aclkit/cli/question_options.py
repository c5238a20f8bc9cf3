"""Names of a question that are not known → a warning, or a usage error instead of an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from aclkit.cli.completers import complete_principal
from aclkit.cli.context import Context, format_option, kept, retired_engine_option
from aclkit.cli.options import together
from aclkit.cli.output import tell
from aclkit.cli.suggestions import looks_like_name
from aclkit.errors import UsageError
from aclkit.questions.query.names import Unknown, not_known, unknown_note

known_only_option: Callable[[Callable[..., Any]], Callable[..., Any]] = kept(
    "--known-only", "Exit with code 2 if a name does not exist.", is_flag=True
)


question_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    known_only_option, retired_engine_option, format_option, click.pass_obj
)
"""What every question about an access takes."""


principal_argument: Callable[[Callable[..., Any]], Callable[..., Any]] = click.argument(
    "principal", shell_complete=complete_principal
)
"""Whose access a question is about; see ``taken_principal``."""


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
