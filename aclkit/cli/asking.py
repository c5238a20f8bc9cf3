"""What a question is told about names that no inventory knows → a warning, or no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from aclkit.cli.context import Context, engine_option, format_option, kept
from aclkit.cli.options import together
from aclkit.cli.output import tell
from aclkit.errors import UsageError
from aclkit.questions.query.names import Unknown, unknown_note

known_only_option: Callable[[Callable[..., Any]], Callable[..., Any]] = kept(
    "--known-only", "Exit code 2 where a name is in no inventory, and no answer.", is_flag=True
)


question_options: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    known_only_option, engine_option, format_option, click.pass_obj
)
"""What every question about an access takes."""


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
