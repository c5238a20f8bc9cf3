"""The settings under which ACLs are read, and the two presets of ``--semantics``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

MOST_SPECIFIC: Final = "most-specific"
BROKER: Final = "broker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Semantics:
    """How an ACL's text is read and which matching ACL is named as the deciding one.

    Attributes:
        glob_patterns: pattern code 5 is a glob; otherwise a prefix, as today's brokers take it.
        identity_globs: an ACL's principal type, principal name and host are globs where they
            hold ``*`` or ``?``, and an empty part is ``*``; otherwise they are compared as text.
        deciding_acl: ``most-specific`` (KIP-1042) or ``broker`` (what Kafka's audit log names).
        wildcard_defect: LITERAL ``*`` misses longer names that begin with ``*``, as in Kafka
            (seen up to 4.3.1; the source of 4.4.0 is the same).
        cidr_hosts: an ACL's host such as ``10.0.0.0/8`` is a range of addresses, as in Kafka from
            4.4 on (KIP-1276); otherwise it is compared as text.
    """

    glob_patterns: bool = True
    identity_globs: bool = True
    deciding_acl: str = MOST_SPECIFIC
    wildcard_defect: bool = False
    cidr_hosts: bool = False

    def said(self) -> dict[str, Any]:
        """Return the settings by name; ``cidr_hosts`` only where it is on, for files as of old."""
        said = asdict(self)
        if not self.cidr_hosts:
            del said["cidr_hosts"]
        return said


KIP_1042: Final = Semantics()
KAFKA: Final = Semantics(
    glob_patterns=False, identity_globs=False, deciding_acl=BROKER, wildcard_defect=True
)
PRESETS: Final[dict[str, Semantics]] = {"kip-1042": KIP_1042, "kafka": KAFKA}

AUTO, ON, OFF = "auto", "on", "off"
"""What ``--cidr-hosts`` can say; ``auto`` is as the brokers that a log registers read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """What the brokers' configuration adds to the ACLs; it is in no metadata log.

    Attributes:
        super_users: principals that are always allowed, compared as text.
        allow_everyone: ``allow.everyone.if.no.acl.found``.
    """

    super_users: frozenset[str] = frozenset()
    allow_everyone: bool = False
