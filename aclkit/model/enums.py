"""Kafka's ACL enums with the codes of the log: code ↔ name, unknown codes included.

Codes are signed bytes. A code that this version does not know has the name ``UNKNOWN(code)``,
so that a name always leads back to its code and nothing is lost.

Source: org.apache.kafka.common.{resource.ResourceType, resource.PatternType,
acl.AclOperation, acl.AclPermissionType}. GLOB is KIP-1042's; code 5 is the next free one and no
Kafka release writes it.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

_UNKNOWN: Final = re.compile(r"UNKNOWN\((-?[0-9]{1,3})\)")


class CodedEnum(IntEnum):
    """An enum of Kafka whose values are the codes of the metadata log."""

    @classmethod
    def name_of(cls, code: int) -> str:
        """Return Kafka's name for a code, or ``UNKNOWN(code)``.

        >>> ResourceType.name_of(2), ResourceType.name_of(-3)
        ('TOPIC', 'UNKNOWN(-3)')
        """
        try:
            return cls(code).name
        except ValueError:
            return f"UNKNOWN({code})"

    @classmethod
    def code_of(cls, name: str) -> int:
        """Return the code of a name that ``name_of`` gave.

        Raises:
            ValueError: the name is none of this enum's and not ``UNKNOWN(code)`` of a code that
                has no name.

        >>> PatternType.code_of("GLOB"), PatternType.code_of("UNKNOWN(9)")
        (5, 9)
        """
        if name in cls.__members__:
            return int(cls[name])
        written = _UNKNOWN.fullmatch(name)
        if written and cls.name_of(int(written[1])) == name and -128 <= int(written[1]) <= 127:
            return int(written[1])
        raise ValueError(f"{name!r} is not a {cls.__name__}")

    @classmethod
    def is_word(cls, text: str) -> bool:
        """Whether a text is a name that ``name_of`` gives.

        >>> AclPermissionType.is_word("ALLOW"), AclPermissionType.is_word("ALLOV")
        (True, False)
        """
        try:
            cls.code_of(text)
        except ValueError:
            return False
        return True

    @classmethod
    def ordinal(cls, name: str) -> int:
        """Return where Java's enum sorts a name: unknown codes sort as UNKNOWN."""
        return int(cls[name]) if name in cls.__members__ else 0

    @classmethod
    def is_known(cls, name: str) -> bool:
        """Whether a name is one of this enum's own, UNKNOWN aside."""
        return name in cls.__members__ and name != "UNKNOWN"

    @classmethod
    def brokers_name(cls, name: str) -> str:
        """Return what a broker calls it: a code that it does not know is UNKNOWN."""
        return name if cls.is_known(name) else "UNKNOWN"


class ResourceType(CodedEnum):
    """What an ACL protects; ANY exists in filters only."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(CodedEnum):
    """How an ACL's resource name is read; ANY and MATCH exist in filters only."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4
    GLOB = 5

    @classmethod
    def ordinal(cls, name: str) -> int:
        """Return where a broker sorts a pattern type: code 5 is UNKNOWN to every release."""
        return 0 if name == "GLOB" else super().ordinal(name)


class AclOperation(CodedEnum):
    """What is done to a resource; ANY exists in filters only."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermissionType(CodedEnum):
    """DENY or ALLOW; ANY exists in filters only."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3
