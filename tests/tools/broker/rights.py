"""A user whose rights on a real broker are taken away one by one, and what aclkit says of it.

The truth is Kafka's: each state is asked of the broker by the user itself, with the same requests
as a client, and its error codes say which right is missing. What ``doctor`` prints must grant it.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aclkit.errors import SurroundingsError
from aclkit.model.acl import Acl
from aclkit.model.resource import CLUSTER_NAME
from aclkit.model.unread import GROUPS, SETTINGS, TOKENS, TOPICS, TRANSACTIONAL_IDS, USERS
from tests.tools.broker.asked import kind_named, new_topic
from tests.tools.broker.client import Client, connect, error_codes
from tests.tools.broker.messages import request
from tests.tools.broker.running import SUPER_USERS, Difference, run_aclkit
from tests.tools.broker.server import Broker
from tests.tools.broker.tools import Tools

USERS_OF_BROKER: Final = {
    "admin": "admin-secret", "auditor": "auditor-secret", "owner": "owner-secret",
}  # fmt: skip
_AUDITOR: Final = "User:auditor"
_LISTENER: Final = "SASL_PLAINTEXT"
_SECONDS: Final = 30.0
_REFUSED: Final = {29, 30, 31, 53, 65}

_ALL: Final[Mapping[str, tuple[str, str, str]]] = {
    "DESCRIBE on the cluster": ("DESCRIBE", "CLUSTER", CLUSTER_NAME),
    "DESCRIBE_CONFIGS on the cluster": ("DESCRIBE_CONFIGS", "CLUSTER", CLUSTER_NAME),
    "DESCRIBE on all topics": ("DESCRIBE", "TOPIC", "*"),
    "DESCRIBE on all groups": ("DESCRIBE", "GROUP", "*"),
    "DESCRIBE on all transactional ids": ("DESCRIBE", "TRANSACTIONAL_ID", "*"),
    "DESCRIBE on all delegation tokens": ("DESCRIBE", "DELEGATION_TOKEN", "*"),
}
_SILENT: Final[Mapping[str, str]] = {
    "DESCRIBE on all transactional ids": "TRANSACTIONAL_ID",
    "DESCRIBE on all delegation tokens": "DELEGATION_TOKEN",
}
"""Rights without which brokers leave names out and say nothing, and the type of these names."""

_PARTS: Final = {"TRANSACTIONAL_ID": TRANSACTIONAL_IDS, "DELEGATION_TOKEN": TOKENS}


@dataclass(frozen=True, slots=True)
class _Case:
    """One state: ``taken`` is the right that is missing, ``deny`` whether a DENY takes it."""

    taken: str | None
    deny: bool = False

    def __str__(self) -> str:
        if self.taken is None:
            return "all rights"
        return f"{'DENY of' if self.deny else 'without'} {self.taken}"


def compare_rights(broker: Broker, tools: Tools, folder: Path, say: Callable[[str], None]) -> None:
    """Take each right away, by removing its ALLOW and by a DENY, and compare what aclkit says."""
    cases = [_Case(None), *map(_Case, _ALL), _Case("DESCRIBE_CONFIGS on the cluster", deny=True)]
    with ExitStack() as stack:
        work = _Work(
            broker,
            stack.enter_context(connect(broker)),
            stack.enter_context(connect(broker, _LISTENER, "auditor")),
            stack.enter_context(connect(broker, _LISTENER, "owner")),
        )
        work.fill()
        differences = []
        for number, case in enumerate(cases):
            with work.having(case):
                found = [*work.compare(case, folder / f"rights-{number}", say)]
            differences += [f"{case}: {each}" for each in found]
        differences += work.grants(tools, folder / "granted", say)
    if differences:
        raise Difference("\n".join(differences))


@dataclass(frozen=True)
class _Work:
    """The broker, a super user, the user who reads, and one who owns a token."""

    broker: Broker
    admin: Client
    auditor: Client
    owner: Client

    def fill(self) -> None:
        """Make a topic, a group, a transactional id, a token and an ACL of somebody."""
        self._until_done(
            request("CreateTopics", topics=[new_topic("orders")], timeout_ms=5000,
                    validate_only=False)
        )  # fmt: skip
        for title, names in (
            ("FindCoordinator of a group", {"group": "billing"}),
            ("OffsetCommit", {"group": "billing", "topic": "orders"}),
            ("FindCoordinator of a transactional id", {"txn": "tx-1"}),
            ("InitProducerId with a transactional id", {"txn": "tx-1"}),
        ):
            self._until_done(kind_named(title).make(names))
        answer = self.owner.send(
            request("CreateDelegationToken", owner_principal_type=None, owner_principal_name=None,
                    renewers=[], max_lifetime_ms=-1)
        )  # fmt: skip
        assert not answer.error_code, answer
        self.admin.create([_acl("READ", "TOPIC", "orders", principal="User:owner")])

    def having(self, case: _Case) -> ExitStack:
        """Give the user all rights but one, for as long as the block lasts."""
        stack = ExitStack()
        acls = [_acl(*right) for name, right in _ALL.items() if case.deny or name != case.taken]
        if case.deny and case.taken is not None:
            acls.append(_acl(*_ALL[case.taken], permission_type="DENY"))
        self.admin.create(acls)
        stack.callback(lambda: self.admin.delete(acls))
        self._settle(case)
        return stack

    def compare(self, case: _Case, warehouse: Path, say: Callable[[str], None]) -> Iterator[str]:
        """Yield what aclkit says otherwise than the broker."""
        truth = self.refused()
        words = ("run", *self._live(), "--super-users", SUPER_USERS, "--fail-on", "never")
        if "ACLs" in truth:
            told = run_aclkit(warehouse, *self._doctor(), codes=(SurroundingsError.exit_code,))
            run_aclkit(warehouse, *words, codes=(SurroundingsError.exit_code,))
            if "Missing right: DESCRIBE on the cluster for User:auditor" not in told:
                yield f"doctor does not name the right: {told[-500:]}"
            say(f"{case}: exit code {SurroundingsError.exit_code}, and the right is named")
            return
        run_aclkit(warehouse, *words)
        settings = json.loads(_rows(warehouse, _SETTINGS)[0]["settings"])
        unread = settings.get("unread", {})
        hidden = {_PARTS[_SILENT[right]] for right in _SILENT if right == case.taken}
        expected_parts = dict.fromkeys(truth, "right") | dict.fromkeys(hidden, "hidden")
        if unread != expected_parts:
            yield f"not read are {unread}; expected {expected_parts}"
        rights = {row["subject"] for row in _rows(warehouse, _FINDINGS)}
        expected = {case.taken} if truth or hidden else set()
        if rights != expected:
            yield f"missing-right names {rights}, expected {expected}"
        named = {row["resource_type"] for row in _rows(warehouse, _NAMES)}
        lacking = {"TOPIC", "GROUP", *_SILENT.values()} - named
        silent = {_SILENT[case.taken]} if case.taken in _SILENT else set()
        if lacking != silent:
            yield f"names are missing of {lacking or 'no type'}, expected of {silent or 'none'}"
        if case.taken == _TOPICS and _HIDDEN not in " ".join(self._notes(warehouse)):
            yield "no note says that topics are hidden from the user"
        say(
            f"{case}: not read: {', '.join(sorted(unread)) or 'nothing'}; missing-right: "
            f"{', '.join(map(str, rights)) or 'none'}; no names of: "
            f"{', '.join(sorted(lacking)) or 'no type'}"
        )

    def _notes(self, warehouse: Path) -> list[str]:
        return [row["note"] for row in _rows(warehouse, _NOTES)]

    def refused(self) -> set[str]:
        """Ask as the user, and return the parts that the broker refuses."""
        config = {"resource_type": 4, "resource_name": "1", "configuration_keys": ["super.users"]}
        asked = {
            "ACLs": request(
                "DescribeAcls", min_version=1, resource_type_filter=1, resource_name_filter=None,
                pattern_type_filter=1, principal_filter=None, host_filter=None, operation=1,
                permission_type=1),
            USERS: request("DescribeUserScramCredentials", users=[]),
            SETTINGS: request(
                "DescribeConfigs", resources=[config], include_synonyms=False,
                include_documentation=False),
            GROUPS: request("ListGroups", states_filter=[], types_filter=[]),
            TOPICS: request("DescribeLogDirs", topics=None),
        }  # fmt: skip
        return {
            part for part, each in asked.items() if _REFUSED & error_codes(self.auditor.send(each))
        }

    def grants(self, tools: Tools, warehouse: Path, say: Callable[[str], None]) -> list[str]:
        """Return what is wrong with the command that doctor prints: it must grant the right."""
        case = _Case("DESCRIBE_CONFIGS on the cluster")
        with self.having(case):
            rows = json.loads(run_aclkit(warehouse, *self._doctor()))
            commands = [row["what_to_do"] for row in rows if row["check"] == "rights"]
            if len(commands) != 1:
                return [f"doctor prints {len(commands)} commands for {case}"]
            words = shlex.split(commands[0])
            at = words.index("--bootstrap-server")
            tools.acls(self.broker, *words[1:at], *words[at + 2 :])
            self._settle(_Case(None))
            rows = json.loads(run_aclkit(warehouse, *self._doctor()))
            left = [row["found"] for row in rows if row["check"] == "rights"]
            self.admin.delete([_acl(*_ALL[str(case.taken)])])
        say(f"doctor's command grants it: {commands[0]}")
        return left

    def _settle(self, case: _Case) -> None:
        """Wait until the broker decides by the new ACLs."""
        end = time.monotonic() + _SECONDS
        expected = set() if case.taken not in _OF_RIGHT else {*_OF_RIGHT[case.taken]}
        while self.refused() != expected:
            if time.monotonic() > end:
                raise Difference(f"{case}: refused are {self.refused()}, expected {expected}")
            time.sleep(0.2)

    def _live(self) -> tuple[str, ...]:
        address = self.broker.address(_LISTENER)
        config = self.broker.client(_LISTENER, "auditor")
        return ("--source", f"live:{address}", "--command-config", str(config))

    def _doctor(self) -> tuple[str, ...]:
        return ("doctor", *self._live(), "--format", "json", "--timeout", "60")

    def _until_done(self, message: Any) -> Any:
        end = time.monotonic() + _SECONDS
        while error_codes(answer := self.admin.send(message)) - {0}:
            if time.monotonic() > end:
                raise Difference(f"the broker does not do it: {answer}")
            time.sleep(0.1)
        return answer


_OF_RIGHT: Final[Mapping[str | None, tuple[str, ...]]] = {
    "DESCRIBE on the cluster": ("ACLs", USERS, TOPICS),
    "DESCRIBE_CONFIGS on the cluster": (SETTINGS,),
}
"""Right → what Kafka refuses without it (kafka.server.KafkaApis)."""

_TOPICS: Final = "DESCRIBE on all topics"
_HIDDEN: Final = "Missing right: DESCRIBE on all topics."
_NOTES: Final = "SELECT unnest(notes) AS note FROM job_run"
_SETTINGS: Final = "SELECT settings FROM job_run ORDER BY run_number DESC LIMIT 1"
_FINDINGS: Final = "SELECT subject FROM finding_current WHERE finding = 'missing-right'"
_NAMES: Final = "SELECT DISTINCT resource_type FROM resource WHERE origin = 'log'"


def _rows(warehouse: Path, query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        run_aclkit(warehouse, "sql", query, "--format", "json")
    )
    return found


def _acl(operation: str, resource_type: str, name: str, **other: str) -> Acl:
    fields = {
        "acl_id": "", "resource_type": resource_type, "resource_name": name,
        "pattern_type": "LITERAL", "principal": _AUDITOR, "host": "*", "operation": operation,
        "permission_type": "ALLOW",
    }  # fmt: skip
    return Acl(**(fields | other))
