"""A decided action → the line that Kafka's authorizer writes about it, at Kafka's level.

Logger ``kafka.authorizer.logger``. Kafka's TRACE is level 5 here. What is allowed is DEBUG and
what is denied is INFO, where the action asks to be logged; everything else is TRACE.
So under INFO, the brokers' default, only denials show. Source: StandardAuthorizerData.

The numbers of APIs are those of Kafka 4.1's ApiKeys. Those of 4 to 7 were between brokers and
controllers of ZooKeeper; Kafka 4 has none of them.
"""

from __future__ import annotations

import logging
from enum import Enum
from typing import Final

from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.acls.text import as_broker_sees, render_standard_acl
from aclkit.kafka.authorizer.requests import Action, RequestContext
from aclkit.model.acl import Acl
from aclkit.rules.decide.rules import ALLOWED, DENIED, MATCHING_ACL, Ruling

_FROM_0: Final = "Produce Fetch ListOffsets Metadata"
_FROM_8: Final = """
    OffsetCommit OffsetFetch FindCoordinator JoinGroup Heartbeat LeaveGroup SyncGroup
    DescribeGroups ListGroups SaslHandshake ApiVersions CreateTopics DeleteTopics DeleteRecords
    InitProducerId OffsetForLeaderEpoch AddPartitionsToTxn AddOffsetsToTxn EndTxn WriteTxnMarkers
    TxnOffsetCommit DescribeAcls CreateAcls DeleteAcls DescribeConfigs AlterConfigs
    AlterReplicaLogDirs DescribeLogDirs SaslAuthenticate CreatePartitions CreateDelegationToken
    RenewDelegationToken ExpireDelegationToken DescribeDelegationToken DeleteGroups ElectLeaders
    IncrementalAlterConfigs AlterPartitionReassignments ListPartitionReassignments OffsetDelete
    DescribeClientQuotas AlterClientQuotas DescribeUserScramCredentials AlterUserScramCredentials
    Vote BeginQuorumEpoch EndQuorumEpoch DescribeQuorum AlterPartition UpdateFeatures Envelope
    FetchSnapshot DescribeCluster DescribeProducers BrokerRegistration BrokerHeartbeat
    UnregisterBroker DescribeTransactions ListTransactions AllocateProducerIds
    ConsumerGroupHeartbeat ConsumerGroupDescribe ControllerRegistration GetTelemetrySubscriptions
    PushTelemetry AssignReplicasToDirs ListConfigResources DescribeTopicPartitions
    ShareGroupHeartbeat ShareGroupDescribe ShareFetch ShareAcknowledge AddRaftVoter
    RemoveRaftVoter UpdateRaftVoter InitializeShareGroupState ReadShareGroupState
    WriteShareGroupState DeleteShareGroupState ReadShareGroupStateSummary StreamsGroupHeartbeat
    StreamsGroupDescribe DescribeShareGroupOffsets AlterShareGroupOffsets DeleteShareGroupOffsets
"""

API_NAMES: Final = {
    number: name
    for first, names in ((0, _FROM_0), (8, _FROM_8))
    for number, name in enumerate(names.split(), first)
}
"""The name of each API that clients or brokers send, by its number."""


LOGGER: Final = "kafka.authorizer.logger"
TRACE: Final = 5
BROKER_FORMAT: Final = "[%(asctime)s] %(levelname)s %(message)s (%(name)s)"
"""A format for ``logging`` that makes the lines of a broker's kafka-authorizer.log."""

PRINCIPAL_IS: Final = "Principal = "
VERBS: Final = {ALLOWED: "Allowed", DENIED: "Denied"}
OPERATION_IS: Final = " operation = "
FROM_HOST: Final = " from host = "
ON_RESOURCE: Final = " on resource = "
FOR_REQUEST: Final = " for request = "
WITH_COUNT: Final = " with resourceRefCount = "
BASED_ON: Final = " based on rule "
"""The fixed words of a line, in their order; ``usage.line`` reads by them."""

logging.addLevelName(TRACE, "TRACE")
log = logging.getLogger(LOGGER)


class Wording(Enum):
    """How a release writes the deciding ACL: since 4.2 StandardAcl is a Java record."""

    UP_TO_4_1 = "()"
    SINCE_4_2 = "[]"


def write_audit_line(
    context: RequestContext, action: Action, ruling: Ruling, wording: Wording, *, knows_globs: bool
) -> None:
    """Log a decided action, unless its level is off."""
    if ruling.decision == ALLOWED:
        level = logging.DEBUG if action.log_if_allowed else TRACE
    else:
        level = logging.INFO if action.log_if_denied else TRACE
    if log.isEnabledFor(level):
        log.log(
            level, "%s", audit_message(context, action, ruling, wording, knows_globs=knows_globs)
        )


def audit_message(
    context: RequestContext,
    action: Action,
    ruling: Ruling,
    wording: Wording,
    *,
    knows_globs: bool = True,
) -> str:
    """Write the line; values are not escaped, as in Kafka."""
    return (
        f"{PRINCIPAL_IS}{context.principal} is {VERBS[ruling.decision]}{OPERATION_IS}"
        f"{action.operation}{FROM_HOST}{context.client_address}{ON_RESOURCE}"
        f"{pascal_case(action.resource_type)}:{action.pattern_type}:{action.resource_name}"
        f"{FOR_REQUEST}{request_name(context.request_type)}"
        f"{WITH_COUNT}{action.resource_reference_count}"
        f"{BASED_ON}{rule_text(ruling, wording, knows_globs=knows_globs)}"
    )


def request_name(request_type: int) -> str:
    """Return Kafka's name of an API key (ApiKeys.name).

    >>> request_name(1), request_name(22), request_name(-1)
    ('Fetch', 'InitProducerId', 'UNKNOWN(-1)')
    """
    return API_NAMES.get(request_type) or f"UNKNOWN({request_type})"


def standard_acl(acl: Acl, wording: Wording, *, knows_globs: bool = True) -> str:
    """Write an ACL as StandardAcl.toString does; a code that the broker does not know is UNKNOWN.

    To today's brokers that is also GLOB.
    """
    opening, closing = wording.value
    seen = as_broker_sees(acl, knows_globs=knows_globs)
    name, _, fields = render_standard_acl(seen).partition("[")
    return f"{name}{opening}{fields.removesuffix(']')}{closing}"


def rule_text(ruling: Ruling, wording: Wording, *, knows_globs: bool = True) -> str:
    """Write the rule that a decision is based on, with the ACL if one decided."""
    if ruling.acl is None:
        return ruling.rule
    return f"{MATCHING_ACL}(acl={standard_acl(ruling.acl, wording, knows_globs=knows_globs)})"
