"""The lines of an answer → the terminal, page by page if they are many; a pipe; or a file."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Final

import click

from aclkit.answer.text import MOST_LINES, Layout
from aclkit.cli.output import write_lines
from aclkit.runtime.atomic_file import open_atomically

_LEAST_WIDTH: Final = 20
_MOST_WIDTH: Final = 10_000


def layout_of(output: str | None, *, is_wide: bool, has_limit: bool = True) -> Layout:
    """Return how tables are laid out for who reads them.

    Into a file or a pipe each row is one line, for ``grep``, and all rows are written;
    ``COLUMNS`` in the environment has the last word on the width. Colour is for terminals, and
    not where ``NO_COLOR`` is set.
    """
    is_read = output is None and is_terminal()
    given = os.environ.get("COLUMNS", "")
    width: int | None = None
    if output is None and given.isascii() and given.isdigit() and 0 < len(given) < _DIGITS:
        width = int(given) or None
    if width is None and is_read:
        width = shutil.get_terminal_size().columns
    return Layout(
        width=None if width is None else min(max(width, _LEAST_WIDTH), _MOST_WIDTH),
        has_colour=is_read and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        is_wide=is_wide,
        limit=MOST_LINES if is_read and has_limit and not is_wide else None,
    )


def is_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout.isatty()


_DIGITS: Final = 9


def deliver(lines: Iterable[str], output: str | None, *, may_page: bool) -> None:
    """Write lines where they were asked for.

    Args:
        lines: with their ends.
        output: a file, which is there as a whole or not at all; stdout if not given.
        may_page: for people, so that a terminal shows them page by page.
    """
    if output is not None:
        with open_atomically(output) as file:
            write_lines(lines, file)
    elif may_page and sys.stdin.isatty() and sys.stdout.isatty():
        _show(lines)
    else:
        write_lines(lines, sys.stdout)


def _show(lines: Iterable[str]) -> None:
    """Print lines on a terminal, through the pager where they are more than it shows at once."""
    height = shutil.get_terminal_size().lines - 1
    found, rest = [], iter(lines)
    number = 0
    for line in rest:
        found.append(line)
        number += line.count("\n")
        if number >= height:
            with _left_to_the_pager():
                click.echo_via_pager(chain(found, rest))
            return
    write_lines(found, sys.stdout)


@contextmanager
def _left_to_the_pager() -> Iterator[None]:
    """Ignore Ctrl-C meanwhile: a pager takes it for its own, and without us would be left alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
