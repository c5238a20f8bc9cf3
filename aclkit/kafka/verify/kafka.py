"""ACLs and requests → what Kafka's StandardAuthorizer itself answers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError, UsageError
from aclkit.kafka.verify import wire
from aclkit.kafka.verify.answer import Reply, distinct
from aclkit.kafka.verify.jvm import Jvm, StalledError, start_jvm
from aclkit.model.acl import Acl, Request
from aclkit.model.semantics import BrokerSettings

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
