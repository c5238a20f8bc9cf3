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
from aclkit.model.phrases import capitalized
from aclkit.model.unread import (
    ANY_USER,
    FAILED,
    GROUPS,
    NOT_OFFERED,
    RIGHT,
    SETTINGS,
    TOKENS,
    TOPICS,
    TRANSACTIONAL_IDS,
    USERS,
    Unread,
    right_words,
    unread_note,
)
from aclkit.pipeline.sources.listing import Listing
from aclkit.pipeline.sources.payload import mechanism_of, uuid_text


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why there is no answer: a cause of ``model.unread``, and a reason for people."""

    cause: str
    reason: str


Answer = Untyped
"""A message of kafka-python, or a ``NoAnswer``; None was not asked."""


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


def tell_parts(parts: Parts, source: str, principal: str = ANY_USER) -> Listing:
    """Return the other parts than the ACLs; a part of which any answer is missing is incomplete.

    Args:
        parts: the answers.
        source: what the rows name as their source.
        principal: who asked, as far as it is known.
    """
    rows: list[facts.SourceRow] = []
    unread: list[Unread] = []
    notes: list[str] = []
    filtered: set[str] = set()
    for part, read in _READERS.items():
        reading = _PartRead(source)
        read(parts, reading)
        rows += reading.rows
        unread += reading.unread(part)
        filtered |= {part} if reading.is_filtered else set()
        notes += reading.notes
    brokers, lacks = _broker_configs(parts)
    unread += _unread(SETTINGS, lacks, has_some=bool(brokers))
    told = frozenset(_READERS).difference(each.part for each in unread)
    version, version_notes = _metadata_version(parts)
    rows += _registrations(parts, version, source)
    return Listing(
        rows=tuple(dict.fromkeys(rows)),
        told=told,
        unread=tuple(unread),
        filtered=told & filtered,
        brokers=brokers,
        metadata_version=version,
        asked_by=principal,
        notes=(
            *(unread_note(each, principal) for each in unread),
            *notes,
            *_partly(told & filtered),
            *version_notes,
        ),
    )


def _unread(part: str, lacks: list[NoAnswer], *, has_some: bool) -> list[Unread]:
    """Return what lacks of a part as one value; a missing right explains it before all else."""
    if not lacks:
        return []
    causes = {each.cause for each in lacks}
    cause = next(each for each in (RIGHT, NOT_OFFERED, FAILED) if each in causes)
    reason = "; ".join(each.reason for each in lacks[:_MOST_REASONS])
    return [Unread(part=part, cause=cause, reason=reason, has_some=has_some)]


_MOST_REASONS: Final = 3


@dataclass(slots=True)
class _PartRead:
    """What is read of one part: its rows, and what lacks."""

    source: str
    rows: list[facts.SourceRow] = field(default_factory=list)
    lacks: list[NoAnswer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_filtered: bool = False

    def add(self, record_type: str, **columns: Untyped) -> None:
        self.rows.append(_row(self.source, record_type, **columns))

    def answer(self, answer: Answer, node: NodeAnswers | None = None) -> Untyped:
        """Return an answer that is one; else note what lacks."""
        if lack := _lack_of(answer, node):
            self.lacks.append(lack)
            return None
        return answer

    def answers(self, parts: Parts, name: str) -> Iterator[Any]:
        """Yield the answers of all brokers that gave one to the question of that name."""
        for node in parts.nodes:
            if (answer := self.answer(getattr(node, name), node)) is not None:
                yield answer

    def unread(self, part: str) -> list[Unread]:
        """Return what lacks."""
        return _unread(part, self.lacks, has_some=bool(self.rows))


def _row(source: str, record_type: str, **columns: Untyped) -> facts.SourceRow:
    return facts.SourceRow(
        kind=facts.FACT, source=source, fact=facts.LISTING, record_type=record_type, **columns
    )


def _lack_of(answer: Answer, node: NodeAnswers | None = None) -> NoAnswer | None:
    """Return why an answer is none; None where it is one."""
    lack = NoAnswer(FAILED, node.problem) if node and node.problem else no_answer(answer)
    if lack is None or node is None:
        return lack
    return NoAnswer(lack.cause, f"broker {node.node_id}: {lack.reason}")


def no_answer(answer: Answer) -> NoAnswer | None:
    """Return why an answer is none: it is missing, or the broker's error; None where it is one."""
    if answer is None:
        return NoAnswer(FAILED, "no broker was asked")
    if isinstance(answer, NoAnswer):
        return answer
    code = getattr(answer, "error_code", 0)
    if not code:
        return None
    return NoAnswer(_CAUSES.get(code, FAILED), error_words(code))


def error_words(code: int) -> str:
    """Write a broker's error.

    >>> error_words(31), error_words(999)
    ('error 31 CLUSTER_AUTHORIZATION_FAILED', 'error 999 UNKNOWN')
    """
    name = getattr(kafka_errors.for_code(code), "message", "UNKNOWN")
    hint = f" ({_HINTS[code]})" if code in _HINTS else ""
    return f"error {code} {name}{hint}"


