"""A running cluster's answers → its ACLs, and what else questions need, as a listing.

kafka-python's own ``describe_acls`` fails on the first code that it does not know, so requests are
sent at protocol level and codes stay numbers (KIP-140, KIP-290; DescribeAclsRequest.json). The ACLs
are required; every other part is left out, with a note, where the user has no right to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from kafka import errors as kafka_errors
from kafka.protocol.admin import (
    DescribeAclsRequest,
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    DescribeUserScramCredentialsRequest,
    ListGroupsRequest,
    ListTransactionsRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from aclkit.errors import AclkitError, DataError, SurroundingsError
from aclkit.kafka.acls.command import kafka_acls_command
from aclkit.kafka.client.config import ClientConfig
from aclkit.kafka.client.connection import (
    PROBLEMS,
    Brokers,
    KeptConnection,
    Untyped,
    ask_cluster,
    describe_problem,
)
from aclkit.kafka.client.messages import DescribeDelegationTokenRequest
from aclkit.model.broker_settings import ALLOWS_EVERYTHING, BROKER_KEYS
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.model.facts import SourceRow
from aclkit.model.unread import ACLS, FAILED, NOT_OFFERED, RIGHT, right_acl, right_words
from aclkit.pipeline.sources.listing import Listing, acl_row
from aclkit.pipeline.sources.live_parts import (
    Answer,
    NoAnswer,
    NodeAnswers,
    Parts,
    no_answer,
    tell_parts,
)

_ANY: Final = 1
_BROKER: Final = 4
_SECURITY_DISABLED: Final = 54
"""How a broker without an authorizer answers a question for ACLs."""


def read_live(
    bootstrap: str,
    config: ClientConfig,
    timeout_seconds: float,
    kept: KeptConnection | None = None,
) -> Listing:
    """Ask a running cluster for all its ACLs, and for what else questions need.

    Args:
        bootstrap: ``host:port`` of one or more brokers, with commas.
        config: a Kafka client's configuration, as of ``client_config``.
        timeout_seconds: how long all of it may take; what is missing by then is a note, but for
            the ACLs themselves.
        kept: connections that stay open for the next question.

    Raises:
        UsageError: the bootstrap address is none.
        SurroundingsError: the cluster cannot be reached, or refuses.
        DataError: the brokers are not of one cluster, or have no authorizer.
    """
    ask = ask_cluster if kept is None else kept.ask
    answers = ask(bootstrap, config, timeout_seconds, _ask_all)
    if lack := no_answer(answers.acls):
        raise _refused(bootstrap, config, answers.acls, lack)
    _require_one_cluster(bootstrap, answers)
    source = f"live:{bootstrap}"
    told = tell_parts(answers.parts, source, config.principal)
    return replace(
        told,
        rows=(*dict.fromkeys(_facts(answers.acls, source)), *told.rows),
        cluster_id=answers.cluster_id,
        notes=tuple(map(config.masked, told.notes)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of the brokers; ``again`` is the cluster's id once more, asked after the ACLs."""

    cluster_id: str | None
    again: str | None
    acls: Any
    parts: Parts


async def _ask_all(brokers: Brokers) -> _Answers:
    """Ask for the ACLs between two questions for the cluster's id, and for the rest afterwards."""
    topics = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    metadata = await brokers.ask(topics)
    line = _Line(brokers, brokers.first, metadata.cluster_id or None)
    acls = await line.ask(_everything(), is_needed=True)
    again = metadata if no_answer(acls) else await brokers.ask(_no_topics(), line.connection)
    parts = Parts(metadata=metadata)
    if not no_answer(acls):
        # An empty list stands for all users, as null does. But on null, Kafka (seen in 4.4.0)
        # never answers a user who has no right to ask: its refusal fails.
        parts.users = await line.ask(DescribeUserScramCredentialsRequest(users=[]))
        parts.tokens = await line.ask(DescribeDelegationTokenRequest(owners=None))
        for left, node in zip(range(len(metadata.brokers), 0, -1), metadata.brokers, strict=True):
            # So that one that does not answer leaves time for the others.
            share = brokers.deadline.left / left / 2
            parts.nodes.append(await _ask_node(line, metadata, node, share))
    return _Answers(
        cluster_id=metadata.cluster_id or None,
        again=again.cluster_id or None,
        acls=acls,
        parts=parts,
    )


async def _ask_node(first: _Line, metadata: Untyped, node: Untyped, share: float) -> NodeAnswers:
    """Ask one broker for what it alone knows: its Kafka, configuration, groups, transactions.

    ``share`` is how many seconds it has to be reached, and as many again to answer first.
    """
    answers = NodeAnswers(node_id=node.node_id, address=f"{node.host}:{node.port}")
    brokers = first.brokers
    try:
        if len(metadata.brokers) == 1:
            line = first
            await line.open_again()
        else:
            connection = await brokers.connect(metadata, node.node_id, share)
            line = _Line(brokers, connection, first.cluster_id)
        told = await brokers.ask(_no_topics(), line.connection, share)
        answers.cluster_id = told.cluster_id or None
    except PROBLEMS as error:
        answers.problem = describe_problem(error)
        return answers
    if answers.cluster_id != first.cluster_id:
        return answers
    answers.versions = await line.ask(
        ApiVersionsRequest(client_software_name="aclkit", client_software_version="1")
    )
    answers.configs = await line.ask(_configs_of(node))
    answers.groups = await line.ask(ListGroupsRequest(states_filter=[], types_filter=[]))
    answers.transactions = await line.ask(
        ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    )
    answers.log_dirs = await line.ask(DescribeLogDirsRequest(topics=None))
    return answers


