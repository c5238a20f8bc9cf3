"""Every request of ``decide.handlers`` that can be sent to a broker without harm, and how.

Authorization comes first in Kafka's handlers, so most of these name what is not there, or ask to
validate only: whoever is authorized gets another error, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka.record.memory_records import MemoryRecordsBuilder

from tests.tools.broker.client import error_codes
from tests.tools.broker.messages import request

REFUSALS: Final = {29, 30, 31, 53, 63, 65}
"""TOPIC_, GROUP_, CLUSTER_, TRANSACTIONAL_ID_ and DELEGATION_TOKEN_AUTHORIZATION_FAILED, and
DELEGATION_TOKEN_OWNER_MISMATCH."""

Names = Mapping[str, Any]
"""What can be asked about. ``topic`` is there and has ``topic_id``, ``spare`` too; ``new`` is not.
``group`` is there, ``gone`` is not; members of ``members``, ``sharers`` and ``streamers`` consume
``consumed``, ``shared`` is a share group without members. ``txn``, ``user``, and ``token`` with
its ``hmac``."""

PLAIN, SPECIAL, ANY = "ways without when", "ways with when", "all ways"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is sent.

    Attributes:
        title: of ``decide.handlers``.
        make: builds it.
        passed: says of an answer whether the broker let the request pass.
        ways: which of the request's ways hold for this one.
        topic: which of the names is its topic.
        group: which is its group.
    """

    title: str
    make: Callable[[Names], Any]
    passed: Callable[[Any, Names], bool]
    ways: str = PLAIN
    topic: str = "topic"
    group: str = "group"


def _no_refusal(answer: Any, _: Names) -> bool:
    return not REFUSALS & error_codes(answer)


def _ask(
    title: str,
    make: Callable[[Names], Any],
    passed: Callable[[Any, Names], bool] = _no_refusal,
    **more: str,
) -> Asked:
    return Asked(title, make, passed, **more)


def _records(*, transactional: bool) -> bytes:
    options = {"transactional": True, "producer_id": 9, "producer_epoch": 0, "base_sequence": 0}
    builder = MemoryRecordsBuilder(2, 0, 1 << 14, **(options if transactional else {}))
    builder.append(timestamp=1, key=None, value=b"x", headers=[])
    builder.close()
    return bytes(builder.buffer())


def _produce(names: Names, *, transactional: bool = False) -> Any:
    data = {"index": 0, "records": _records(transactional=transactional)}
    return request(
        "Produce", 12, transactional_id=names["txn"] if transactional else None, acks=-1,
        timeout_ms=5000, topic_data=[{"name": names["topic"], "partition_data": [data]}],
    )  # fmt: skip


def _fetch(names: Names, replica: int) -> Any:
    partition = {
        "partition": 0, "current_leader_epoch": -1, "fetch_offset": 0, "last_fetched_epoch": -1,
        "log_start_offset": -1, "partition_max_bytes": 1000,
    }  # fmt: skip
    return request(
        "Fetch", 12, replica_id=replica, max_wait_ms=0, min_bytes=0, max_bytes=1000,
        isolation_level=0, session_id=0, session_epoch=-1, forgotten_topics_data=[], rack_id="",
        topics=[{"topic": names["topic"], "partitions": [partition]}],
    )  # fmt: skip


def _configs(name: str, kind: int, resource: str) -> Any:
    """Ask for, or validate, the configuration of a topic (2), broker (4), its loggers (8), …"""
    one: dict[str, object] = {"resource_type": kind, "resource_name": resource}
    if name == "DescribeConfigs":
        return request(name, resources=[{**one, "configuration_keys": None}])
    return request(name, resources=[{**one, "configs": []}], validate_only=True)


def _of_configs(name: str) -> Iterable[Asked]:
    loggers = f"{name} of a broker, its loggers or client metrics"
    if name != "AlterConfigs":  # the old one takes no loggers
        yield _ask(loggers, lambda n: _configs(name, 8, "1"))
    yield _ask(f"{name} of a topic", lambda n: _configs(name, 2, n["topic"]))
    yield _ask(f"{name} of a group", lambda n: _configs(name, 32, n["group"]))
    yield _ask(loggers, lambda n: _configs(name, 4, "1"))


