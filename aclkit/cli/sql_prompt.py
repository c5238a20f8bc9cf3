"""A terminal → statements, one after the other, each with its answer, until Ctrl-D or ``.quit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Final

from aclkit.cli.output import tell, tell_all, tell_error
from aclkit.errors import AclkitError
from aclkit.runtime.signals import interruptible

READY: Final = "aclkit> "
MORE: Final = "   ...> "
HELP: Final = (
    "End a statement with ; or an empty line. Ctrl-C stops it, Ctrl-D leaves.",
    ".tables        List the tables and views.",
    ".schema TABLE  Show the columns of a table.",
    ".quit          Leave.",
)


def answer_all(ask: Callable[[str], None], read: Callable[[str], str] = input) -> None:
    """Read statements and answer them; after an error, print it and read the next statement.

    Args:
        ask: prints the answer of a statement.
        read: returns a line; its argument is the prompt.
    """
    with suppress(ImportError):
        import_module("readline")  # it gives ``input`` history and editing
    tell("Type SQL, or .help.")
    for text in _statements(read):
        try:
            statement = _of_command(text) if text.startswith(".") else text
            if statement is None:
                return
            if statement:
                ask(statement)
        except AclkitError as error:
            tell_error(error)
        except KeyboardInterrupt:
            tell("Stopped.")


def _of_command(text: str) -> str | None:
    """Return the statement that a command stands for, empty for none; None where it leaves."""
    command, *names = text.split(maxsplit=1)
    if command in (".quit", ".exit"):
        return None
    if command == ".tables":
        return "SHOW TABLES"
    if command == ".schema" and names:
        name = names[0].strip().rstrip(";").replace('"', '""')
        return f'DESCRIBE "{name}"'
    tell_all(HELP)
    return ""


def _statements(read: Callable[[str], str]) -> Iterator[str]:
    """Yield each statement, or command with a dot, until the input ends."""
    lines: list[str] = []
    while True:
        try:
            with interruptible():
                line = read(MORE if lines else READY)
        except KeyboardInterrupt:
            lines.clear()
            tell("")
            continue
        except EOFError:
            tell("")
            return
        lines.append(line)
        text = "\n".join(lines).strip()
        if not line.strip() or text.endswith(";") or (text.startswith(".") and len(lines) == 1):
            lines.clear()
            if text:
                yield text
