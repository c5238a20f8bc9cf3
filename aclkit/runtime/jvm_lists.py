"""A gateway to a JVM → the same, which is sent lists of columns and names ten elements at a time.

py4j makes an empty list and adds each element by a message of its own: a quarter of all messages
while Spark's plans are made.
"""

from __future__ import annotations

from typing import Final, TypeGuard

from py4j.java_gateway import GatewayClient, JavaClass, JavaGateway, JavaObject

_AT_ONCE: Final = 10
"""So many elements does ``java.util.List.of`` take."""

_Elements = list[str | JavaObject] | tuple[str | JavaObject, ...]


def send_lists_at_once(gateway: JavaGateway) -> None:
    """Let a gateway make lists of what it holds, and of texts, in few messages."""
    client = gateway._gateway_client
    client.converters = [_ByTens(), *client.converters]


class _ByTens:
    """Makes a list of the JVM that is never changed; py4j makes all other lists in its own way."""

    def can_convert(self, value: object) -> TypeGuard[_Elements]:
        """Whether a value is a list, not empty, whose elements are of the JVM or texts."""
        return (
            isinstance(value, list | tuple)
            and bool(value)
            and all(isinstance(element, str | JavaObject) for element in value)
        )

    def convert(self, value: _Elements, client: GatewayClient) -> JavaObject:
        """Make the list."""
        tens = JavaClass("java.util.List", client)
        first = tens.of(*value[:_AT_ONCE])
        if len(value) <= _AT_ONCE:
            return first
        whole = JavaClass("java.util.ArrayList", client)(first)
        for at in range(_AT_ONCE, len(value), _AT_ONCE):
            whole.addAll(tens.of(*value[at : at + _AT_ONCE]))
        return whole