def _topics(parts: Parts, reading: _PartRead) -> None:
    """Read topics, also those that are on the brokers' disks but not in the metadata.

    Metadata silently leave out topics that the user is not allowed to DESCRIBE. Brokers list the
    topics on their disks for every user with DESCRIBE on the cluster. Listing ACLs needs it too.
    """
    seen = {topic.name for topic in parts.metadata.topics if topic.name is not None}
    for topic in parts.metadata.topics:
        if topic.name is not None:
            reading.add(facts.ADD_TOPIC, resource_name=topic.name, topic_id=_topic_id(topic))
    on_disk = set()
    for answer in reading.answers(parts, "log_dirs"):
        if not answer.results:
            # Versions 0 to 2 have no error code: every broker has a folder (KafkaAdminClient).
            reading.lacks.append(NoAnswer(RIGHT, "the broker lists no log folder"))
        on_disk |= {
            topic.name
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
            "allowed to DESCRIBE. Their ids are unknown, so a topic that is deleted and created "
            "again looks like the same one. Missing right: DESCRIBE on all topics."
        )


def _topic_id(topic: Untyped) -> str | None:
    """Return a topic's id; brokers before 2.8 tell none."""
    found = topic.topic_id
    number = found.int if isinstance(found, UUID) else 0
    return uuid_text(number.to_bytes(16, "big")) if number else None


def _users(parts: Parts, reading: _PartRead) -> None:
    answer = reading.answer(parts.users)
    for user in answer.results if answer is not None else ():
        if reading.answer(user) is not None:
            for info in user.credential_infos:
                mechanism = mechanism_of(info.mechanism)
                reading.add(facts.ADD_SCRAM, principal=f"User:{user.user}", mechanism=mechanism)


def _groups(parts: Parts, reading: _PartRead) -> None:
    for answer in reading.answers(parts, "groups"):
        for group in answer.groups:
            reading.add(facts.ADD_RESOURCE, resource_type="GROUP", resource_name=group.group_id)


def _transactional_ids(parts: Parts, reading: _PartRead) -> None:
    reading.is_filtered = True
    for answer in reading.answers(parts, "transactions"):
        for state in answer.transaction_states:
            name = state.transactional_id
            reading.add(facts.ADD_RESOURCE, resource_type="TRANSACTIONAL_ID", resource_name=name)


def _tokens(parts: Parts, reading: _PartRead) -> None:
    """Read tokens' ids, which ACLs name, and their owners."""
    if getattr(parts.tokens, "error_code", 0) == _TOKENS_DISABLED:
        return
    reading.is_filtered = True
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
_CAUSES: Final = {
    # Not authorized for a topic, a group, the cluster, a transactional id, a delegation token.
    **dict.fromkeys((29, 30, 31, 53, 65), RIGHT),
    # UNSUPPORTED_VERSION and INVALID_REQUEST.
    **dict.fromkeys((35, 42), NOT_OFFERED),
}
"""Error of a broker → what it means for the part that was asked for."""

_HINTS: Final = {64: "brokers list tokens only for users who logged in, and not with a token"}


def _partly(parts: frozenset[str]) -> Iterator[str]:
    """Yield a note on parts in which brokers silently leave out what the user cannot DESCRIBE."""
    for part in sorted(parts):
        yield (
            f"{capitalized(part)}: only those that the user is allowed to DESCRIBE. For all of "
            f"them: {right_words(part)}."
        )


def _broker_configs(parts: Parts) -> tuple[tuple[BrokerConfig, ...], list[NoAnswer]]:
    """Read the brokers' values of the keys that decide; and what lacks of them."""
    found: list[BrokerConfig] = []
    lacks: list[NoAnswer] = []
    for node in parts.nodes:
        results: list[Any] = list(getattr(node.configs, "results", ()))
        is_empty = hasattr(node.configs, "results") and not results
        answer = NoAnswer(NOT_OFFERED, "an empty answer") if is_empty else node.configs
        if lack := _lack_of(results[0] if results else answer, node):
            lacks.append(lack)
        else:
            entries = results[0].configs
            values = {entry.name: entry.value for entry in entries if entry.name in BROKER_KEYS}
            found.append(BrokerConfig(node.node_id, values))
    return tuple(sorted(found, key=lambda broker: broker.node_id)), lacks


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
    if _lack_of(node.versions, node):
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
    lacks = [_lack_of(node.versions, node) for node in parts.nodes]
    told = [node.versions for node, lack in zip(parts.nodes, lacks, strict=True) if not lack]
    if not told:
        return None, tuple(
            f"metadata.version: not read ({lack.reason})." for lack in lacks[:1] if lack
        )
    levels = [
        (answer.finalized_features_epoch or 0, feature.max_version_level)
        for answer in told
        for feature in answer.finalized_features or ()
        if feature.name == facts.METADATA_VERSION
    ]
    if not levels:
        return None, ("metadata.version: no broker reports one.",)
    return max(levels)[1], ()
