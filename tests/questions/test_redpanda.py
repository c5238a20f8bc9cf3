"""ACLs that Redpanda's authorizer decides by: members of roles and groups are unknown."""

from __future__ import annotations

import json

import pytest

from aclkit.model.redpanda import has_unknown_members
from aclkit.model.semantics import KAFKA, OWN, REDPANDA, Semantics, other_reading, read_as
from tests.cli.running import run

HEAD = (
    "PRINCIPAL", "HOST", "RESOURCE-TYPE", "RESOURCE-NAME", "RESOURCE-PATTERN-TYPE", "OPERATION",
    "PERMISSION", "ERROR",
)  # fmt: skip
ROLE, GROUP = "RedpandaRole:ops", "Group:analysts"
OF_GROUP = (
    ("User:panda", "*", "TOPIC", "sensors", "LITERAL", "READ", "ALLOW", ""),
    (GROUP, "*", "TOPIC", "sensors", "LITERAL", "WRITE", "ALLOW", ""),
    ("User:*", "*", "TOPIC", "sensors", "LITERAL", "DESCRIBE_CONFIGS", "ALLOW", ""),
    (GROUP, "*", "TOPIC", "sensors", "LITERAL", "DESCRIBE_CONFIGS", "ALLOW", ""),
)
OF_ROLE = (
    *OF_GROUP,
    (ROLE, "*", "CLUSTER", "kafka-cluster", "LITERAL", "ALTER", "ALLOW", ""),
    (ROLE, "*", "TOPIC", "sensors", "LITERAL", "READ", "DENY", ""),
    (ROLE, "*", "SUBJECT", "sensors-value", "LITERAL", "READ", "ALLOW", ""),
    ("User:panda", "*", "REGISTRY", "", "LITERAL", "ALL", "ALLOW", ""),
)


def rpk(rows):
    table = [HEAD, *rows]
    widths = [max(len(row[at]) for row in table) + 2 for at in range(len(HEAD))]
    lines = ("".join(map(str.ljust, row, widths)) for row in table)
    return "".join(f"{line}\n" for line in lines)


def kafka_acls(rows):
    return "".join(
        f"Current ACLs for resource `ResourcePattern(resourceType={kind}, name={name}, "
        f"patternType={pattern})`: \n\t(principal={principal}, host={host}, operation="
        f"{operation}, permissionType={permission})\n\n"
        for principal, host, kind, name, pattern, operation, permission, _ in rows
    )


class Warehouse:
    """A warehouse of one listing."""

    def __init__(self, folder, text, *options):
        self.listing = folder / "acls.txt"
        self.listing.write_text(text, encoding="utf-8")
        self.path = folder / "warehouse"
        self.report = self.ask(
            "run", "--source", f"acls-list:{self.listing}", "--cidr-hosts", "off",
            "--no-allow-everyone", "--super-users", "User:admin", "--fail-on", "never", *options,
        )  # fmt: skip

    def ask(self, *words, code=0):
        return run("--warehouse", self.path, *words, code=code).stdout

    def found(self):
        rows = json.loads(self.ask("audit", "--fail-on", "never", "--format", "json"))
        return {(row["finding"], row["subject"].partition("principal=")[2]) for row in rows}

    def removed(self):
        return [line for line in self.ask("remedy", "--format", "kafka-acls").splitlines()
                if line.startswith("remove --")]  # fmt: skip


@pytest.fixture(scope="module")
def of_role(tmp_path_factory):
    return Warehouse(tmp_path_factory.mktemp("role"), rpk(OF_ROLE))


def test_rows_of_the_schema_registry_are_counted_and_left_out(of_role):
    assert "2 rows of the Schema Registry left out (SUBJECT, REGISTRY)" in of_role.report
    shown = run("desired", "show", of_role.listing).stdout
    assert "6 ACLs in " in shown
    assert "2 rows of the Schema Registry left out" in shown


def test_the_authorizer_stands_in_the_settings_of_the_run_and_in_each_proof(of_role):
    said = of_role.ask("sql", "SELECT settings FROM job_run", "--format", "json")
    assert r"\"authorizer\": \"redpanda\"" in said
    assert "authorizer redpanda" in run("prove", "same", of_role.path, of_role.listing).stdout


def test_no_advice_removes_an_acl_of_a_role_or_a_group(of_role):
    # To Kafka it would: test_to_kafka_a_group_is_a_principal_that_no_client_has.
    assert not [line for line in of_role.removed() if ROLE in line or GROUP in line]
    assert "--allow-principal Group" not in of_role.ask("tidy", "--format", "kafka-acls")


def test_no_acl_of_a_role_or_a_group_is_called_useless(of_role):
    kinds = {kind for kind, about in of_role.found() if about.startswith((ROLE, GROUP))}
    assert not kinds & {"unusual-principal", "redundant-acl", "allow-shadowed"}


def test_can_and_why_report_that_a_role_or_a_group_decides_for_its_members(of_role):
    asked = "User:new", "WRITE", "topic:sensors"
    for told in (of_role.ask("can", *asked, code=1), of_role.ask("why", *asked)):
        assert f"Roles and groups may add access: ALLOW WRITE on topic sensors for {GROUP}" in told
    told = of_role.ask("can", "User:panda", "READ", "topic:sensors")
    assert f"may take away access: DENY READ on topic sensors for {ROLE}" in told
    assert "Roles and groups" not in of_role.ask("can", "User:panda", "DELETE", "topic:x", code=1)


def test_a_listing_of_rpk_is_redpandas_even_without_a_role(tmp_path):
    assert not [line for line in Warehouse(tmp_path, rpk(OF_GROUP)).removed() if GROUP in line]


def test_to_kafka_a_group_is_a_principal_that_no_client_has(tmp_path):
    warehouse = Warehouse(tmp_path, kafka_acls(OF_GROUP))
    assert [line for line in warehouse.removed() if GROUP in line]
    assert "Roles" not in warehouse.ask("can", "User:new", "WRITE", "topic:sensors", code=1)


def test_an_option_wins_over_the_source(tmp_path):
    warehouse = Warehouse(tmp_path, kafka_acls(OF_GROUP), "--authorizer", "redpanda")
    assert not [line for line in warehouse.removed() if GROUP in line]


def test_the_authorizer_is_kept_where_another_reading_is_looked_at():
    ours = Semantics(authorizer=REDPANDA)
    assert other_reading(ours).authorizer == REDPANDA
    assert read_as("kafka", ours).authorizer == REDPANDA
    assert has_unknown_members(GROUP, ours)
    assert not has_unknown_members(GROUP, KAFKA)
    assert "authorizer" not in KAFKA.said()
    assert KAFKA.authorizer == OWN
