"""Kafka's requests: the number of an API → its name, as ApiKeys of Kafka 4.1 has them.

Those of 4 to 7 were between brokers and controllers of ZooKeeper; Kafka 4 has none of them.
"""

from __future__ import annotations

from typing import Final

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
