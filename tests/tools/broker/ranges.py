"""A broker asked live, and whether ranges (CIDR) decide in the warehouse as they do on the broker.

Nobody says which Kafka it runs: the broker tells that itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from aclkit.model.acl import Acl
from aclkit.model.semantics import OFF, ON
from tests.tools.broker.client import Client, connect
from tests.tools.broker.messages import request
from tests.tools.broker.running import SUPER_USERS, Difference, run_aclkit
from tests.tools.broker.server import Broker

USER: Final = "alice"
_CLIENT: Final = "127.0.0.1"
_DENIED_FROM: Final = {
    "by-range": "127.0.0.0/8",
    "by-one": "127.0.0.1/32",
    "by-bits": "126.1.2.3/07",
    "by-all": "0.0.0.0/0",
    "by-text": _CLIENT,
    "elsewhere": "10.0.0.0/8",
    "by-six": "::/0",
    "nowhere": "127.0.0.2/32",
}
"""A topic, and the host of the DENY on it. A client of this machine may be in the first four."""

_REFUSED: Final = 29


def compare_ranges(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Ask the broker and the warehouse who may DESCRIBE each topic; then pass --cidr-hosts."""
    with connect(broker) as admin:
        acls = list(_acls())
        assert len(admin.create(acls)) == len(acls)
    with connect(broker, "SASL_PLAINTEXT", USER) as client:
        fates = {topic: _is_allowed(client, topic) for topic in _DENIED_FROM}
    warehouse, live = folder / "ranges", f"live:{broker.address()}"
    asked = ("run", "--source", live, "--super-users", SUPER_USERS, "--fail-on", "never")
    run_aclkit(warehouse, *asked)
    found = {topic: _is_decided(warehouse, topic) for topic in _DENIED_FROM}
    if found != fates:
        wrong = {
            topic: host for topic, host in _DENIED_FROM.items() if found[topic] != fates[topic]
        }
        raise Difference(f"live, other than on the broker: DENY from {wrong}")
    denied = [host for topic, host in _DENIED_FROM.items() if not fates[topic]]
    say(f"live, without --cidr-hosts: DENY from {', '.join(denied)} holds as on the broker")
    for word in (OFF, ON):
        run_aclkit(warehouse, *asked, "--cidr-hosts", word)
        if _is_decided(warehouse, "by-range") != (word == OFF):
            raise Difference(f"--cidr-hosts {word} does not decide")
    say("--cidr-hosts on and off decide, whatever the broker says")


def _acls() -> Iterator[Acl]:
    for topic, host in _DENIED_FROM.items():
        for permission, where in (("ALLOW", "*"), ("DENY", host)):
            yield Acl(
                acl_id="",
                resource_type="TOPIC",
                resource_name=topic,
                pattern_type="LITERAL",
                principal=f"User:{USER}",
                host=where,
                operation="DESCRIBE",
                permission_type=permission,
            )


def _is_allowed(client: Client, topic: str) -> bool:
    """Whether the broker lets the client DESCRIBE a topic, which need not exist."""
    named = [{"name": topic}]
    answer = client.send(request("Metadata", topics=named, allow_auto_topic_creation=False))
    (found,) = answer.topics
    return bool(found.error_code != _REFUSED)


def _is_decided(warehouse: Path, topic: str) -> bool:
    """Whether the warehouse allows the same."""
    asked = ("why", f"User:{USER}", "DESCRIBE", f"topic:{topic}", "--host", _CLIENT)
    told = run_aclkit(warehouse, *asked, "--format", "json", codes=(0, 1))
    return bool(json.loads(told)["decision"] == "ALLOWED")
