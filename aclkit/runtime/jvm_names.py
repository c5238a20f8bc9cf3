"""A gateway to a JVM → the same, which looks up each name of a class or a method once.

pyspark looks up ``functions.col`` anew for each column, and for a name without its package the JVM
tries every package that pyspark imports, each in every jar of Spark's: a third of the time that it
plans for where rows are few.
"""

from __future__ import annotations

from typing import Final

from py4j import protocol
from py4j.java_gateway import JavaGateway

_LOOKS_UP: Final = (
    protocol.REFLECTION_COMMAND_NAME + protocol.REFL_GET_UNKNOWN_SUB_COMMAND_NAME,
    protocol.REFLECTION_COMMAND_NAME + protocol.REFL_GET_MEMBER_SUB_COMMAND_NAME,
)
_IMPORTS: Final = protocol.JVMVIEW_COMMAND_NAME + protocol.JVM_IMPORT_SUB_COMMAND_NAME
_IS_NAME: Final = (
    protocol.SUCCESS_CLASS,
    protocol.SUCCESS_PACKAGE,
    protocol.SUCCESS + protocol.METHOD_TYPE,
)
"""How an answer begins that tells what a name stands for; any other is the value of a field."""


def remember_names(gateway: JavaGateway) -> None:
    """Let a gateway keep what classes, packages and methods names stand for, up to an import."""
    client, known = gateway._gateway_client, dict[str, str]()
    ask = client.send_command

    def send_command(command: str, *rest: bool, **how: bool) -> object:
        if command in known:
            return known[command]
        if command.startswith(_IMPORTS):
            known.clear()
        answer = ask(command, *rest, **how)
        if command.startswith(_LOOKS_UP) and answer.startswith(_IS_NAME):
            known[command] = answer
        return answer

    client.send_command = send_command
