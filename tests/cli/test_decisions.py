"""20,000 answers of Kafka's own StandardAuthorizer, and ours, through the command line."""

from __future__ import annotations

import csv
import gzip
import json

import pyarrow as pa
import pytest

from aclkit.warehouse.duck import connect
from tests.cli.running import KRAFT_TEXT

pytestmark = pytest.mark.usefixtures("spark")

SUPER_USERS = "User:ANONYMOUS;User:admin"

ACL_AS_KAFKA_NAMES_IT = (
    "MatchingAcl(acl=StandardAcl(resourceType={}, resourceName={}, patternType={}, principal={}, "
    "host={}, operation={}, permissionType={}))"
)


@pytest.fixture(scope="module")
def kafkas_answers():
    """(principal, host, operation, type, name) → (decision, rule), as Kafka wrote them."""
    with gzip.open(KRAFT_TEXT / "decisions.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    assert len(rows) == 20_000
    # Kafka was asked for ::1 and saw what Java writes; its log names super users "super".
    java = {"::1": "0:0:0:0:0:0:0:1"}
    rule = {"super": "SuperUser"}
    return {
        (row[0], java.get(row[1], row[1]), *row[2:5]): (row[5], rule.get(row[6], row[6]))
        for row in rows
    }


@pytest.fixture(scope="module", params=["local", "spark"])
def decided(request, replayed, kafkas_answers, tmp_path_factory):
    """The real cluster, decided as a broker does for all that Kafka was asked about."""
    folder = tmp_path_factory.mktemp("decisions")
    columns = {
        "principals": (("principal",), {(key[0],) for key in kafkas_answers}),
        "hosts": (("host",), {("::1" if ":" in key[1] else key[1],) for key in kafkas_answers}),
        "resources": (("resource_type", "resource_name"), {key[3:] for key in kafkas_answers}),
    }
    options = ["--semantics", "kafka", "--super-users", SUPER_USERS]
    for name, (header, rows) in columns.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *sorted(rows)])
        options += [f"--{name}", str(folder / f"{name}.csv")]
    warehouse = replayed.copy(folder / "warehouse")
    warehouse.run("materialize", *options, "--decide-with", request.param)
    return warehouse


def test_decision_rule_and_deciding_acl_are_those_of_kafkas_authorizer(decided, kafkas_answers):
    names = ("principal", "host", "operation", "resource_type", "resource_name")
    asked = dict(zip(names, zip(*kafkas_answers, strict=True), strict=True))
    with connect(decided.published()) as connection:
        connection.register("asked", pa.table({n: list(column) for n, column in asked.items()}))
        rows = connection.execute(
            "SELECT e.principal, e.host, e.operation, e.resource_type, e.resource_name,"
            " e.decision, e.rule, a.resource_type, a.resource_name, a.pattern_type, a.principal,"
            " a.host, a.operation, a.permission_type"
            f" FROM asked JOIN explain e USING ({', '.join(names)})"
            " LEFT JOIN acl_current a ON a.cluster_id = e.cluster_id"
            " AND a.acl_id = e.deciding_acl_id"
        ).fetchall()
    ours = {}
    for row in rows:
        rule = ACL_AS_KAFKA_NAMES_IT.format(*row[7:]) if row[6] == "MatchingAcl" else row[6]
        ours[row[:5]] = (row[5], rule)
    different = {
        key: (ours.get(key), answer)
        for key, answer in kafkas_answers.items()
        if ours.get(key) != answer
    }
    assert different == {}


def who_can(warehouse, *arguments):
    out = warehouse.run("who-can", *arguments, "--format", "json").stdout
    return {row["principal"]: row for row in json.loads(out)}


def what_can(warehouse, *arguments):
    out = warehouse.run("what-can", *arguments, "--format", "json").stdout
    return {(row["operation"], row["host"]): row for row in json.loads(out)}


def test_who_can_finds_a_principal_that_comes_through_a_prefix(decided):
    rows = who_can(decided, "READ", "topic:customer.cdc.audit", "--host", "10.0.0.1")
    row = rows["User:svc-payments-api"]
    assert (row["decision"], row["rule"]) == ("ALLOWED", "MatchingAcl")
    assert "patternType=PREFIXED" in row["deciding_acl"]
    assert "principal=User:svc-payments-api" in row["deciding_acl"]


def test_who_can_finds_everybody_through_the_wildcard_principal(decided):
    rows = who_can(decided, "ALTER_CONFIGS", "topic:billing.clean.events", "--host", "10.0.0.1")
    assert {"User:nobody", "Group:analysts", "User:<any-other>"} <= set(rows)
    acl = rows["User:nobody"]["deciding_acl"]
    assert "name=bil," in acl
    assert "principal=User:*" in acl


def test_denied_host_leaves_super_users_alone(decided):
    rows = who_can(decided, "ALTER_CONFIGS", "topic:billing.clean.events", "--host", "192.168.1.66")
    assert set(rows) == {"User:ANONYMOUS", "User:admin"}
    assert {row["rule"] for row in rows.values()} == {"SuperUser"}


def test_what_can_names_the_wildcards_acl_for_a_principal_that_none_names(decided):
    rows = what_can(decided, "User:nobody", "topic:billing.clean.events", "--host", "10.0.0.1")
    assert {operation for operation, _ in rows} == {"ALTER_CONFIGS", "DESCRIBE_CONFIGS"}
    assert all("principal=User:*" in row["deciding_acl"] for row in rows.values())


def test_what_can_agrees_with_who_can(decided):
    forwards = who_can(decided, "READ", "topic:customer.cdc.audit", "--host", "10.0.0.1")
    backwards = what_can(
        decided, "User:svc-payments-api", "topic:customer.cdc.audit", "--host", "10.0.0.1"
    )
    assert backwards["READ", "10.0.0.1"]["acl_id"] == forwards["User:svc-payments-api"]["acl_id"]
