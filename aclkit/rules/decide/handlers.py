"""What the handlers of Kafka's requests ask the authorizer: the requests that clients send.

Read from Kafka 4.3.1 (``kafka.server`` KafkaApis, ControllerApis, AclApis and the other classes
that the table names), and tried on a broker of it, ShareAcknowledge aside. Requests that only
brokers send need CLUSTER_ACTION on the cluster and are left out; where it lets a request of
clients pass, it stands with it. What a handler hides in an answer, rather than refuse the request
for it, is no check here: DescribeTransactions hides topics, and Metadata of all topics those that
are not allowed. ``leaves_out`` knows which of these denials brokers log all the same.

A person names a request as Kafka does, about a resource: ``asked_request`` finds what it checks
there, and ``needs_words`` writes that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from aclkit.errors import UsageError
from aclkit.model.acl import type_words
from aclkit.model.groups import grouped
from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.phrases import most_like
from aclkit.model.resource import WORD_OF_TYPE
from aclkit.rules.decide.requests import Check, Fact, KafkaRequest, Way


def requests_about(operation: str, resource_type: str) -> Iterator[KafkaRequest]:
    """Yield the requests whose fate hangs on an access.

    >>> [request.title for request in requests_about("CREATE", "TOPIC")]
    ['Metadata that creates the topic', 'CreateTopics']
    """
    return (request for request in REQUESTS if request.concerns(operation, resource_type))


_CONFIGS: Final = "of a broker, its loggers or client metrics"
_TABLE: Final = {
    "KafkaApis": {
        "Produce": "WRITE TOPIC",
        "Produce in a transaction": "WRITE TRANSACTIONAL_ID & WRITE TOPIC",
        "Fetch": "READ TOPIC | +CLUSTER_ACTION CLUSTER @with the id of a replica",
        "ListOffsets": "DESCRIBE TOPIC",
        "Metadata": "DESCRIBE TOPIC",
        "Metadata that creates the topic": (
            "+DESCRIBE TOPIC & CREATE TOPIC | +DESCRIBE TOPIC & CREATE CLUSTER"
        ),
        "OffsetForLeaderEpoch": "DESCRIBE TOPIC | +CLUSTER_ACTION CLUSTER",
        "DescribeProducers": "READ TOPIC",
        "DeleteRecords": "DELETE TOPIC",
        "FindCoordinator of a group": "DESCRIBE GROUP",
        "FindCoordinator of a transactional id": "DESCRIBE TRANSACTIONAL_ID",
        "JoinGroup": "READ GROUP",
        "SyncGroup": "READ GROUP",
        "Heartbeat": "READ GROUP",
        "LeaveGroup": "READ GROUP",
        "OffsetCommit": "READ GROUP & READ TOPIC",
        "OffsetFetch": "DESCRIBE GROUP & +DESCRIBE TOPIC",
        "OffsetDelete": "DELETE GROUP & +READ TOPIC",
        "DescribeGroups": "DESCRIBE GROUP",
        "ListGroups": "DESCRIBE GROUP | DESCRIBE CLUSTER",
        "DeleteGroups": "DELETE GROUP",
        "ConsumerGroupHeartbeat": "READ GROUP & +DESCRIBE TOPIC",
        "ConsumerGroupDescribe": "DESCRIBE GROUP & +DESCRIBE TOPIC",
        "ShareGroupHeartbeat": "READ GROUP & +DESCRIBE TOPIC",
        "ShareGroupDescribe": "DESCRIBE GROUP & +DESCRIBE TOPIC",
        "ShareFetch": "READ GROUP & READ TOPIC",
        "ShareAcknowledge": "READ GROUP & READ TOPIC",
        "DescribeShareGroupOffsets": "DESCRIBE GROUP & +DESCRIBE TOPIC",
        "AlterShareGroupOffsets": "READ GROUP & +READ TOPIC",
        "DeleteShareGroupOffsets": "DELETE GROUP & +READ TOPIC",
        "StreamsGroupHeartbeat": "READ GROUP & +DESCRIBE TOPIC",
        "StreamsGroupDescribe": "DESCRIBE GROUP & +DESCRIBE TOPIC",
        "InitProducerId without a transactional id": "IDEMPOTENT_WRITE CLUSTER | +WRITE any TOPIC",
        "InitProducerId with a transactional id": "WRITE TRANSACTIONAL_ID",
        "InitProducerId with two-phase commit": (
            "TWO_PHASE_COMMIT TRANSACTIONAL_ID & +WRITE TRANSACTIONAL_ID"
        ),
        "AddPartitionsToTxn": (
            "WRITE TRANSACTIONAL_ID & WRITE TOPIC"
            " | +CLUSTER_ACTION CLUSTER @of version 4 or above, as brokers send it"
        ),
        "AddOffsetsToTxn": "WRITE TRANSACTIONAL_ID & +READ GROUP",
        "TxnOffsetCommit": "WRITE TRANSACTIONAL_ID & +READ GROUP & +READ TOPIC",
        "EndTxn": "WRITE TRANSACTIONAL_ID",
        "DescribeTransactions": "DESCRIBE TRANSACTIONAL_ID",
        "ListTransactions": "DESCRIBE TRANSACTIONAL_ID",
        "WriteTxnMarkers": "ALTER CLUSTER | CLUSTER_ACTION CLUSTER",
        "DescribeCluster": (
            "NOTHING @if a broker gets it"
            " | +ALTER CLUSTER @if a controller gets it, as with --bootstrap-controller"
        ),
        "DescribeLogDirs": "DESCRIBE CLUSTER",
        "AlterReplicaLogDirs": "ALTER CLUSTER",
        "DescribeClientQuotas": "DESCRIBE_CONFIGS CLUSTER",
        "DescribeUserScramCredentials": "DESCRIBE CLUSTER",
        "ListConfigResources": "DESCRIBE_CONFIGS CLUSTER",
    },
    "DescribeTopicPartitionsRequestHandler": {"DescribeTopicPartitions": "DESCRIBE TOPIC"},
    "ConfigHelper": {
        "DescribeConfigs of a topic": "DESCRIBE_CONFIGS TOPIC",
        "DescribeConfigs of a group": "DESCRIBE_CONFIGS GROUP",
        f"DescribeConfigs {_CONFIGS}": "DESCRIBE_CONFIGS CLUSTER",
    },
    "AclApis": {
        "DescribeAcls": "DESCRIBE CLUSTER",
        "CreateAcls": "ALTER CLUSTER",
        "DeleteAcls": "ALTER CLUSTER",
    },
    "ControllerApis": {
        "CreateTopics": "CREATE TOPIC | CREATE CLUSTER",
        # DELETE is no operation of the cluster, but an ACL of ALL covers it.
        "DeleteTopics by name": "DELETE TOPIC & +DESCRIBE TOPIC | DELETE CLUSTER",
        "DeleteTopics by topic id": "DELETE TOPIC | DELETE CLUSTER",
        "CreatePartitions": "ALTER TOPIC",
        "AlterConfigs of a topic": "ALTER_CONFIGS TOPIC",
        "AlterConfigs of a group": "ALTER_CONFIGS GROUP",
        f"AlterConfigs {_CONFIGS}": "ALTER_CONFIGS CLUSTER",
        "IncrementalAlterConfigs of a topic": "ALTER_CONFIGS TOPIC",
        "IncrementalAlterConfigs of a group": "ALTER_CONFIGS GROUP",
        f"IncrementalAlterConfigs {_CONFIGS}": "ALTER_CONFIGS CLUSTER",
        "CreateDelegationToken": (
            "CREATE_TOKENS USER"
            " | ONESELF @over SASL or mutual TLS (not authenticated by a token itself)"
        ),
        "DescribeQuorum": "DESCRIBE CLUSTER",
        "ElectLeaders": "ALTER CLUSTER",
        "UnregisterBroker": "ALTER CLUSTER",
        "AlterClientQuotas": "ALTER_CONFIGS CLUSTER",
        "AlterPartitionReassignments": "ALTER CLUSTER",
        "ListPartitionReassignments": "DESCRIBE CLUSTER",
        "AlterUserScramCredentials": "ALTER CLUSTER",
        "UpdateFeatures": "ALTER CLUSTER",
        "AddRaftVoter": "ALTER CLUSTER",
        "RemoveRaftVoter": "ALTER CLUSTER",
    },
    "DelegationTokenManager": {
        "DescribeDelegationToken": "DESCRIBE DELEGATION_TOKEN | DESCRIBE_TOKENS USER | OWNER"
    },
    # Not even a super user renews what is another's.
    "DelegationTokenControlManager": {
        "RenewDelegationToken": "OWNER",
        "ExpireDelegationToken": "OWNER",
    },
}
"""Class of Kafka → request and variant → ways.

