"""What a command prints: lines of an answer on stdout, and messages about them on stderr."""

from __future__ import annotations

import os
import select
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Final, TextIO

import click

from aclkit.answer.document import Row
from aclkit.answer.render import render_rows
from aclkit.answer.text import broken
from aclkit.model.visible import visible

_LONGEST_MESSAGE: Final = 2_000
_LEAST_WIDTH: Final = 20


def tell(message: str) -> None:
    """Print a message for a person on stderr: in one line, whatever names stand in it.

    On a terminal it breaks at blanks, and the lines that follow are indented, so that none looks
    like another message.
    """
    first, *rest = broken(visible(message), _stderr_width())
    click.echo("\n  ".join([first, *rest]), err=True)


def _stderr_width() -> int | None:
    """Return the width for messages on a terminal, None where stderr is no terminal."""
    if not sys.stderr.isatty():
        return None
    return max(shutil.get_terminal_size().columns - 2, _LEAST_WIDTH)


def tell_all(messages: Iterable[str]) -> None:
    """Print several messages on stderr, a line each."""
    for message in messages:
        tell(message)


def tell_error(error: Exception) -> None:
    """Print why a command ends; further lines are indented, so that none looks like another's."""
    message = str(error)
    if len(message) > _LONGEST_MESSAGE:
        message = f"{message[:_LONGEST_MESSAGE]} … ({len(message):,} characters)"
    click.echo("Error: " + "\n  ".join(map(visible, message.split("\n"))), err=True)


def write_rows(
    columns: Sequence[str], rows: Iterable[Row], output_format: str, stream: TextIO
) -> None:
    """Write rows in one of ``answer.render.FORMATS``."""
    write_lines(render_rows(columns, rows, output_format), stream)


def write_lines(lines: Iterable[str], stream: TextIO) -> None:
    """Write lines; a reader that closes its end early (``| head``) is no error."""
    try:
        for line in lines:
            stream.write(line)
        stream.flush()
    except BrokenPipeError:
        _close(stream)


def flush_output() -> None:
    """Flush stdout and stderr now: Python would do so at its very end, and print any error.

    An error of writing was either reported at the write, or no reader is left.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # closed by who started this
                stream.flush()
        except OSError:
            _close(stream)


def is_unread() -> bool:
    """Whether the reader of stdout or stderr has gone."""
    asked = select.poll()
    for descriptor in (1, 2):
        asked.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _close(stream: TextIO) -> None:
    """Send what is left in a buffer nowhere: it would fail again when Python exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
