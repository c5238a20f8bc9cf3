"""What a question is told about names that no inventory knows → a warning, or no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aclkit.cli.context import Context, keep
from aclkit.cli.options import option
from aclkit.cli.output import tell
from aclkit.errors import UsageError
from aclkit.questions.query.names import Unknown, unknown_note

known_only_option: Callable[[Callable[..., Any]], Callable[..., Any]] = option(
    "--known-only",
    is_flag=True,
    expose_value=False,
    callback=keep,
    help="Exit code 2 where a name is in no inventory, and no answer.",
)


def tell_unknown(context: Context, unknown: Sequence[Unknown]) -> None:
    """Warn of names that nobody knows.

    Raises:
        UsageError: only known ones may be asked about.
    """
    if not unknown:
        return
    note = unknown_note(unknown)
    if context.known_only:
        raise UsageError(f"{note.partition(';')[0]}; --known-only takes none such")
    tell(f"warning: {note}")
