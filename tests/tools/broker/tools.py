"""A class of Kafka's tools and its words → what it writes, in one JVM for all of them."""

from __future__ import annotations

import os
import select
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.tools.broker.server import Broker, BrokerError, java

ACLS: Final = "org.apache.kafka.tools.AclCommand"
CONFIGS: Final = "kafka.admin.ConfigCommand"
TOPICS: Final = "org.apache.kafka.tools.TopicCommand"

_LOOP: Final = Path(__file__).with_name("CommandLoop.java")
_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Tools:
    """A JVM that runs Kafka's own commands, one after the other."""

    process: subprocess.Popen[bytes]

    def acls(self, broker: Broker, *arguments: str) -> str:
        """What ``kafka-acls`` writes, asked as the super user ANONYMOUS."""
        return self.run(ACLS, "--bootstrap-server", broker.address(), *arguments)

    def run(self, main: str, *arguments: str, seconds: float = _SECONDS) -> str:
        """What a command writes to stdout and stderr.

        Raises:
            BrokerError: it ended with another code than 0, or took too long.
        """
        code, text = self.call(main, *arguments, seconds=seconds)
        if code:
            raise BrokerError(f"{main} {' '.join(arguments)} ended with {code}:\n{text}")
        return text

    def call(self, main: str, *arguments: str, seconds: float = _SECONDS) -> tuple[int, str]:
        """The exit code of a command, and what it writes."""
        words = [word.encode() for word in (main, *arguments)]
        message = struct.pack(">i", len(words))
        message += b"".join(struct.pack(">i", len(word)) + word for word in words)
        assert self.process.stdin
        self.process.stdin.write(message)
        self.process.stdin.flush()
        end = time.monotonic() + seconds
        code, size = struct.unpack(">ii", self._read(8, end))
        return code, self._read(size, end).decode()

    def _read(self, size: int, end: float) -> bytes:
        assert self.process.stdout
        data = b""
        while len(data) < size:
            left = end - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, left))
            part = os.read(self.process.stdout.fileno(), size - len(data)) if ready else b""
            if not part:
                raise BrokerError("the JVM with Kafka's tools ended, or took too long")
            data += part
        return data


@contextmanager
def start_tools() -> Iterator[Tools]:
    """Start the JVM; afterwards nothing of it is left."""
    command = java("org.codehaus.janino.SimpleCompiler", str(_LOOP), "CommandLoop")
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    )
    try:
        yield Tools(process)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
