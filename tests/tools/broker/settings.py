"""Brokers that keep their super users back, or have no authorizer, and what aclkit says of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from aclkit.errors import DataError
from aclkit.model.acl import Acl
from aclkit.model.resource import CLUSTER_NAME
from tests.tools.broker.client import connect
from tests.tools.broker.running import SUPER_USERS, Difference, run_aclkit
from tests.tools.broker.server import Broker

UNAUTHORIZED: Final = {"authorizer.class.name": ""}
_ASKER: Final = "bob"
_LISTENER: Final = "SASL_PLAINTEXT"
_FINDING: Final = "super-users-unknown"
_FOUND: Final = "SELECT severity FROM finding_current WHERE finding = '{}'"


def compare_hidden(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Insist on the finding, for a super user who asks and for one who may not DESCRIBE_CONFIGS."""
    with connect(broker) as admin:
        assert admin.create([_may_describe_cluster()])
    differences = []
    for user in ("admin", _ASKER):
        found = [*_hidden_from(user, broker, folder / f"hidden-{user}")]
        if not found:
            say(f"live as {user}, super.users kept back: {_FINDING}, until --super-users is passed")
        differences += found
    if differences:
        raise Difference("\n".join(differences))


def _hidden_from(user: str, broker: Broker, warehouse: Path) -> Iterator[str]:
    """Yield what is not as it has to be where a user asks."""
    live = ("--source", f"live:{broker.address(_LISTENER)}")
    properties = ("--command-config", broker.client(_LISTENER, user))
    asked = ("run", *live, *properties, "--fail-on", "never")
    run_aclkit(warehouse, *asked)
    if _severities(warehouse) != ["high"]:
        yield f"{user} is told no super users: expected a high {_FINDING}"
    run_aclkit(warehouse, *asked, "--super-users", SUPER_USERS)
    if _severities(warehouse):
        yield f"{user}: {_FINDING} although --super-users is passed"


def compare_unauthorized(broker: Broker, folder: Path, say: Callable[[str], None]) -> None:
    """Insist that a broker without authorizer is refused."""
    live = ("--source", f"live:{broker.address()}")
    for command in ("replay", "run"):
        run_aclkit(folder / "open", command, *live, codes=(DataError.exit_code,))
    say(f"a broker without authorizer is refused, exit code {DataError.exit_code}")


def _may_describe_cluster() -> Acl:
    """What listing ACLs takes; DESCRIBE_CONFIGS is another right."""
    return Acl(
        acl_id="",
        resource_type="CLUSTER",
        resource_name=CLUSTER_NAME,
        pattern_type="LITERAL",
        principal=f"User:{_ASKER}",
        host="*",
        operation="DESCRIBE",
        permission_type="ALLOW",
    )


def _severities(warehouse: Path) -> list[str]:
    told = run_aclkit(warehouse, "sql", _FOUND.format(_FINDING), "--format", "csv")
    return [row["severity"] for row in csv.DictReader(io.StringIO(told))]