``|`` stands between ways and ``&`` between the checks of one; ``@`` begins of which requests a way
holds; ``+`` marks a check as aside.
"""

_LEAVE_OUT: Final = {
    "ListGroups": ("DESCRIBE GROUP", "DESCRIBE CLUSTER"),
    "ListTransactions": ("DESCRIBE TRANSACTIONAL_ID",),
    "DescribeTransactions": ("DESCRIBE TOPIC",),
    "DescribeDelegationToken": ("DESCRIBE DELEGATION_TOKEN", "DESCRIBE_TOKENS USER"),
    "Metadata": ("DESCRIBE CLUSTER",),
    "DescribeCluster": ("DESCRIBE CLUSTER",),
}
"""Request → the checks whose denial only leaves something out of the answer.

Brokers log some of these denials at INFO, like refusals. Read from 2.8, 3.3 to 3.9, 4.0, 4.1 and
4.3, methods of KafkaApis: handleListGroupsRequest logs them up to 3.3, and since 3.4 none;
handleListTransactionsRequest, handleDescribeTransactionsRequest (topics of a transaction) and
handleDescribeTokensRequest log all. Metadata (versions 8 to 10) and DescribeCluster ask about the
cluster only to report what is allowed there. All else that stands in a log at INFO was refused:
FindCoordinator answers with an error, and handleTopicMetadataRequest logs only topics that the
client named (``logIfDenied = !isAllTopics``). DescribeTopicPartitionsRequestHandler logs the
others too, but Kafka's own clients always name topics to it.
"""

_ONLY_DESCRIBE: Final = frozenset(
    (
        "DescribeGroups",
        "ConsumerGroupDescribe",
        "ShareGroupDescribe",
        "StreamsGroupDescribe",
        "DescribeShareGroupOffsets",
        "DescribeTransactions",
        *_LEAVE_OUT,
    )
) - {"Metadata"}
"""Requests that look at groups and transactional ids, as monitoring does."""


def leaves_out(name: str, operation: str, resource_type: str) -> bool:
    """Whether the denial of a check only leaves something out of the answer of a request.

    >>> leaves_out("ListTransactions", "DESCRIBE", "TRANSACTIONAL_ID")
    True
    >>> leaves_out("FindCoordinator", "DESCRIBE", "TRANSACTIONAL_ID")
    False
    """
    return f"{operation} {resource_type}" in _LEAVE_OUT.get(name, ())


def needed_next(
    names: Collection[str],
    operation: str,
    resource_type: str,
    refused_types: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the operations of which a client needs one, so that its next request passes too.

    DESCRIBE alone lets a client find a group, a transactional id or a topic, and the next request
    is refused. Each of these operations covers DESCRIBE. Several are alternatives.

    Args:
        names: the refused requests.
        operation: what they asked for.
        resource_type: on what.
        refused_types: types of resources that the same principal was refused.

    >>> needed_next(["FindCoordinator"], "DESCRIBE", "GROUP")
    ('READ',)
    >>> needed_next(["DescribeGroups"], "DESCRIBE", "GROUP")
    ('DESCRIBE',)
    >>> needed_next(["Metadata"], "DESCRIBE", "TOPIC")
    ('READ', 'WRITE')
    >>> needed_next(["Metadata"], "DESCRIBE", "TOPIC", ["TOPIC", "GROUP"])
    ('READ',)
    """
    if operation != "DESCRIBE" or (names and _ONLY_DESCRIBE.issuperset(names)):
        return (operation,)
    if resource_type == "TOPIC":
        use = {"GROUP": "READ", "TRANSACTIONAL_ID": "WRITE"}
        known = tuple(need for kind, need in use.items() if kind in refused_types)
        return known or tuple(use.values())
    return ({"GROUP": "READ", "TRANSACTIONAL_ID": "WRITE"}.get(resource_type, operation),)


