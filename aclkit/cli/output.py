"""What a command prints: an answer on stdout or into a file, and messages about it on stderr.

Each is written in letters that the stream can encode. Text for people is escaped, as ``\\xe9``, and
JSON by its own escapes, as ``\\u00e9``. What other programs read byte by byte (CSV, JSON lines,
scripts, unchanged names) is UTF-8 in any locale.
"""

from __future__ import annotations

import codecs
import json
import os
import select
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, TextIO

import click

from aclkit.model.visible import visible

if TYPE_CHECKING:
    from aclkit.answer.document import Row
    from aclkit.answer.text import Layout

# What writes answers, to stdout or a file, is imported late: help and completion need none of it.

Reader = Literal["people", "json", "programs"]
"""For whom lines are: people, those who read JSON, or programs that expect UTF-8."""

PEOPLE: Final = "people"
JSON_READERS: Final = "json"
PROGRAMS: Final = "programs"

_ESCAPED: Final = "backslashreplace"
_ESCAPED_JSON: Final = "aclkit.json"
_ASCII: Final = "aclkit_ascii"


_READERS: Final[Mapping[str, Reader]] = {
    "table": PEOPLE,
    "markdown": PEOPLE,
    "json": JSON_READERS,
    "sarif": JSON_READERS,
}


def reader_of(form: str) -> Reader:
    """Return for whom a format is; what is not listed here is for programs.

    >>> reader_of("markdown"), reader_of("csv")
    ('people', 'programs')
    """
    return _READERS.get(form, PROGRAMS)


def escape_streams() -> None:
    """Let stdout and stderr escape what they cannot encode: Python would raise an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=_ASCII if is_ascii else None, errors=_ESCAPED)


@contextmanager
def written_for(reader: Reader, stream: TextIO) -> Iterator[None]:
    """Let a stream take lines for somebody; afterwards it is as before."""
    if not isinstance(stream, TextIOWrapper):
        yield
        return
    encoding, errors = stream.encoding, stream.errors
    stream.reconfigure(
        encoding="utf-8" if reader == PROGRAMS else encoding,
        errors=_ESCAPED_JSON if reader == JSON_READERS else _ESCAPED,
    )
    try:
        yield
    finally:
        stream.reconfigure(encoding=encoding, errors=errors)


def encodable(text: str, stream: TextIO) -> str:
    """Return a text for people with escapes for what a stream cannot encode."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, _ESCAPED).decode(encoding)


def _escape_json(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _find_ascii(name: str) -> codecs.CodecInfo | None:
    """Return ASCII under a name of ours: click writes UTF-8 where it sees ASCII's own."""
    if name != _ASCII:
        return None
    own = codecs.lookup("ascii")
    return codecs.CodecInfo(
        own.encode,
        own.decode,
        own.streamreader,
        own.streamwriter,
        own.incrementalencoder,
        own.incrementaldecoder,
        name=_ASCII,
    )


codecs.register_error(_ESCAPED_JSON, _escape_json)
codecs.register(_find_ascii)


_LONGEST_MESSAGE: Final = 2_000
_LEAST_WIDTH: Final = 20


def tell(message: str) -> None:
    """Print a message for a person on stderr: in one line, whatever names stand in it.

    On a terminal it breaks at blanks, and the lines that follow are indented, so that none looks
    like another message.
    """
    text, width = visible(message), _stderr_width()
    if width is not None:
        from aclkit.answer.text import broken

        text = "\n  ".join(broken(text, width))
    click.echo(text, err=True)


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
    """Write rows in one of ``answer.formats.FORMATS``."""
    from aclkit.answer.render import render_rows

    write_lines(render_rows(columns, rows, output_format), stream, reader_of(output_format))


def write_lines(lines: Iterable[str], stream: TextIO, reader: Reader = PEOPLE) -> None:
    """Write lines; a reader that closes its end early (``| head``) is no error."""
    try:
        with written_for(reader, stream):
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


_MOST_WIDTH: Final = 10_000


def layout_of(output: str | None, *, is_wide: bool, has_limit: bool = True) -> Layout:
    """Return how tables are laid out for who reads them.

    Into a file or a pipe each row is one line, for ``grep``, and all rows are written;
    ``COLUMNS`` in the environment has the last word on the width. Colour is for terminals, and
    not where ``NO_COLOR`` is set.
    """
    from aclkit.answer.text import MOST_LINES, Layout

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


def deliver(
    lines: Iterable[str], output: str | None, reader: Reader = PEOPLE, *, may_page: bool
) -> None:
    """Write lines where they were asked for.

    Args:
        lines: with their ends.
        output: a file, which is there as a whole or not at all; stdout if not given.
        reader: for whom they are.
        may_page: for people, so that a terminal shows them page by page.
    """
    if output is not None:
        from aclkit.runtime.atomic_file import open_atomically

        with open_atomically(output) as file:
            write_lines(lines, file, reader)
    elif may_page and sys.stdin.isatty() and sys.stdout.isatty():
        _show(lines)
    else:
        write_lines(lines, sys.stdout, reader)


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
                click.echo_via_pager(encodable(line, sys.stdout) for line in chain(found, rest))
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
