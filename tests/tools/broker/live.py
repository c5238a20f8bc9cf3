"""``replay --source live:`` of strange ACLs, against what kafka-acls lists of the same broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from tests.tools.broker.client import connect
from tests.tools.broker.running import Difference, expect_equal, known_acls, run_aclkit
from tests.tools.broker.server import LISTENERS, Broker
from tests.tools.broker.strange import strange_acls
from tests.tools.broker.tools import Tools

PROPERTIES: Final = {"super.users": "User:ANONYMOUS;User:admin;User:CN=client"}
ACLS: Final = 1500
_Row = tuple[str, ...]


def compare_live(broker: Broker, tools: Tools, folder: Path, say: Callable[[str], None]) -> Path:
    """Read a broker's ACLs by each listener, and compare; return the warehouse of the first."""
    with connect(broker) as client:
        taken = client.create(strange_acls(ACLS, seed=14))
        expected = client.acls()
    say(f"the broker took {len(taken)} of {ACLS} ACLs with strange names")
    listing = tools.acls(broker, "--list")
    for listener in LISTENERS:
        warehouse = folder / f"live-{listener}"
        address, properties = broker.address(listener), broker.client(listener)
        run_aclkit(
            warehouse, "replay", "--source", f"live:{address}", "--command-config", properties,
        )  # fmt: skip
        found = known_acls(warehouse)
        expect_equal(f"live over {listener}", found, expected)
        if sorted(listing_lines(found)) != sorted(listing.split("\n")):
            raise Difference(f"live over {listener} is not what kafka-acls --list writes")
        say(f"live over {listener}: {len(found)} ACLs, as kafka-acls --list writes them")
    return folder / f"live-{LISTENERS[0]}"


def listing_lines(acls: Iterable[_Row]) -> list[str]:
    """What kafka-acls --list writes of some ACLs, in an order of its own (AclCommand)."""
    groups: dict[_Row, list[_Row]] = {}
    for resource_type, name, pattern_type, *entry in acls:
        groups.setdefault((resource_type, name, pattern_type), []).append(tuple(entry))
    text = ""
    for (kind, name, pattern), entries in groups.items():
        text += "Current ACLs for resource `ResourcePattern("
        text += f"resourceType={kind}, name={name}, patternType={pattern})`:\n"
        for user, host, operation, permission in entries:
            text += f"\t(principal={user}, host={host}, operation={operation}, "
            text += f"permissionType={permission})\n"
        text += "\n"
    return text.split("\n")