_ABOUT: Final = {
    "DescribeCluster": ("DESCRIBE", "CLUSTER"),
    "RenewDelegationToken": ("DESCRIBE", "DELEGATION_TOKEN"),
    "ExpireDelegationToken": ("DESCRIBE", "DELEGATION_TOKEN"),
}


def _read_table() -> Iterator[KafkaRequest]:
    for handler, requests in _TABLE.items():
        for title, ways in requests.items():
            name, _, variant = title.partition(" ")
            read = tuple(_read_way(way.strip()) for way in ways.split("|"))
            yield KafkaRequest(name, variant, read, handler, _ABOUT.get(name))


def _read_way(text: str) -> Way:
    checks, _, when = text.partition(" @")
    if checks in Fact.__members__:
        return Way(fact=Fact[checks], when=when)
    return Way(tuple(_read_check(check) for check in checks.split(" & ")), when=when)


def _read_check(text: str) -> Check:
    operation, *any_of, resource_type = text.removeprefix("+").split()
    return Check(operation, resource_type, of_any=bool(any_of), aside=text.startswith("+"))


REQUESTS: Final = tuple(_read_table())
"""All of them, as the table has them."""


class AskedRequest(NamedTuple):
    """A request that a person named, and the operation that it checks on the given resource."""

    request: KafkaRequest
    operation: str


