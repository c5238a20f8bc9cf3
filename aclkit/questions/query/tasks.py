"""What a client does (consume, produce, transact, streams) → the accesses that it needs. Pure.

Read from the requests that Kafka's own clients send (``decide.handlers``). ALLOW READ or WRITE
covers DESCRIBE, but a DENY of DESCRIBE still stops a client; so DESCRIBE is a need of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from aclkit.errors import UsageError
from aclkit.model.resource import CLUSTER_NAME, WORD_OF_TYPE, Resource
from aclkit.model.values import dataclass
from aclkit.rules.decide.handlers import AskedRequest, asked_request

CLUSTER: Final = Resource("CLUSTER", CLUSTER_NAME)


@dataclass(frozen=True, slots=True)
class Need:
    """One access that is asked about.

    Attributes:
        operation: Kafka's name of it.
        resource: what it is done to.
        sent: the request that it is needed for, where another access would do instead.
        is_prefix: it is needed on every name that starts with that of the resource.
    """

    operation: str
    resource: Resource
    sent: AskedRequest | None = None
    is_prefix: bool = False

    def __str__(self) -> str:
        """Write the access as people do."""
        name = f"{self.resource}* (every name)" if self.is_prefix else str(self.resource)
        return f"{self.operation} on {name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """The options of a task.

    Attributes:
        group: the consumer group.
        transactional_id: of a transactional producer.
        idempotent: the producer is idempotent.
        exactly_once: Kafka Streams runs with exactly_once_v2.
    """

    group: str | None = None
    transactional_id: str | None = None
    idempotent: bool = False
    exactly_once: bool = False

    def refuse_but(self, task: str | None, *names: str) -> None:
        """Refuse options that mean nothing to a task; None stands for no task.

        Raises:
            UsageError: one of them is given.
        """
        for name in (name for name in self.__slots__ if name not in names):
            if getattr(self, name):
                option = f"--{name.replace('_', '-')}"
                wrong = f"does not go with {task}" if task else f"needs a task: {', '.join(_TASKS)}"
                raise UsageError(f"{option} {wrong}.")


def needs_of(task: str, resource: Resource, options: TaskOptions) -> list[Need]:
    """Return the accesses that a task needs.

    Raises:
        UsageError: it is about another resource type, or an option means nothing to it.
    """
    found = _TASKS[task]
    if resource.resource_type not in found.types:
        forms = " or ".join(f"{WORD_OF_TYPE[kind]}:NAME" for kind in found.types)
        raise UsageError(f"{task} takes {forms}, not {str(resource)!r}.")
    options.refuse_but(task, *found.options)
    return list(dict.fromkeys(found.needs(resource, options)))


def covers_of(task: str, options: TaskOptions) -> Iterator[str]:
    """Yield what the needs of a task leave out, in sentences."""
    if task == "consume" and options.group is None:
        yield "A consumer with a group also needs READ on that group. Pass --group NAME."
    if task == "produce" and not options.idempotent:
        yield "Java producers are idempotent since Kafka 3.0. Pass --idempotent to check that too."
    if options.idempotent:
        yield "Brokers before Kafka 2.8 need IDEMPOTENT_WRITE on the cluster for that."
    if task == "streams":
        yield (
            "This covers the group, the internal topics and, with --exactly-once, the "
            "transactional ids. Check input topics with consume and output topics with produce."
        )


def _consume(resource: Resource, options: TaskOptions) -> Iterator[Need]:
    yield from _each(resource, "DESCRIBE", "READ")
    if options.group is not None:
        yield from _each(Resource("GROUP", options.group), "DESCRIBE", "READ")


def _produce(resource: Resource, options: TaskOptions) -> Iterator[Need]:
    yield from _each(resource, "DESCRIBE", "WRITE")
    if options.transactional_id is not None:
        yield from _transactional(options.transactional_id)
    if options.idempotent:
        sent = asked_request("InitProducerId", "CLUSTER")
        yield Need(sent.operation, CLUSTER, sent)


def _transact(resource: Resource, options: TaskOptions) -> Iterator[Need]:
    if resource.resource_type == "TOPIC":
        if options.transactional_id is None:
            raise UsageError("transact on a topic needs --transactional-id ID.")
        yield from _each(resource, "DESCRIBE", "WRITE")
        yield from _transactional(options.transactional_id)
    else:
        yield from _transactional(resource.resource_name)
    if options.group is not None:  # offsets are committed in the transaction
        yield from _each(Resource("GROUP", options.group), "READ")


def _streams(resource: Resource, options: TaskOptions) -> Iterator[Need]:
    """Yield the needs of an application, whose id is the name of its group.

    Its internal topics and its transactional ids are called ``APPID-…``.
    """
    yield from _each(resource, "DESCRIBE", "READ")
    internal = f"{resource.resource_name}-"
    topics = Resource("TOPIC", internal)
    create = asked_request("CreateTopics", "TOPIC")
    yield Need("CREATE", topics, create, is_prefix=True)
    for operation in ("DELETE", "DESCRIBE", "READ", "WRITE"):
        yield Need(operation, topics, is_prefix=True)
    if options.exactly_once:
        for operation in ("DESCRIBE", "WRITE"):
            yield Need(operation, Resource("TRANSACTIONAL_ID", internal), is_prefix=True)


def _transactional(name: str) -> Iterator[Need]:
    return _each(Resource("TRANSACTIONAL_ID", name), "DESCRIBE", "WRITE")


def _each(resource: Resource, *operations: str) -> Iterator[Need]:
    return (Need(operation, resource) for operation in operations)


@dataclass(frozen=True, slots=True)
class _Task:
    types: tuple[str, ...]
    options: tuple[str, ...]
    needs: Callable[[Resource, TaskOptions], Iterator[Need]]


_TASKS: Final[Mapping[str, _Task]] = {
    "consume": _Task(("TOPIC",), ("group",), _consume),
    "produce": _Task(("TOPIC",), ("transactional_id", "idempotent"), _produce),
    "transact": _Task(("TOPIC", "TRANSACTIONAL_ID"), ("transactional_id", "group"), _transact),
    "streams": _Task(("GROUP",), ("exactly_once",), _streams),
}
TASKS: Final = tuple(_TASKS)
"""The tasks by name."""
