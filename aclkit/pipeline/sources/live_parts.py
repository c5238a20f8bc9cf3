"""Other answers of brokers than ACLs → rows of a listing, the brokers' settings, missing parts.

Source: KIP-554 (SCRAM users), KIP-518 and KIP-848 (groups), KIP-664 (transactions), KIP-48
(tokens), KIP-226 (configurations), KIP-584 (features), KIP-896 (versions of requests that 4.0
removed), and kafka.server.KafkaApis of Kafka 4.1 for the right that each of them takes.
Iterations, salts and HMACs are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from kafka import errors as kafka_errors

from aclkit.kafka.client.connection import Untyped
from aclkit.model import facts
from aclkit.model.broker_settings import BROKER_KEYS, BrokerConfig
from aclkit.model.brokers import NOT_TOLD
from aclkit.pipeline.sources.listing import (
    GROUPS,
    TOKENS,
    TOPICS,
    TRANSACTIONAL_IDS,
    USERS,
    Listing,
)
from aclkit.pipeline.sources.payload import mechanism_of, uuid_text

Answer = Untyped
"""A message of kafka-python, or a text with the reason why there is none; None was not asked."""


@dataclass(slots=True, kw_only=True)
class NodeAnswers:
    """The answers of one broker; ``problem`` is the reason why it could not be asked at all."""

    node_id: int
    address: str
    cluster_id: str | None = None
    problem: str = ""
    versions: Answer = None
    configs: Answer = None
    groups: Answer = None
    transactions: Answer = None
    log_dirs: Answer = None


@dataclass(slots=True, kw_only=True)
class Parts:
    """What the cluster answered."""

    metadata: Any
    users: Answer = None
    tokens: Answer = None
    nodes: list[NodeAnswers] = field(default_factory=list)


def tell_parts(parts: Parts, source: str) -> Listing:
    """Return the other parts than the ACLs; a part of which any answer is missing is incomplete."""
    rows: list[facts.SourceRow] = []
    told: set[str] = set()
    notes: list[str] = []
    for part, read in _READERS.items():
        reading = _Reading(source)
        read(parts, reading)
        rows += reading.rows
        if reading.lacks:
            read_so_far = "read only in part" if reading.rows else "not read"
            why = "; ".join(reading.lacks[:3])
            notes.append(f"{part}: {read_so_far} ({why}). What was known before stays.")
        else:
            told.add(part)
        notes += reading.notes
    brokers, config_notes = _broker_configs(parts)
    version, version_notes = _metadata_version(parts)
    rows += _registrations(parts, version, source)
    return Listing(
        rows=tuple(dict.fromkeys(rows)),
        told=frozenset(told),
        brokers=brokers,
        metadata_version=version,
        notes=(*notes, *_partly(told), *config_notes, *version_notes),
    )


@dataclass(slots=True)
class _Reading:
    """What is read of one part: its rows, and what lacks."""

    source: str
    rows: list[facts.SourceRow] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, record_type: str, **columns: Untyped) -> None:
        self.rows.append(_row(self.source, record_type, **columns))

    def answer(self, answer: Answer, node: NodeAnswers | None = None) -> Untyped:
        """Return an answer that is one; else note what lacks."""
        where = f"broker {node.node_id}: " if node else ""
        why = (node.problem if node else "") or _problem_of(answer)
        if why:
            self.lacks.append(f"{where}{why}")
            return None
        return answer

    def answers(self, parts: Parts, name: str) -> Iterator[Any]:
        """Yield the answers of all brokers that gave one to the question of that name."""
        for node in parts.nodes:
            if (answer := self.answer(getattr(node, name), node)) is not None:
                yield answer


def _row(source: str, record_type: str, **columns: Untyped) -> facts.SourceRow:
    return facts.SourceRow(
        kind=facts.FACT, source=source, fact=facts.LISTING, record_type=record_type, **columns
    )


def _problem_of(answer: Answer) -> str:
    """Return why an answer is none; empty where it is one."""
    if answer is None or isinstance(answer, str):
        return answer or "no broker was asked"
    code = getattr(answer, "error_code", 0)
    if not code:
        return ""
    name = getattr(kafka_errors.for_code(code), "message", "UNKNOWN")
    hint = f" ({_RIGHTS[code]})" if code in _RIGHTS else ""
    return f"error {code} {name}{hint}"


def _topics(parts: Parts, reading: _Reading) -> None:
    """Read topics, also those that are on the brokers' disks but not in the metadata.

    Metadata silently leave out topics that the user is not allowed to DESCRIBE. Brokers list the
    topics on their disks for every user with DESCRIBE on the cluster. Listing ACLs needs it too.
    """
    seen = {topic.name for topic in parts.metadata.topics if topic.name is not None}
    for topic in parts.metadata.topics:
        if topic.name is not None:
            reading.add(facts.ADD_TOPIC, resource_name=topic.name, topic_id=_topic_id(topic))
    on_disk = {
        topic.name
        for answer in reading.answers(parts, "log_dirs")
        for folder in answer.results
        for topic in folder.topics
        if any(not partition.is_future_key for partition in topic.partitions)
    }
    hidden = sorted(on_disk - seen)
    for name in hidden:
        reading.add(facts.ADD_TOPIC, resource_name=name)
    if hidden:
        reading.notes.append(
            f"Topics: {len(hidden):,} were found on the brokers' disks that the user is not "
            "allowed to DESCRIBE. Their ids are unknown."
        )


def _topic_id(topic: Untyped) -> str | None:
    """Return a topic's id; brokers before 2.8 tell none."""
    found = topic.topic_id
    number = found.int if isinstance(found, UUID) else 0
    return uuid_text(number.to_bytes(16, "big")) if number else None


