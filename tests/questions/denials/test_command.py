"""``aclkit denials`` on a listing and a broker's log, and ``why`` of the same requests."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run

LISTING = """\
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)`:
\t(principal=User:reader, host=*, operation=READ, permissionType=ALLOW)

"""
REFUSED = (
    ("User:reader", "DESCRIBE", "Group:LITERAL:workers", "FindCoordinator"),
    ("User:producer", "DESCRIBE", "TransactionalId:LITERAL:tx", "FindCoordinator"),
    ("User:producer", "DESCRIBE", "Topic:LITERAL:out", "Metadata"),
    ("User:producer", "CLUSTER_ACTION", "Cluster:LITERAL:kafka-cluster", "AddPartitionsToTxn"),
    ("User:mirror", "ALTER_CONFIGS", "Topic:LITERAL:copy", "IncrementalAlterConfigs"),
    ("User:mirror", "ALTER", "Cluster:LITERAL:kafka-cluster", "CreateAcls"),
    ("User:tool", "DESCRIBE", "TransactionalId:LITERAL:tx", "ListTransactions"),
    ("User:idempotent", "WRITE", "Topic:LITERAL:hardcode", "InitProducerId"),
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refused")
    (folder / "acls.txt").write_text(LISTING, encoding="utf-8")
    (folder / "log").write_text("".join(map(line, range(len(REFUSED)), REFUSED)), encoding="utf-8")
    warehouse = folder / "warehouse"
    run(
        "--warehouse", warehouse, "run", "--source", f"acls-list:{folder / 'acls.txt'}",
        "--at", "2026-11-19T00:00:00Z", "--cidr-hosts", "off", "--no-allow-everyone",
        "--super-users", "User:admin", "--fail-on", "never",
    )  # fmt: skip
    run("--warehouse", warehouse, "usage", "--authorizer-log", folder / "log")
    return lambda *words, code=0: run("--warehouse", warehouse, *words, code=code).stdout


def line(second, access):
    principal, operation, resource, request = access
    return (
        f"[2026-11-20 10:00:{second:02},000] INFO Principal = {principal} is Denied operation = "
        f"{operation} from host = 10.0.0.7 on resource = {resource} for request = {request} with "
        "resourceRefCount = 1 based on rule DefaultDeny (kafka.authorizer.logger)\n"
    )


def test_all_refusals_are_shown_and_only_a_listing_is_left_out(ask):
    told = ask("denials")
    assert told.startswith("6 accesses of 3 principals refused")
    assert "User:tool" not in told
    assert "User:tool" in ask("denials", "--all")


def test_the_name_with_which_brokers_ask_about_any_topic_is_not_proposed(ask):
    assert "hardcode" not in ask("denials", "--all")


def test_a_listing_of_acls_does_not_show_that_a_topic_is_missing(ask):
    assert "does not exist" not in ask("denials")


def test_what_makes_an_administrator_of_a_client_comes_last_and_with_a_warning(ask):
    told = ask("denials").splitlines()
    commands = [line for line in told if "kafka-acls" in line]
    assert [each.rpartition(" ")[2] for each in commands[-2:]] == ["Alter", "ClusterAction"]
    for each in commands:
        is_warned = each.lstrip().startswith(("CLUSTER_ACTION on", "ALTER on"))
        assert is_warned == ("--cluster" in each)


def test_programs_get_a_command_where_there_is_no_choice_and_no_warning(ask):
    rows = map(json.loads, ask("denials", "--format", "jsonl").splitlines())
    found = {(row["principal"], row["operation"], row["resource_type"]): row for row in rows}
    group = found["User:reader", "DESCRIBE", "GROUP"]
    assert group["command"].endswith("--operation Read")
    broker = found["User:producer", "CLUSTER_ACTION", "CLUSTER"]
    assert (broker["command"], len(broker["commands"])) == (None, 1)
    assert broker["warning"].startswith("CLUSTER_ACTION on the cluster makes")


def test_why_of_the_same_request_proposes_the_same(ask):
    told = ask("why", "User:reader", "FindCoordinator", "group:workers")
    assert "To allow it, add ALLOW READ on group workers" in told
    told = ask("why", "User:mirror", "CreateAcls", "cluster")
    assert told.index("makes User:mirror an administrator") < told.index("kafka-acls")
    told = ask("why", "User:x", "DescribeCluster", "cluster")
    assert "Use --bootstrap-server in place of --bootstrap-controller." in told
    assert "lets DescribeCluster pass if a broker gets it" in told
    can = ask("can", "User:x", "DescribeCluster", "cluster")
    assert "It is refused if a controller gets it" in can