def _with_partition(name: str, **fields: int) -> dict[str, object]:
    return {"name": name, "partitions": [{"partition_index": 0, **fields}]}


def _commit(name: str) -> dict[str, object]:
    return _with_partition(
        name, committed_offset=0, committed_leader_epoch=-1, committed_metadata=""
    )


def consumer_heartbeat(group: str, topic: str, epoch: int) -> Any:
    """A member's heartbeat; of epoch 0 it joins the group."""
    return request(
        "ConsumerGroupHeartbeat", group_id=group, member_id="x", member_epoch=epoch,
        instance_id=None, rack_id=None, rebalance_timeout_ms=60_000,
        subscribed_topic_names=[topic], subscribed_topic_regex=None, server_assignor=None,
        topic_partitions=[],
    )  # fmt: skip


def share_heartbeat(group: str, topic: str, epoch: int) -> Any:
    """A member's heartbeat of a share group."""
    return request(
        "ShareGroupHeartbeat", group_id=group, member_id="x", member_epoch=epoch, rack_id=None,
        subscribed_topic_names=[topic],
    )  # fmt: skip


def streams_heartbeat(group: str, topic: str, epoch: int) -> Any:
    """A member's heartbeat of a streams group."""
    topology = {
        "epoch": 0,
        "subtopologies": [{
            "subtopology_id": "s", "source_topics": [topic], "source_topic_regex": [],
            "state_changelog_topics": [], "repartition_sink_topics": [],
            "repartition_source_topics": [], "copartition_groups": [],
        }],
    }  # fmt: skip
    return request(
        "StreamsGroupHeartbeat", group_id=group, member_id="x", member_epoch=epoch,
        topology=topology, rebalance_timeout_ms=60_000, process_id="x", active_tasks=[],
        standby_tasks=[], warmup_tasks=[],
    )  # fmt: skip


def _share_fetch(names: Names) -> Any:
    partition = {"partition_index": 0, "acknowledgement_batches": []}
    return request(
        "ShareFetch", group_id=names["gone"], member_id="x", share_session_epoch=0, max_wait_ms=0,
        min_bytes=0, max_bytes=1000, max_records=1, batch_size=1, forgotten_topics_data=[],
        topics=[{"topic_id": names["topic_id"], "partitions": [partition]}],
    )  # fmt: skip


def _share_topic(names: Names) -> dict[str, object]:
    return {"topic_name": names["topic"], "partitions": [0]}


def _two_phases(names: Names) -> Any:
    return request(
        "InitProducerId", transactional_id=names["txn"], transaction_timeout_ms=1000,
        producer_id=-1, producer_epoch=-1, enable2_pc=True, keep_prepared_txn=False,
        min_version=6,
    )  # fmt: skip


def _init(txn: str | None) -> Any:
    return request(
        "InitProducerId", 5, transactional_id=txn, transaction_timeout_ms=1000, producer_id=-1,
        producer_epoch=-1,
    )  # fmt: skip


def _add_partitions(names: Names, version: int) -> Any:
    topics = [{"name": names["topic"], "partitions": [0]}]
    if version < 4:
        return request(
            "AddPartitionsToTxn", version, v3_and_below_transactional_id=names["txn"],
            v3_and_below_producer_id=9, v3_and_below_producer_epoch=0, v3_and_below_topics=topics,
        )  # fmt: skip
    one = {
        "transactional_id": names["txn"], "producer_id": 9, "producer_epoch": 0,
        "verify_only": True, "topics": topics,
    }  # fmt: skip
    return request("AddPartitionsToTxn", version, transactions=[one])


def new_topic(name: str) -> dict[str, object]:
    """A topic as CreateTopics takes it."""
    return {
        "name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [],
        "configs": [],
    }  # fmt: skip


def _listed(rows: str, field: str, name: str) -> Callable[[Any, Names], bool]:
    return lambda answer, names: (
        names[name] in {getattr(row, field) for row in getattr(answer, rows)}
    )