def _users(parts: Parts, reading: _Reading) -> None:
    answer = reading.answer(parts.users)
    for user in answer.results if answer is not None else ():
        if reading.answer(user) is not None:
            for info in user.credential_infos:
                mechanism = mechanism_of(info.mechanism)
                reading.add(facts.ADD_SCRAM, principal=f"User:{user.user}", mechanism=mechanism)


def _groups(parts: Parts, reading: _Reading) -> None:
    for answer in reading.answers(parts, "groups"):
        for group in answer.groups:
            reading.add(facts.ADD_RESOURCE, resource_type="GROUP", resource_name=group.group_id)


def _transactional_ids(parts: Parts, reading: _Reading) -> None:
    for answer in reading.answers(parts, "transactions"):
        for state in answer.transaction_states:
            name = state.transactional_id
            reading.add(facts.ADD_RESOURCE, resource_type="TRANSACTIONAL_ID", resource_name=name)


def _tokens(parts: Parts, reading: _Reading) -> None:
    """Read tokens' ids, which ACLs name, and their owners."""
    if getattr(parts.tokens, "error_code", 0) == _TOKENS_DISABLED:
        return
    answer = reading.answer(parts.tokens)
    for token in answer.tokens if answer is not None else ():
        owner = f"{token.principal_type}:{token.principal_name}"
        reading.add(
            facts.ADD_RESOURCE, resource_type=facts.DELEGATION, resource_name=token.token_id
        )
        reading.add(facts.ADD_DELEGATION, principal=owner, mechanism=facts.DELEGATION)


_READERS: Final = {
    TOPICS: _topics,
    USERS: _users,
    GROUPS: _groups,
    TRANSACTIONAL_IDS: _transactional_ids,
    TOKENS: _tokens,
}
_TOKENS_DISABLED: Final = 61
_RIGHTS: Final = {
    31: "the user lacks this right on the cluster",
    64: "brokers list tokens only for users who logged in, and not with a token",
}


def _partly(told: set[str]) -> Iterator[str]:
    """Yield a note on parts in which brokers silently leave out what the user cannot DESCRIBE."""
    if some := [part for part in (TRANSACTIONAL_IDS, TOKENS) if part in told]:
        yield f"{' and '.join(some)}: only those that the user is allowed to DESCRIBE."


def _broker_configs(parts: Parts) -> tuple[tuple[BrokerConfig, ...], tuple[str, ...]]:
    """Read the brokers' values of the keys that decide; note each broker without an answer."""
    found: list[BrokerConfig] = []
    notes: list[str] = []
    for node in parts.nodes:
        results: list[Any] = list(getattr(node.configs, "results", ()))
        why = node.problem or _problem_of(results[0] if results else node.configs)
        if why:
            notes.append(
                f"Configuration of broker {node.node_id}: not read ({why}). Reading it needs "
                "DESCRIBE_CONFIGS on the cluster."
            )
        else:
            entries = results[0].configs
            values = {entry.name: entry.value for entry in entries if entry.name in BROKER_KEYS}
            found.append(BrokerConfig(node.node_id, values))
    return tuple(sorted(found, key=lambda broker: broker.node_id)), tuple(notes)


def _registrations(parts: Parts, in_force: int | None, source: str) -> Iterator[facts.SourceRow]:
    """Yield each broker with the metadata.version that its binary supports, and the one in force.

    A broker that does not report it has an unknown version, unless it answers a request that
    Kafka 4.0 removed.
    """
    for node in parts.nodes:
        low, high = _supported_levels(node)
        yield _row(
            source,
            facts.REGISTER_BROKER,
            broker_id=node.node_id,
            min_level=low,
            max_level=high,
        )
    if in_force is not None:
        yield _row(source, facts.FEATURE_LEVEL, max_level=in_force)


def _supported_levels(node: NodeAnswers) -> tuple[int | None, int | None]:
    """Return the lowest and the highest metadata.version of a broker: see ``model.brokers``."""
    if node.problem or _problem_of(node.versions):
        return NOT_TOLD, NOT_TOLD
    for feature in node.versions.supported_features or ():
        if feature.name == facts.METADATA_VERSION:
            return feature.min_version, feature.max_version
    oldest = {key.api_key: key.min_version for key in node.versions.api_keys}
    is_old = oldest.get(_FETCH, _FETCH_SINCE_4) < _FETCH_SINCE_4
    return (None, None) if is_old else (NOT_TOLD, NOT_TOLD)


_FETCH: Final = 1
_FETCH_SINCE_4: Final = 4
"""The oldest version of Fetch that brokers of Kafka 4.0 and newer answer."""


def _metadata_version(parts: Parts) -> tuple[int | None, tuple[str, ...]]:
    """Return the level in force; of brokers that differ that of the newest epoch."""
    lacking = [node.problem or _problem_of(node.versions) for node in parts.nodes]
    told = [node.versions for node, why in zip(parts.nodes, lacking, strict=True) if not why]
    if not told:
        return None, (f"metadata.version: not read ({lacking[0]}).",) if lacking else ()
    levels = [
        (answer.finalized_features_epoch or 0, feature.max_version_level)
        for answer in told
        for feature in answer.finalized_features or ()
        if feature.name == facts.METADATA_VERSION
    ]
    if not levels:
        return None, ("metadata.version: no broker reports one.",)
    return max(levels)[1], ()