@dataclass(slots=True)
class _Line:
    """A connection to one broker, opened again where the broker hung up over a question.

    Some services close the connection when they are asked what they do not offer, or never answer.
    The broker that answers afterwards must be of the same cluster.
    """

    brokers: Brokers
    connection: Untyped
    cluster_id: str | None

    async def ask(self, request: Untyped, *, is_needed: bool = False) -> Answer:
        """Return an answer, or why there is none.

        Args:
            request: the question.
            is_needed: without the answer all else is of no use: it gets all the time that is left,
                a broker that hangs up is asked twice, and another one is asked where it fails.

        Raises:
            KafkaError: no answer that is needed.
        """
        name = type(request).__name__.removesuffix("Request")
        answer = await self._ask(request, name, is_needed=is_needed)
        if is_needed and self.connection.closed:
            answer = await self._ask(request, name, is_needed=True)
        if is_needed and isinstance(answer, NoAnswer) and answer.cause == FAILED:
            raise kafka_errors.KafkaError(answer.reason)
        return answer

    async def _ask(self, request: Untyped, name: str, *, is_needed: bool) -> Answer:
        seconds = inf if is_needed else self.brokers.deadline.left / _SHARES
        try:
            await self.open_again()
        except PROBLEMS as error:
            return NoAnswer(FAILED, describe_problem(error))
        try:
            return await self.brokers.ask(request, self.connection, seconds)
        except kafka_errors.UnsupportedVersionError as error:
            has_none = "does not support" in str(error)
            which = name if has_none else f"a version of {name} that aclkit can use"
            return NoAnswer(NOT_OFFERED, f"the broker does not offer {which}")
        except _LATE as error:
            return NoAnswer(FAILED, describe_problem(error))
        except PROBLEMS as error:
            if self.connection.closed:
                return NoAnswer(NOT_OFFERED, f"the broker closed the connection on {name}")
            return NoAnswer(FAILED, describe_problem(error))

    async def open_again(self) -> None:
        """Connect anew if the broker hung up.

        Raises:
            KafkaError: it cannot be reached, or answers for another cluster.
        """
        if not self.connection.closed:
            return
        opened = await self.brokers.reconnect(self.connection.node_id)
        told = await self.brokers.ask(_no_topics(), opened)
        if (told.cluster_id or None) != self.cluster_id:
            raise kafka_errors.KafkaError("another cluster answers at this address now")
        self.connection = opened


_LATE: Final = (kafka_errors.KafkaTimeoutError, kafka_errors.RequestTimedOutError)
"""No answer in time; kafka-python closes such a connection itself."""

_SHARES: Final = 4
"""A question of no need gets this part of the time that is left."""


def _configs_of(node: Untyped) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(node.node_id), configuration_keys=[*BROKER_KEYS]
    )
    return DescribeConfigsRequest(resources=[resource])


def _no_topics() -> MetadataRequest:
    return MetadataRequest(topics=[], allow_auto_topic_creation=False)


def _everything() -> DescribeAclsRequest:
    """Make the request for all ACLs; version 0 does not know pattern types."""
    return DescribeAclsRequest(
        min_version=1,
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )


def _refused(bootstrap: str, config: ClientConfig, answer: Answer, lack: NoAnswer) -> AclkitError:
    """Return the error of a cluster that does not list its ACLs, with what to do."""
    if getattr(answer, "error_code", 0) == _SECURITY_DISABLED:
        return DataError(f"{bootstrap}: the broker {ALLOWS_EVERYTHING} (error SECURITY_DISABLED)")
    told = getattr(answer, "error_message", None)
    said = config.masked(f" ({told})") if told else ""
    if lack.cause == RIGHT:
        grant = kafka_acls_command(right_acl(ACLS, config.principal))
        advice = f"Missing right: {right_words(ACLS)} for {config.principal}. Next: {grant}"
    elif lack.cause == NOT_OFFERED:
        advice = (
            "A service without Kafka ACLs decides elsewhere: see docs/managed-kafka.md. If "
            "kafka-acls can list them, pass its output: --source acls-list:FILE"
        )
    else:
        advice = "If kafka-acls can list them, pass its output: --source acls-list:FILE"
    return SurroundingsError(
        f"The cluster at {bootstrap} refused to list its ACLs: {lack.reason}{said}. {advice}"
    )


def _require_one_cluster(bootstrap: str, answers: _Answers) -> None:
    """Insist that all answers are of one cluster.

    Raises:
        DataError: they are not.
    """
    own = answers.cluster_id
    others = [(bootstrap, answers.again)]
    others += [(n.address, n.cluster_id) for n in answers.parts.nodes if not n.problem]
    for address, found in others:
        if found != own:
            raise DataError(
                f"{bootstrap} answered for cluster {own!r}, but {address} for {found!r}. Pass "
                "brokers of one cluster."
            )


def _facts(answer: Untyped, source: str) -> Iterator[SourceRow]:
    for resource in answer.resources:
        for acl in resource.acls:
            yield acl_row(
                source,
                ResourceType.name_of(resource.resource_type),
                resource.resource_name,
                PatternType.name_of(resource.pattern_type),
                acl.principal,
                acl.host,
                AclOperation.name_of(acl.operation),
                AclPermissionType.name_of(acl.permission_type),
            )