ASKED: Final = (
    _ask("Produce", _produce),
    _ask("Produce in a transaction", lambda n: _produce(n, transactional=True)),
    _ask("Fetch", lambda n: _fetch(n, -1)),
    _ask("Fetch", lambda n: _fetch(n, 7), ways=SPECIAL),
    _ask("ListOffsets", lambda n: request(
        "ListOffsets", replica_id=-1, isolation_level=0, topics=[
            _with_partition(n["topic"], current_leader_epoch=-1, timestamp=-1)
        ])),
    _ask("Metadata", lambda n: request(
        "Metadata", topics=[{"name": n["topic"]}], allow_auto_topic_creation=False)),
    _ask("Metadata that creates the topic", lambda n: request(
        "Metadata", topics=[{"name": n["new"]}], allow_auto_topic_creation=True), topic="new"),
    _ask("DescribeTopicPartitions", lambda n: request(
        "DescribeTopicPartitions", topics=[{"name": n["topic"]}], response_partition_limit=9,
        cursor=None)),
    _ask("OffsetForLeaderEpoch", lambda n: request(
        "OffsetForLeaderEpoch", replica_id=-1, topics=[{"topic": n["topic"], "partitions": [
            {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]}]), ways=ANY),
    _ask("DescribeProducers", lambda n: request(
        "DescribeProducers", topics=[{"name": n["topic"], "partition_indexes": [0]}])),
    _ask("DeleteRecords", lambda n: request(
        "DeleteRecords", topics=[_with_partition(n["topic"], offset=0)], timeout_ms=5000)),
    _ask("CreateTopics", lambda n: request(
        "CreateTopics", topics=[new_topic(n["new"])], timeout_ms=5000, validate_only=True),
        topic="new"),
    _ask("DeleteTopics by name", lambda n: request(
        "DeleteTopics", topics=[{"name": n["spare"]}], timeout_ms=5000), topic="spare"),
    _ask("DeleteTopics by topic id", lambda n: request(
        "DeleteTopics", topics=[{"name": None, "topic_id": n["spare_id"]}], timeout_ms=5000),
        topic="spare"),
    _ask("CreatePartitions", lambda n: request(
        "CreatePartitions", topics=[{"name": n["topic"], "count": 2, "assignments": None}],
        timeout_ms=5000, validate_only=True)),
    *_of_configs("DescribeConfigs"),
    *_of_configs("AlterConfigs"),
    *_of_configs("IncrementalAlterConfigs"),
    _ask("ListConfigResources", lambda n: request("ListConfigResources", resource_types=[])),
    _ask("FindCoordinator of a group", lambda n: request(
        "FindCoordinator", key_type=0, coordinator_keys=[n["group"]])),
    _ask("FindCoordinator of a transactional id", lambda n: request(
        "FindCoordinator", key_type=1, coordinator_keys=[n["txn"]])),
    _ask("JoinGroup", lambda n: request(
        "JoinGroup", group_id=n["group"], session_timeout_ms=1, rebalance_timeout_ms=1,
        member_id="x", group_instance_id=None, protocol_type="consumer",
        protocols=[{"name": "range", "metadata": b""}], reason=None)),
    _ask("SyncGroup", lambda n: request(
        "SyncGroup", group_id=n["group"], generation_id=1, member_id="x", group_instance_id=None,
        protocol_type="consumer", protocol_name="range", assignments=[])),
    _ask("Heartbeat", lambda n: request(
        "Heartbeat", group_id=n["group"], generation_id=1, member_id="x",
        group_instance_id=None)),
    _ask("LeaveGroup", lambda n: request(
        "LeaveGroup", group_id=n["group"], members=[
            {"member_id": "x", "group_instance_id": None, "reason": None}])),
    _ask("OffsetCommit", lambda n: request(
        "OffsetCommit", 9, group_id=n["group"], generation_id_or_member_epoch=-1, member_id="",
        group_instance_id=None, topics=[_commit(n["topic"])])),
    _ask("OffsetFetch", lambda n: request(
        "OffsetFetch", 9, groups=[{"group_id": n["group"], "member_id": None, "member_epoch": -1,
            "topics": [{"name": n["topic"], "partition_indexes": [0]}]}], require_stable=False)),
    _ask("OffsetDelete", lambda n: request(
        "OffsetDelete", group_id=n["group"], topics=[
            {"name": n["topic"], "partitions": [{"partition_index": 7}]}])),
    _ask("DescribeGroups", lambda n: request(
        "DescribeGroups", groups=[n["group"]], include_authorized_operations=False)),
    _ask("ListGroups", lambda n: request("ListGroups", states_filter=[], types_filter=[]),
        _listed("groups", "group_id", "group"), ways=ANY),
    _ask("DeleteGroups", lambda n: request("DeleteGroups", groups_names=[n["gone"]]),
        group="gone"),
    _ask("ConsumerGroupHeartbeat", lambda n: consumer_heartbeat(n["gone"], n["topic"], 5),
        group="gone"),
    _ask("ConsumerGroupDescribe", lambda n: request(
        "ConsumerGroupDescribe", group_ids=[n["members"]], include_authorized_operations=False),
        group="members", topic="consumed"),
    _ask("StreamsGroupHeartbeat", lambda n: streams_heartbeat(n["gone"], n["topic"], 5),
        group="gone"),
    _ask("StreamsGroupDescribe", lambda n: request(
        "StreamsGroupDescribe", group_ids=[n["streamers"]], include_authorized_operations=False),
        group="streamers", topic="consumed"),
    _ask("ShareGroupHeartbeat", lambda n: share_heartbeat(n["gone"], n["topic"], 5),
        group="gone"),
    _ask("ShareGroupDescribe", lambda n: request(
        "ShareGroupDescribe", group_ids=[n["sharers"]], include_authorized_operations=False),
        group="sharers", topic="consumed"),
    _ask("ShareFetch", _share_fetch, group="gone"),
    _ask("AlterShareGroupOffsets", lambda n: request(
        "AlterShareGroupOffsets", group_id=n["shared"], topics=[{"topic_name": n["topic"],
        "partitions": [{"partition_index": 0, "start_offset": 0}]}]), group="shared"),
    _ask("DeleteShareGroupOffsets", lambda n: request(
        "DeleteShareGroupOffsets", group_id=n["shared"], topics=[{"topic_name": n["topic"]}]),
        group="shared"),
    _ask("DescribeShareGroupOffsets", lambda n: request(
        "DescribeShareGroupOffsets", groups=[{"group_id": n["group"],
        "topics": [_share_topic(n)]}])),
    _ask("InitProducerId without a transactional id", lambda n: _init(None)),
    _ask("InitProducerId with a transactional id", lambda n: _init(n["txn"])),
    _ask("InitProducerId with two-phase commit", _two_phases),
    _ask("AddPartitionsToTxn", lambda n: _add_partitions(n, 3)),
    _ask("AddPartitionsToTxn", lambda n: _add_partitions(n, 4), ways=SPECIAL),
    _ask("AddOffsetsToTxn", lambda n: request(
        "AddOffsetsToTxn", transactional_id=n["txn"], producer_id=9, producer_epoch=0,
        group_id=n["group"])),
    _ask("TxnOffsetCommit", lambda n: request(
        "TxnOffsetCommit", transactional_id=n["txn"], group_id=n["group"], producer_id=9,
        producer_epoch=0, generation_id=-1, member_id="", group_instance_id=None,
        topics=[_commit(n["topic"])])),
    _ask("EndTxn", lambda n: request(
        "EndTxn", transactional_id=n["txn"], producer_id=9, producer_epoch=0, committed=False)),
    _ask("DescribeTransactions", lambda n: request(
        "DescribeTransactions", transactional_ids=[n["txn"]])),
    _ask("ListTransactions", lambda n: request(
        "ListTransactions", state_filters=[], producer_id_filters=[], duration_filter=-1,
        transactional_id_pattern=None),
        _listed("transaction_states", "transactional_id", "txn")),
    _ask("WriteTxnMarkers", lambda n: request("WriteTxnMarkers", markers=[{
        "producer_id": 9, "producer_epoch": 0, "transaction_result": False,
        "topics": [{"name": n["topic"], "partition_indexes": [7]}], "coordinator_epoch": 0}])),
    _ask("DescribeCluster", lambda n: request(
        "DescribeCluster", include_cluster_authorized_operations=False, endpoint_type=1)),
    _ask("DescribeLogDirs", lambda n: request("DescribeLogDirs", topics=None)),
    _ask("AlterReplicaLogDirs", lambda n: request("AlterReplicaLogDirs", dirs=[
        {"path": "/nowhere", "topics": [{"name": n["topic"], "partitions": [0]}]}])),
    _ask("DescribeClientQuotas", lambda n: request(
        "DescribeClientQuotas", components=[], strict=False)),
    _ask("AlterClientQuotas", lambda n: request("AlterClientQuotas", entries=[{
        "entity": [{"entity_type": "user", "entity_name": "nobody"}],
        "ops": [{"key": "producer_byte_rate", "value": 1e9, "remove": False}]}],
        validate_only=True)),
    _ask("DescribeUserScramCredentials", lambda n: request(
        "DescribeUserScramCredentials", users=None)),
    _ask("AlterUserScramCredentials", lambda n: request(
        "AlterUserScramCredentials", deletions=[{"name": "nobody", "mechanism": 1}],
        upsertions=[])),
    _ask("DescribeAcls", lambda n: request(
        "DescribeAcls", min_version=1, resource_type_filter=2, resource_name_filter="none",
        pattern_type_filter=3, principal_filter=None, host_filter=None, operation=1,
        permission_type=1)),
    _ask("CreateAcls", lambda n: request("CreateAcls", creations=[{
        "resource_type": 4, "resource_name": "no cluster", "resource_pattern_type": 3,
        "principal": "User:x", "host": "*", "operation": 2, "permission_type": 3}])),
    _ask("DeleteAcls", lambda n: request("DeleteAcls", filters=[{
        "resource_type_filter": 2, "resource_name_filter": "none", "pattern_type_filter": 3,
        "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1}])),
    _ask("DescribeQuorum", lambda n: request("DescribeQuorum", topics=[
        {"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}])),
    _ask("ElectLeaders", lambda n: request(
        "ElectLeaders", election_type=0, timeout_ms=5000,
        topic_partitions=[{"topic": n["topic"], "partitions": [0]}])),
    _ask("UnregisterBroker", lambda n: request("UnregisterBroker", broker_id=999)),
    _ask("AlterPartitionReassignments", lambda n: request(
        "AlterPartitionReassignments", timeout_ms=5000, topics=[{"name": n["new"],
        "partitions": [{"partition_index": 0, "replicas": None}]}])),
    _ask("ListPartitionReassignments", lambda n: request(
        "ListPartitionReassignments", timeout_ms=5000, topics=None)),
    _ask("UpdateFeatures", lambda n: request(
        "UpdateFeatures", timeout_ms=5000, validate_only=True, feature_updates=[
            {"feature": "nothing", "max_version_level": 1, "upgrade_type": 1}])),
    _ask("AddRaftVoter", lambda n: request(
        "AddRaftVoter", cluster_id=None, timeout_ms=5000, voter_id=999,
        voter_directory_id=n["topic_id"], listeners=[
            {"name": "CONTROLLER", "host": "127.0.0.1", "port": 1}])),
    _ask("RemoveRaftVoter", lambda n: request(
        "RemoveRaftVoter", cluster_id=None, voter_id=999, voter_directory_id=n["topic_id"])),
    _ask("CreateDelegationToken", lambda n: request(
        "CreateDelegationToken", owner_principal_type="User",
        owner_principal_name=n["user"].removeprefix("User:"), renewers=[], max_lifetime_ms=-1),
        ways=ANY),
    _ask("DescribeDelegationToken", lambda n: request(
        "DescribeDelegationToken", owners=None), _listed("tokens", "token_id", "token"),
        ways=ANY),
    _ask("RenewDelegationToken", lambda n: request(
        "RenewDelegationToken", hmac=n["hmac"], renew_period_ms=-1), ways=ANY),
    _ask("ExpireDelegationToken", lambda n: request(
        "ExpireDelegationToken", hmac=n["hmac"], expiry_time_period_ms=3_600_000), ways=ANY),
)  # fmt: skip


def kind_named(title: str) -> Asked:
    """Return the kind of request that a title names."""
    return next(asked for asked in ASKED if asked.title == title)
