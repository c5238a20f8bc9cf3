"""Requests as an authorizer takes them, with defaults."""

from __future__ import annotations

from aclkit.kafka.authorizer.requests import Action, Endpoint, RequestContext, ServerInfo
from aclkit.kafka.principals.principal import KafkaPrincipal
from aclkit.model.acl import Request

CONTROLLER, CLIENTS = Endpoint("CONTROLLER"), Endpoint("CLIENTS", "SASL_SSL", "b1", 9092)
SERVER = ServerInfo(cluster_id="c", broker_id=1, endpoints=(CONTROLLER, CLIENTS))


def context(principal="User:a", address="10.0.0.1", **fields):
    """Say who asks."""
    return RequestContext(
        principal=KafkaPrincipal.parse(principal), client_address=address, **fields
    )


def action(resource_name="orders", operation="READ", resource_type="TOPIC", **fields):
    """Say what is asked for."""
    return Action(
        operation=operation, resource_type=resource_type, resource_name=resource_name, **fields
    )


def asked_by(request: Request):
    """Turn a request into a context and an action."""
    return (
        context(request.principal, request.host),
        action(request.resource_name, request.operation, request.resource_type),
    )


def answer(authorizer, principal="User:a", resource_name="orders", operation="READ", **fields):
    """Ask one thing."""
    (found,) = authorizer.authorize(
        context(principal), [action(resource_name, operation, **fields)]
    )
    return found


def results(futures):
    """Wait for all results of a change."""
    return [future.result(timeout=10) for future in futures]
