"""A class path → a JVM that runs the loop: messages in, replies out, killed when it stalls.

It stalls when it makes no headway: it does not read what it is sent, does not reply, and writes
no answer either.
"""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import IO, Final, cast

from aclkit.errors import SurroundingsError
from aclkit.runtime import child
from aclkit.runtime.environment import require_java
from aclkit.runtime.scratch import scratch

MAIN: Final = "StandardAuthorizerLoop"

_COMPILER: Final = "org.codehaus.janino.SimpleCompiler"
"""Janino's own launcher: it compiles a source in memory and runs its main."""

_OPTIONS: Final = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dfile.encoding=UTF-8")
_POLL: Final = 0.2
_LAST_LINES: Final = 8


class StalledError(Exception):
    """The JVM made no headway and was killed."""


@contextmanager
def start_jvm(class_path: Sequence[Path]) -> Iterator[Jvm]:
    """Start a JVM that runs the loop; afterwards nothing of it is left.

    Raises:
        SurroundingsError: no usable Java.
    """
    java = require_java()
    with tempfile.TemporaryDirectory(prefix="verify-", dir=scratch()) as name:
        folder = Path(name)
        source = folder / f"{MAIN}.java"
        source.write_bytes(files("aclkit.kafka.verify").joinpath(source.name).read_bytes())
        path = os.pathsep.join(map(str, class_path))
        program = [_COMPILER, str(source), MAIN, str(folder / _ANSWERS)]
        with (folder / _STDERR).open("wb") as stderr:
            process = child.start(
                [str(java), *_OPTIONS, f"-Djava.io.tmpdir={folder}", "-cp", path, *program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
            )
        stdin, stdout = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        os.set_blocking(stdin.fileno(), False)
        jvm = Jvm(process, stdin, stdout, folder)
        try:
            yield jvm
        finally:
            jvm.kill()


@dataclass(frozen=True, slots=True)
class Jvm:
    """A running JVM, its pipes, and the folder with its answers and its stderr."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    folder: Path

    def exchange(self, message: bytes, size: int, patience: float) -> bytes:
        """Send a message and return the reply.

        Args:
            message: what the loop reads.
            size: how many bytes the reply has.
            patience: after so many seconds without headway the JVM is killed.

        Raises:
            StalledError: there was no headway; ``answers`` still tells how far it came.
            SurroundingsError: the JVM ended by itself.
        """
        (self.folder / _ANSWERS).write_bytes(b"")
        unsent, reply = memoryview(message), b""
        written, since = 0, time.monotonic()
        while unsent or len(reply) < size:
            to_read, to_write, _ = select.select(
                [self.stdout], [self.stdin] if unsent else [], [], _POLL
            )
            if to_write:
                unsent = unsent[self._send(unsent) :]
            if to_read:
                reply += self._receive(size - len(reply))
            before, written = written, (self.folder / _ANSWERS).stat().st_size
            if to_read or to_write or written > before:
                since = time.monotonic()
            elif time.monotonic() - since > patience:
                self.kill()
                raise StalledError
        return reply

    def answers(self) -> bytes:
        """Return the answers to the last message, as far as they were given."""
        return (self.folder / _ANSWERS).read_bytes()

    def kill(self) -> None:
        """End the JVM at once."""
        child.end(self.process)
        self.stdout.close()

    def _send(self, message: memoryview) -> int:
        try:
            return os.write(self.stdin.fileno(), message)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise self._ended() from None

    def _receive(self, size: int) -> bytes:
        data = os.read(self.stdout.fileno(), size)
        if not data:
            raise self._ended()
        return data

    def _ended(self) -> SurroundingsError:
        """Return the error of a JVM that ended by itself, with its output."""
        self.kill()
        lines = (self.folder / _STDERR).read_text(errors="replace").splitlines()
        told = [line for line in lines if not line.startswith("SLF4J")][:_LAST_LINES]
        said = "\n".join(told) or "it printed nothing"
        return SurroundingsError(f"The JVM with Kafka's authorizer ended unexpectedly:\n{said}")


_ANSWERS: Final = "answers"
_STDERR: Final = "stderr"