def is_request(text: str) -> bool:
    """Whether a word is the name of a request, in any case.

    >>> is_request("joingroup"), is_request("ListClientMetricsResources"), is_request("READ")
    (True, True, False)
    """
    return text.lower() in _BY_NAME


def asked_request(text: str, resource_type: str) -> AskedRequest:
    """Return the request of a name that checks a resource type; of several the plainest.

    Raises:
        UsageError: it checks no resource of the type, or no ACL.

    >>> asked_request("findcoordinator", "TRANSACTIONAL_ID").request.title
    'FindCoordinator of a transactional id'
    >>> asked_request("InitProducerId", "CLUSTER").operation
    'IDEMPOTENT_WRITE'
    """
    variants = _BY_NAME[text.lower()]
    found = [
        (check.aside, at, AskedRequest(request, check.operation))
        for at, request in enumerate(variants)
        for way in request.ways
        for check in way.checks
        if check.resource_type == resource_type and not check.of_any
        if check.operation in OPERATIONS_OF_TYPE[resource_type]
    ]
    if not found:
        raise _checks_no(variants, resource_type)
    return min(found, key=lambda each: each[:2])[-1]


def likely_request(text: str, resource_type: str) -> str | None:
    """Return the request that was most likely meant; None if an operation is more likely, or none.

    >>> likely_request("JoinGrop", "GROUP"), likely_request("describe_config", "TOPIC")
    ('JoinGroup', None)
    """
    operations = {_plain(name): None for name in OPERATIONS_OF_TYPE[resource_type]}
    known = {name: variants[0].name for name, variants in _BY_NAME.items()} | operations
    found = most_like(_plain(text), known, _ALIKE)
    return known[found] if found else None


def needs_words(request: KafkaRequest) -> str:
    """Write what lets a request pass.

    >>> needs_words(asked_request("OffsetCommit", "GROUP").request)
    'READ on the group and READ on the topic'
    """
    return ", or ".join(_way_words(way) for way in request.ways)


def _way_words(way: Way) -> str:
    when = f" ({way.when})" if way.when else ""
    if way.fact is not None:
        return f"no ACL{when}" if way.fact == Fact.NOTHING and when else f"{way.fact}{when}"
    return " and ".join(map(_check_words, way.checks)) + when


def _check_words(check: Check) -> str:
    word = type_words(check.resource_type)
    return f"{check.operation} on {'any' if check.of_any else 'the'} {word}"


def _checks_no(variants: list[KafkaRequest], resource_type: str) -> UsageError:
    """Return the error of a request that has nothing to do with resources of a type."""
    name, word = variants[0].name, WORD_OF_TYPE[resource_type]
    forms = list(dict.fromkeys(_forms(variants)))
    if not forms:
        return UsageError(f"{name} is decided without ACLs: {needs_words(variants[0])}.")
    return UsageError(f"{name} checks no {word}. Did you mean {' or '.join(forms)}?")


def _forms(variants: list[KafkaRequest]) -> Iterator[str]:
    for request in variants:
        for check in (check for way in request.ways for check in way.checks if not check.of_any):
            word = WORD_OF_TYPE[check.resource_type]
            if check.operation in OPERATIONS_OF_TYPE[check.resource_type]:
                yield word if check.resource_type == "CLUSTER" else f"{word}:NAME"


def _plain(text: str) -> str:
    return text.lower().replace("_", "").replace("-", "")


_ALIKE: Final = 0.75
_BY_NAME: Final = grouped((request.name.lower(), request) for request in REQUESTS)
# What logs of 3.7 to 4.0 call it.
_BY_NAME["listclientmetricsresources"] = _BY_NAME["listconfigresources"]
