"""A running cluster's answers → its ACLs, and what else questions need, as a listing.

kafka-python's own ``describe_acls`` fails on the first code that it does not know, so requests are
sent at protocol level and codes stay numbers (KIP-140, KIP-290; DescribeAclsRequest.json). The ACLs
are required; every other part is left out, with a note, where the user has no right to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from aclkit.pipeline.sources.listing import Listing, acl_row
from aclkit.pipeline.sources.live_parts import NodeAnswers, Parts, tell_parts

_ANY: Final = 1
_BROKER: Final = 4
_HINTS: Final = {
    "CLUSTER_AUTHORIZATION_FAILED": ". The user needs DESCRIBE on the cluster.",
}
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
    if answers.acls.error_code:
        raise _refused(bootstrap, config, answers.acls)
    _require_one_cluster(bootstrap, answers)
    source = f"live:{bootstrap}"
    told = tell_parts(answers.parts, source)
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
    acls = await brokers.ask(_everything())
    again = await brokers.ask(_no_topics())
    parts = Parts(metadata=metadata)
    if not acls.error_code:
        parts.users = await _try(brokers, DescribeUserScramCredentialsRequest(users=None))
        parts.tokens = await _try(brokers, DescribeDelegationTokenRequest(owners=None))
        for left, node in zip(range(len(metadata.brokers), 0, -1), metadata.brokers, strict=True):
            # So that one that does not answer leaves time for the others.
            share = brokers.deadline.left / left / 2
            parts.nodes.append(await _ask_node(brokers, metadata, node, share))
    return _Answers(
        cluster_id=metadata.cluster_id or None,
        again=again.cluster_id or None,
        acls=acls,
        parts=parts,
    )


async def _ask_node(
    brokers: Brokers, metadata: Untyped, node: Untyped, share: float
) -> NodeAnswers:
    """Ask one broker for what it alone knows: its Kafka, configuration, groups, transactions.

    ``share`` is how many seconds it has to be reached, and as many again to answer first.
    """
    answers = NodeAnswers(node_id=node.node_id, address=f"{node.host}:{node.port}")
    try:
        is_alone = len(metadata.brokers) == 1
        connection = (
            brokers.first if is_alone else await brokers.connect(metadata, node.node_id, share)
        )
        told = await brokers.ask(_no_topics(), connection, share)
        answers.cluster_id = told.cluster_id or None
    except PROBLEMS as error:
        answers.problem = describe_problem(error)
        return answers
    if answers.cluster_id != (metadata.cluster_id or None):
        return answers
    answers.versions = await _try(
        brokers,
        ApiVersionsRequest(client_software_name="aclkit", client_software_version="1"),
        connection,
    )
    answers.configs = await _try(brokers, _configs_of(node), connection)
    answers.groups = await _try(
        brokers, ListGroupsRequest(states_filter=[], types_filter=[]), connection
    )
    answers.transactions = await _try(
        brokers, ListTransactionsRequest(state_filters=[], producer_id_filters=[]), connection
    )
    answers.log_dirs = await _try(brokers, DescribeLogDirsRequest(topics=None), connection)
    return answers


def _configs_of(node: Untyped) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(node.node_id), configuration_keys=[*BROKER_KEYS]
    )
    return DescribeConfigsRequest(resources=[resource])


async def _try(brokers: Brokers, request: Untyped, connection: Untyped = None) -> Untyped:
    """Return an answer, or as a text why there is none."""
    try:
        return await brokers.ask(request, connection)
    except PROBLEMS as error:
        return describe_problem(error)


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


def _refused(bootstrap: str, config: ClientConfig, answer: Untyped) -> AclkitError:
    if answer.error_code == _SECURITY_DISABLED:
        return DataError(f"{bootstrap}: the broker {ALLOWS_EVERYTHING} (error SECURITY_DISABLED)")
    name = getattr(kafka_errors.for_code(answer.error_code), "message", "UNKNOWN")
    said = config.masked(f" ({answer.error_message})") if answer.error_message else ""
    return SurroundingsError(
        f"The cluster at {bootstrap} refused to list its ACLs: error {answer.error_code} "
        f"{name}{said}{_HINTS.get(name, '')}"
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
