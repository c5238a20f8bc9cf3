"""Kafka's Authorizer (KIP-504) in Python, over a published warehouse or a list of ACLs."""

from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import (
    AclBindingDeleteResult,
    AclCreateResult,
    AclDeleteResult,
    Action,
    AuthorizationResult,
    Endpoint,
    RequestContext,
    ServerInfo,
)
from aclkit.kafka.authorizer.state import AclStore, MemoryStore
from aclkit.kafka.authorizer.warehouse import over_warehouse

__all__ = [
    "AclBindingDeleteResult",
    "AclCreateResult",
    "AclDeleteResult",
    "AclStore",
    "Action",
    "AuthorizationResult",
    "Authorizer",
    "Endpoint",
    "MemoryStore",
    "RequestContext",
    "ServerInfo",
    "over_warehouse",
]
