"""A user of a broker and a request of Kafka's protocol → the answer, with all its error codes."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from kafka.net import KafkaConnectionManager, NetworkSelector
from kafka.protocol.admin import CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest

from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from tests.tools.broker.server import Broker

_MILLISECONDS: Final = 30_000
_AT_ONCE: Final = 500
_BESIDES: Final = "topic_config_error_code"


@dataclass(frozen=True, slots=True)
class Client:
    """A connection to a broker."""

    manager: KafkaConnectionManager
    node: str

    def send(self, request: Any) -> Any:
        """Send a request and return its answer, whatever errors stand in it."""

        async def ask() -> Any:
            return await self.manager.send(request, self.node)

        pending = self.manager.call_soon(ask)
        return self.manager.run(self.manager.wait_for, pending, _MILLISECONDS)

    def create(self, acls: Iterable[Acl]) -> list[Acl]:
        """Add ACLs, and return those that the broker takes."""
        taken = []
        for some in _batches(acls):
            answer = self.send(CreateAclsRequest(creations=[_fields(acl) for acl in some]))
            results = zip(some, answer.results, strict=True)
            taken += [acl for acl, result in results if not result.error_code]
        return taken

    def delete(self, acls: Iterable[Acl]) -> int:
        """Remove ACLs, and return how many there were."""
        count = 0
        for some in _batches(acls):
            answer = self.send(DeleteAclsRequest(filters=[_filter(acl) for acl in some]))
            count += sum(len(result.matching_acls) for result in answer.filter_results)
        return count

    def acls(self) -> set[tuple[str, ...]]:
        """All ACLs of the broker, without ids (``Acl.binding``)."""
        answer = self.send(
            DescribeAclsRequest(
                min_version=1, resource_type_filter=1, resource_name_filter=None,
                pattern_type_filter=1, principal_filter=None, host_filter=None, operation=1,
                permission_type=1,
            )
        )  # fmt: skip
        assert not answer.error_code, answer
        return {
            (
                ResourceType.name_of(found.resource_type), found.resource_name,
                PatternType.name_of(found.pattern_type), acl.principal, acl.host,
                AclOperation.name_of(acl.operation), AclPermissionType.name_of(acl.permission_type),
            )
            for found in answer.resources
            for acl in found.acls
        }  # fmt: skip


def error_codes(answer: object) -> set[int]:
    """All error codes that stand anywhere in an answer, but of what CreateTopics tells besides."""
    if isinstance(answer, dict):
        names = (name for name in answer if name.endswith("error_code") and name != _BESIDES)
        return {answer[name] for name in names}.union(*map(error_codes, answer.values()))
    if isinstance(answer, list | tuple):
        return set().union(*map(error_codes, answer))
    return set() if not hasattr(answer, "to_dict") else error_codes(answer.to_dict())


@contextmanager
def connect(
    broker: Broker, listener: str = "PLAINTEXT", user: str | None = None
) -> Iterator[Client]:
    """Connect to a broker; over SASL as a user of it."""
    login = {
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_plain_username": user,
        "sasl_plain_password": user and broker.users[user],
    }
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    net = NetworkSelector()
    manager = KafkaConnectionManager(
        net,
        bootstrap_servers=broker.address(listener),
        security_protocol=listener,
        request_timeout_ms=_MILLISECONDS,
        receive_message_max_bytes=1 << 28,
        **(login if user else {}),
    )
    try:
        (node,) = manager.cluster.bootstrap_brokers()

        async def ready() -> None:
            await manager.get_connection(node.node_id, refresh_metadata_on_err=False)

        manager.run(manager.wait_for, manager.call_soon(ready), _MILLISECONDS)
        yield Client(manager, node.node_id)
    finally:
        manager.close()
        net.close()


def _batches(acls: Iterable[Acl]) -> Iterator[Sequence[Acl]]:
    rows = list(acls)
    return (rows[at : at + _AT_ONCE] for at in range(0, len(rows), _AT_ONCE))


def _fields(acl: Acl) -> CreateAclsRequest.AclCreation:
    return CreateAclsRequest.AclCreation(
        resource_type=ResourceType.code_of(acl.resource_type),
        resource_name=acl.resource_name,
        resource_pattern_type=PatternType.code_of(acl.pattern_type),
        principal=acl.principal,
        host=acl.host,
        operation=AclOperation.code_of(acl.operation),
        permission_type=AclPermissionType.code_of(acl.permission_type),
    )


def _filter(acl: Acl) -> DeleteAclsRequest.DeleteAclsFilter:
    return DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=ResourceType.code_of(acl.resource_type),
        resource_name_filter=acl.resource_name,
        pattern_type_filter=PatternType.code_of(acl.pattern_type),
        principal_filter=acl.principal,
        host_filter=acl.host,
        operation=AclOperation.code_of(acl.operation),
        permission_type=AclPermissionType.code_of(acl.permission_type),
    )
