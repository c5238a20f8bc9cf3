"""JVMs with Kafka's authorizer that stay for who asks next: to start one takes a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aclkit.kafka.verify.kafka import Jvm, start_jvm


@dataclass(frozen=True, slots=True)
class KeptJvms:
    """At most one JVM for each class path; use it with ``with``, which ends them all."""

    _started: dict[tuple[Path, ...], Jvm] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> KeptJvms:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def start_jvm(self, class_path: Sequence[Path]) -> Iterator[Jvm]:
        """Give the JVM of a class path, in place of one of its own; nobody else may have it.

        One that was killed, or has ended, gives way to a new one.
        """
        key = tuple(class_path)
        if key not in self._started or self._started[key].process.poll() is not None:
            self._started[key] = self._stack.enter_context(start_jvm(class_path))
        yield self._started[key]
