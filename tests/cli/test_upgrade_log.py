"""A cluster that is upgraded to 4.4 broker by broker: what each stage's log comes to."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from aclkit.model.acl import Request
from aclkit.model.semantics import KAFKA, BrokerSettings
from aclkit.rules.decide.rules import ALLOWED, decide
from tests import factories
from tests.cli.running import Warehouse
from tests.pipeline.sources.upgrade_log import NEW, OLD, ROLLING, STAGES, stage_acls, stage_log

pytestmark = pytest.mark.usefixtures("spark")

HOSTS = (
    "10.1.2.3", "10.1.2.4", "10.1.2.9", "10.1.2.127", "10.1.2.128", "10.1.3.1", "10.2.0.1",
    "0.0.0.0", "172.16.0.1", "172.16.5.1", "2001:db8:0:0:0:0:0:1", "2001:db8:1:0:0:0:0:1",
    "2001:db8:1:2:0:0:0:3", "2001:db8:1:2:0:0:0:4", "0:0:0:0:0:0:0:1", "2001:db9:0:0:0:0:0:1%2",
)  # fmt: skip
TOPICS = ("pay", "ship", "six", "odd")
USERS = ("User:app", "User:ops", "User:new")
FIELDS = ", ".join(Request.__slots__)


@pytest.fixture(scope="module")
def stages(_session, tmp_path_factory):
    """One warehouse, a cluster for each stage, and what its replay noted."""
    folder = tmp_path_factory.mktemp("upgrade")
    hosts = folder / "hosts.csv"
    hosts.write_text("\n".join(("host", *HOSTS)), encoding="utf-8")
    users = folder / "users.csv"
    users.write_text("\n".join(("principal", *USERS)), encoding="utf-8")
    warehouse = Warehouse(folder / "warehouse")
    noted = {}
    for stage in STAGES:
        log = stage_log(folder / stage, stage)
        noted[stage] = warehouse.replay(f"metadata-log:{log}", cluster=stage).stderr
        more = ("--hosts", hosts, "--principals", users, "--extend")
        warehouse.run("materialize", "--semantics", "kafka", *more, cluster=stage)
    return warehouse, noted


def ruling(stage, asked):
    """What the pure rule says of a request at a stage."""
    semantics = replace(KAFKA, cidr_hosts=stage != OLD)
    return decide(stage_acls(stage), asked, BrokerSettings(), semantics)


def request(principal, operation, topic, host):
    return factories.request(topic, principal=principal, host=host, operation=operation)


def test_the_log_of_each_stage_gives_its_acls_and_brokers(stages):
    warehouse, noted = stages
    for stage in STAGES:
        assert set(warehouse.acls(stage)) == {each.binding for each in stage_acls(stage)}
    assert "10.0.0.0/8 as text: brokers 1, 2 support metadata.version up to 30" in noted[OLD]
    assert (
        "differently, as address ranges: broker 2 supports metadata.version up to 33"
        in noted[ROLLING]
    )
    assert (
        "Brokers read hosts such as 10.0.0.0/8 as address ranges: brokers 1, 2 support"
        in noted[NEW]
    )
    assert "metadata.version 33 (4.4-IV2) is in force" in noted[NEW]


def test_every_cell_is_what_the_rule_says(stages):
    warehouse, _ = stages
    for stage in STAGES:
        rows = warehouse.sql(
            f"SELECT {FIELDS}, decision, rule, deciding_acl_id FROM explain "
            f"WHERE cluster_id = '{stage}' AND resource_name IN {TOPICS} AND host <> '<any-other>'"
        )
        atoms = {row["host"] for row in rows if row["host"].startswith("<any-other in ")}
        assert len(rows) == 4 * 8 * len({row["principal"] for row in rows}) * (
            len({*HOSTS, "10.1.2.4"}) + len(atoms)
        )
        assert len(atoms) == {OLD: 0, ROLLING: 11, NEW: 13}[stage]
        for row in rows:
            asked = Request(**{field: row[field] for field in Request.__slots__})
            found = ruling(stage, asked)
            named = found.acl.acl_id if found.acl else ""
            right = (found.decision, found.rule, named)
            assert (row["decision"], row["rule"], row["deciding_acl_id"]) == right, (stage, asked)


@pytest.mark.parametrize("host", ["10.1.2.3", "10.1.2.4", "10.2.0.1", "2001:db8:1:2:0:0:0:4"])
@pytest.mark.parametrize(("operation", "topic"), [("READ", "pay"), ("WRITE", "ship")])
def test_who_can_names_those_whom_the_rule_allows(stages, operation, topic, host):
    warehouse, _ = stages
    for stage in STAGES:
        answer = warehouse.run(
            *("who-can", operation, f"topic:{topic}", "--host", host, "--format", "csv"),
            cluster=stage,
        )
        found = {row["principal"] for row in csv.DictReader(io.StringIO(answer.stdout))}
        assert found == {
            user
            for user in USERS
            if ruling(stage, request(user, operation, topic, host)).decision == ALLOWED
        }


@pytest.mark.parametrize(
    ("asked", "deciding"),
    [
        (("User:app", "READ", "pay", "10.2.0.1"), (None, "10.0.0.0/8", "10.0.0.0/8")),
        (("User:app", "READ", "pay", "10.1.2.4"), (None, "10.1.0.0/16", "10.1.0.0/16")),
        (("User:ops", "READ", "pay", "10.1.2.4"), ("10.1.2.4",) * 3),
        (("User:app", "WRITE", "ship", "10.1.2.9"), ("*", "10.1.2.0/24", "10.1.2.0/24")),
        (("User:app", "WRITE", "ship", "10.1.3.9"), ("*",) + ("010.001.003.000/24",) * 2),
        (("User:ops", "READ", "six", "2001:db8:1::"), (None, "::/0", "::/0")),
        (("User:ops", "DESCRIBE", "six", "0.0.0.0"), (None, None, None)),
        (("User:app", "READ", "odd", "10.0.0.1"), (None, None, None)),
        (("User:ops", "READ", "odd", "0.0.0.0"), (None, None, None)),
        (("User:new", "READ", "pay", "172.16.5.7"), (None, None, "172.16.5.0/24")),
    ],
)
def test_why_names_the_acl_that_decides_at_each_stage(stages, asked, deciding):
    warehouse, _ = stages
    user, operation, topic, host = asked
    for stage, expected in zip(STAGES, deciding, strict=False):
        answer = json.loads(
            warehouse.run(
                *("why", user, operation, f"topic:{topic}", "--host", host, "--format", "json"),
                cluster=stage,
            ).stdout
        )
        hosts = {each.acl_id: each.host for each in stage_acls(stage)}
        assert hosts.get(answer["acl_id"]) == expected, (stage, answer["sentence"])
        found = ruling(stage, request(user, operation, topic, answer["host"]))
        assert (answer["decision"], answer["rule"]) == (found.decision, found.rule)
