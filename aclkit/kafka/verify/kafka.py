"""ACLs and requests → what Kafka's StandardAuthorizer itself answers, in a JVM of its own.

The JVM runs a loop, messages in, replies out, and is killed when it stalls. It stalls when it makes
no headway: it does not read what it is sent, does not reply, and writes no answer either.
"""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import IO, Final, cast

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.verify import wire
from aclkit.kafka.verify.wire import Reply, distinct
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import BrokerSettings
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
        lines = (self.folder / _STDERR).read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line for line in lines if not line.startswith("SLF4J")][:_LAST_LINES]
        said = "\n".join(told) or "it printed nothing"
        return SurroundingsError(f"The JVM with Kafka's authorizer ended unexpectedly:\n{said}")


_ANSWERS: Final = "answers"
_STDERR: Final = "stderr"


PATIENCE: Final = 30.0
"""Seconds without an answer after which Kafka is taken to hang."""

BATCH: Final = 10_000
"""Requests that are sent at a time."""

_PATIENCE_TO_LOAD: Final = 120.0


@dataclass(slots=True)
class Kafka:
    """Kafka's authorizer in a JVM of its own. Use it with ``with``, and ``load`` first.

    Attributes:
        class_path: see ``verify.jars``.
        patience: after so many seconds without an answer the JVM is killed.
    """

    class_path: Sequence[Path]
    patience: float = PATIENCE
    _acls: list[Acl] = field(default_factory=list)
    _settings: BrokerSettings = field(default_factory=BrokerSettings)
    _texts: wire.TextNumbers = field(default_factory=wire.TextNumbers)
    _jvm: Jvm | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Kafka:
        """Promise to end the JVM; it is started when ACLs are loaded."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the JVM."""
        self._stop()

    def load(self, acls: Sequence[Acl], settings: BrokerSettings) -> None:
        """Give Kafka its configuration and all ACLs, in place of those before.

        Raises:
            SurroundingsError: Kafka does not come up.
        """
        self._acls, self._settings = distinct(acls), settings
        self._load()

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return Kafka's answers, one for each request.

        What Kafka throws, or that it hangs, is an answer too; of the latter the JVM is killed
        and another one goes on with the next request.
        """
        answers: list[Reply] = []
        while len(answers) < len(requests):
            answers += self._ask(requests[len(answers) : len(answers) + BATCH])
        return answers

    def _ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Ask a batch; where Kafka hangs, that is the last answer."""
        jvm = self._running()
        message = wire.encode_ask(requests, self._texts)
        try:
            jvm.exchange(message, len(wire.ASKED), self.patience)
        except StalledError:
            answers = list(wire.decode_answers(jvm.answers(), self._acls))
            hangs = Reply(None, f"hangs: no answer within {self.patience:g} s")
            return [*answers, hangs][: len(requests)]
        return list(wire.decode_answers(jvm.answers(), self._acls))

    def _load(self) -> None:
        if self._jvm is None or self._jvm.process.poll() is not None:
            self._stop()
            self._jvm = self._stack.enter_context(start_jvm(self.class_path))
        self._texts = wire.TextNumbers()
        message = wire.encode_load(self._acls, self._settings, self._texts)
        try:
            self._jvm.exchange(message, len(wire.LOADED), max(self.patience, _PATIENCE_TO_LOAD))
        except StalledError:
            raise SurroundingsError(
                f"Kafka did not load {len(self._acls):,} ACLs within {_PATIENCE_TO_LOAD:g} s"
            ) from None

    def _running(self) -> Jvm:
        """Return the JVM, or another one with the same ACLs where Kafka hung in it."""
        # Known without a check, because it was killed; one that ended by itself is reported.
        if self._jvm is not None and self._jvm.process.returncode is not None:
            self._load()
        if self._jvm is None:
            raise UsageError("expected ACLs to be loaded before a request is made")
        return self._jvm

    def _stop(self) -> None:
        self._stack.close()
        self._jvm = None
