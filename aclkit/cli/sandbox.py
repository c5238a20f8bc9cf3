"""A question → its answer from a process that can be stopped at any moment and writes nothing.

The process is ``aclkit.cli.sandbox_worker``. It reads the question from its standard input, which
stays open as long as the asking process waits. It writes the answer to its standard output, or the
reason why there is none to standard error.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import IO, Any, Final, cast

from aclkit import errors
from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.model.values import dataclass
from aclkit.runtime.child import SAFE_PATH, module_path, python_module
from aclkit.runtime.deadline import Deadline
from aclkit.warehouse.location import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQuestion:
    """What is asked of a warehouse, and how the rows are to be written.

    ``layout`` has the fields of a ``Layout``. With ``has_count`` the number of rows comes last.
    ``tables`` and ``sockets`` are those of ``byte_range_proxy.offered``, for a warehouse in a
    bucket.
    """

    warehouse: str | None
    statement: str
    output_format: str
    columns: Sequence[str] = ()
    layout: Mapping[str, Any] = field(default_factory=dict)
    has_count: bool = False
    tables: str | None = None
    sockets: Sequence[int] = ()


def answer(
    question: SqlQuestion, seconds: float, is_wanted: Callable[[], bool] = lambda: True
) -> Generator[str]:
    """Yield the answer as text while it comes.

    Args:
        question: for DuckDB.
        seconds: how long it may take. The time in which the caller does not ask for more does not
            count: a pager may stay open.
        is_wanted: whether anybody still waits; else the process is ended as if it took too long.

    Raises:
        AclkitError: there is no answer, or it ends early.
        UsageError: it took too long, or too much memory.
    """
    deadline = Deadline(seconds)
    decode = codecs.getincrementaldecoder("utf-8")("surrogatepass").decode
    with (
        _reached(question) as reached,
        _answering(reached) as child,
        selectors.DefaultSelector() as waiting,
    ):
        stdout, stderr = cast("IO[bytes]", child.stdout), cast("IO[bytes]", child.stderr)
        waiting.register(stdout, selectors.EVENT_READ)
        waiting.register(stderr, selectors.EVENT_READ)
        told = b""
        while waiting.get_map():
            ready = waiting.select(min(deadline.left, _LONGEST_WAIT))
            if deadline.is_over or not is_wanted():
                raise too_long(seconds)
            for key, _ in ready:
                found = os.read(key.fd, _CHUNK)
                if not found:
                    waiting.unregister(key.fileobj)
                elif key.fileobj is stderr:
                    told += found
                else:
                    with deadline.paused():
                        yield decode(found)
        _tell(child.wait(), told.decode(errors="replace").strip())


def too_long(seconds: float) -> UsageError:
    """Return the error of a question that took longer than it may."""
    return UsageError(
        f"The statement took longer than {seconds:g} s. Ask for less, or pass a larger --timeout."
    )


_CHUNK: Final = 65_536
_LONGEST_WAIT: Final = 0.5
"""Seconds after which a thread that waits asks whether anybody still wants the answer."""


@contextlib.contextmanager
def _reached(question: SqlQuestion) -> Iterator[SqlQuestion]:
    """Yield a question with all that the process needs: it reaches this machine alone."""
    if question.warehouse is None or not Location(question.warehouse).is_remote:
        yield question
        return
    # Here, so that a question to a local disk waits in the process alone.
    from aclkit.warehouse.byte_range_proxy import offered
    from aclkit.warehouse.duck import find_tables
    from aclkit.warehouse.published import open_warehouse

    with offered(find_tables(open_warehouse(question.warehouse))) as (tables, sockets):
        yield replace(question, tables=tables, sockets=sockets)


@contextlib.contextmanager
def _answering(question: SqlQuestion) -> Iterator[subprocess.Popen[bytes]]:
    """Start the process, and see to it that it ends."""
    child = subprocess.Popen(  # noqa: S603 - this very Python, and a module of ours
        python_module(_CHILD),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Else what a dead process has not read would break the pipe once more on closing, and a
        # broken pipe means further up that the reader of the answer left.
        bufsize=0,
        env=_environment(),
        pass_fds=question.sockets,
        # Ctrl-C is for us: we stop it.
        process_group=0,
    )
    with child:
        try:
            _send(cast("IO[bytes]", child.stdin), question)
            yield child
        finally:
            child.kill()


def _send(stdin: IO[bytes], question: SqlQuestion) -> None:
    """Write the question; a process that has ended reports its reason on standard error."""
    rest = memoryview(json.dumps(asdict(question)).encode() + b"\n")
    with contextlib.suppress(BrokenPipeError):
        while rest:
            rest = rest[stdin.write(rest) :]


_CHILD: Final = "aclkit.cli.sandbox_worker"


def _environment() -> dict[str, str]:
    """Return the variables of our environment that Python needs: others may hold secrets.

    Modules come from where ours came from, except the current working directory.
    """
    kept = {key: text for key, text in os.environ.items() if key.startswith(_KEPT)}
    return kept | SAFE_PATH | {"PYTHONPATH": module_path()}


_KEPT: Final = ("PYTHON", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_")


def _tell(code: int, told: str) -> None:
    """Raise the reason why there is no answer, or no more of it; else print the messages."""
    last = told.splitlines()[-1] if told else ""
    if code == 0:
        if told:
            sys.stderr.write(f"{told}\n")
        return
    if code == EXPLAINED:
        name, message = json.loads(last)
        error: type[AclkitError] = getattr(errors, name)
        raise error(message)
    if code < 0:
        last = f"it was ended ({signal.strsignal(-code)}) {last}".rstrip()
    raise SurroundingsError(f"the process that answers failed: {last or f'exit code {code}'}")


EXPLAINED: Final = 3
"""Exit code of the process if its last words are an error's class and message, as JSON."""
