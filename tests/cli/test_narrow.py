"""The command narrow on a real broker's logs: what was used stays, the rest goes, or why not."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from aclkit.kafka.desired.read import Asked
from aclkit.model.acl import Request
from aclkit.questions.read_state import Files, read_state
from aclkit.questions.state import State
from tests.cli.running import Warehouse, run
from tests.questions.query import small_warehouse as small
from tests.questions.usage.pasts import LOG, SECURE

WINDOW = ("--unused-days", "0.0001")
"""The log ends at 10:28:09.754, so the window begins after all ACLs came."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Warehouse:
    made = Warehouse(tmp_path_factory.mktemp("narrow") / "warehouse")
    made.replay(f"metadata-log:{SECURE / '__cluster_metadata-0'}")
    made.run("materialize", "--super-users", "User:ANONYMOUS;User:admin", "--dense", "never")
    made.run("usage", "--authorizer-log", LOG)
    return made


def narrow(warehouse: Warehouse, *arguments: object, code: int = 0):
    """Ask with the whole window covered, for the log is some days older than the run."""
    result = warehouse.run("narrow", "--old-log", *arguments, code=code)
    return result.stdout, result.stderr


def changes(warehouse: Warehouse, *arguments: object) -> set[tuple[str, str, str]]:
    out, _ = narrow(warehouse, *WINDOW, *arguments, "--format", "json")
    return {
        (row["change"], row["operation"], row["resource_name"])
        for row in json.loads(out)["changes"]
        if row["change"] != "keep"
    }


def test_used_operations_stay_and_the_list_of_what_goes_is_exact(warehouse):
    out, err = narrow(warehouse, *WINDOW, "User:carol")
    assert "+ ALLOW WRITE on topic payments.* (prefix) from any host" in out
    assert "- ALLOW ALL on topic payments.* (prefix) from any host" in out
    assert "used for WRITE, DESCRIBE only" in out
    assert "User:carol loses exactly this:" in out
    assert "- User:carol: every operation on group carol-g from any host" in out
    assert "Nothing is gained, and " in out
    assert "proven for every name" in out
    assert "100.0% are covered" in out + err
    assert narrow(warehouse, *WINDOW, "carol")[0] == out


def test_without_a_principal_all_that_were_seen_are_narrowed(warehouse):
    out, _ = narrow(warehouse, *WINDOW, "--format", "json")
    answer = json.loads(out)
    names = [each["principal"] for each in answer["principals"]]
    assert {"User:alice", "User:bob", "User:carol", "User:svc-orders", "User:svc-risk"} <= {*names}
    assert "User:admin" not in names
    assert all(each["verdict"] in ("less", "equivalent") for each in answer["principals"])
    assert (answer["missing"], answer["covered"]) == ([], 1.0)


def test_patterns_become_names_if_asked(warehouse):
    found = changes(warehouse, "User:svc-risk", "--names", "literal")
    assert ("add", "WRITE", "risk.raw") in found
    assert ("remove", "ALL", "risk.") not in found
    assert ("narrow", "ALL", "risk.") in found


def test_what_a_file_wants_to_keep_stays(warehouse, tmp_path):
    toml = tmp_path / "yearly.toml"
    toml.write_text(
        '[[keep]]\nprincipal = "User:carol"\noperation = "READ"\nresource = "topic:payments.x"\n'
        'why = "yearly closing"\n'
        '[[keep]]\nprincipal = "User:carol"\noperation = "READ"\nresource = "topic:elsewhere"\n'
    )
    found = changes(warehouse, "User:carol", "--keep", toml)
    assert ("add", "READ", "payments.x") in found
    out, _ = narrow(warehouse, *WINDOW, "User:carol", "--keep", toml)
    assert "Nothing to keep, because no own ALLOW allows it today: ALLOW READ on topic" in out

    acls = tmp_path / "acls.csv"
    acls.write_text(
        "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
        "User:carol,Group,LITERAL,carol-g,All,Allow,*\n"
    )
    assert ("remove", "ALL", "carol-g") not in changes(warehouse, "User:carol", "--keep", acls)
    out, _ = narrow(warehouse, *WINDOW, "User:carol", "--keep", acls)
    assert "stays: to keep: in " in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected at least one table [[keep]]"),
        ("[[keep]]\nwho = 1", "unknown who"),
        ('[[keep]]\nprincipal = "User:a"\noperation = "READ"', "resource is missing"),
        (
            '[[keep]]\nprincipal = "User:a"\noperation = "FLY"\nresource = "topic:x"',
            "Unknown operation 'FLY'",
        ),
        (
            '[[keep]]\nprincipal = "User:a"\noperation = "READ"\nresource = "topic:a*b"',
            "wildcard inside",
        ),
        ('[[keep]]\nprincipal = "a"\noperation = "READ"\nresource = "topic:x"', "[[keep]] 1: "),
    ],
)
def test_an_invalid_file_is_refused_with_the_table_that_is_wrong(warehouse, tmp_path, text, told):
    file = tmp_path / "keep.toml"
    file.write_text(text, encoding="utf-8")
    _, err = narrow(warehouse, "--keep", file, code=2)
    assert told in err


def test_a_log_that_does_not_cover_the_window_narrows_nothing(warehouse):
    out, _ = narrow(warehouse, code=3)
    assert out.startswith("Nothing can be narrowed: the log cannot show what is not used.")
    assert "of the 90 days: 2026-11-21 10:27 to 2026-11-21 10:28" in out
    assert "next: aclkit usage --authorizer-log OLDER_FILES" in out
    for form in ("kafka-acls", "strimzi", "terraform"):
        out, err = narrow(warehouse, "--format", form, code=3)
        assert out == ""
        assert "of the 90 days" in err


def test_more_brokers_than_logs_narrow_nothing(warehouse):
    out, _ = narrow(warehouse, *WINDOW, "--brokers", 3, code=3)
    assert "The cluster has 3 brokers, but for " in out


def test_a_second_copy_of_a_log_is_not_a_second_broker(warehouse, tmp_path):
    made = warehouse.copy(tmp_path / "warehouse")
    copy = tmp_path / "export.log"
    copy.write_text(
        "".join(LOG.read_text(encoding="utf-8").splitlines(keepends=True)[5:]), encoding="utf-8"
    )
    made.run("usage", "--authorizer-log", copy)
    (row,) = made.sql("SELECT count(*) AS n FROM log_file")
    assert row["n"] == "2"
    narrow(made, *WINDOW, "--brokers", 2, code=3)
    narrow(made, *WINDOW, "--brokers", 1)


def test_an_old_log_narrows_nothing_unless_it_is_accepted(warehouse, monkeypatch):
    """The run is of today, the log of a day in 2026."""
    monkeypatch.setattr("aclkit.questions.usage.whole_log.STALE_AFTER", -timedelta(days=36_500))
    result = warehouse.run("narrow", *WINDOW, code=3)
    assert "before the ACLs were read" in result.stdout
    assert "--old-log" in result.stdout
    narrow(warehouse, *WINDOW)


def test_acls_that_came_within_the_window_stay(warehouse):
    out, _ = narrow(warehouse, "User:bob", "--unused-days", "0.0002")
    assert "stays: too new" in out
    assert "late.topic" in out


def test_without_a_log_the_next_command_is_told(tmp_path):
    made = Warehouse(tmp_path / "warehouse")
    made.replay(f"metadata-log:{SECURE / '__cluster_metadata-0'}")
    made.run("materialize", "--super-users", "User:admin", "--dense", "never")
    result = made.run("narrow", code=2)
    assert "Next: aclkit usage --authorizer-log PATH" in result.stderr


def test_a_log_at_info_narrows_nothing(warehouse, tmp_path):
    made = Warehouse(tmp_path / "warehouse")
    made.replay(f"metadata-log:{SECURE / '__cluster_metadata-0'}")
    made.run("materialize", "--super-users", "User:ANONYMOUS;User:admin", "--dense", "never")
    info = tmp_path / "info.log"
    lines = LOG.read_text(encoding="utf-8").splitlines(keepends=True)
    info.write_text("".join(line for line in lines if " INFO " in line), encoding="utf-8")
    made.run("usage", "--authorizer-log", info)
    out, _ = narrow(made, *WINDOW, code=3)
    assert "the log was probably at INFO" in out
    assert "next: set kafka.authorizer.logger to DEBUG on every broker" in out


def test_the_script_adds_before_it_removes_and_gives_reasons(warehouse):
    out, err = narrow(warehouse, *WINDOW, "User:carol", "--format", "kafka-acls")
    added = out.index("add --topic payments. --resource-pattern-type prefixed")
    assert added < out.index("remove --group carol-g")
    assert ": 'not used in the window'" in out
    assert "Nothing is gained" in err


@pytest.mark.parametrize("form", ["strimzi", "terraform"])
def test_other_forms_hold_the_whole_new_set(warehouse, tmp_path, form):
    out, _ = narrow(warehouse, *WINDOW, "User:svc-risk", "--format", form)
    file = tmp_path / ("new.yaml" if form == "strimzi" else "new.tf")
    file.write_text(out, encoding="utf-8")
    read = read_state(Files([str(file)], Asked(), "all", onto=State()))
    assert {(acl.operation, acl.resource_name) for acl in read.acls.values()} == {
        ("DESCRIBE", "*"),
        ("WRITE", "risk."),
    }


def test_of_a_principal_without_any_acl_left_strimzi_has_nothing_and_says_so(warehouse):
    out, err = narrow(warehouse, *WINDOW, "User:alice", "--format", "strimzi")
    assert "kind:" not in out
    assert "No ACL of its own is left, so nothing is written: User:alice." in err


def test_a_proof_that_the_search_limit_ends_prints_nothing(warehouse):
    out, err = narrow(warehouse, *WINDOW, "User:svc-risk", "--budget", 1, code=1)
    assert out == ""
    assert "The search limit was reached" in err


def test_a_principal_without_acls_is_told(warehouse):
    out, _ = narrow(warehouse, *WINDOW, "User:nobody")
    assert "User:nobody has no ALLOW of its own." in out


def test_a_kafka_user_that_owns_a_second_principal_is_refused_by_name(tmp_path):
    mine = small.acl(1, principal="User:app", resource_name="orders", operation="ALL")
    other = small.acl(2, principal="User:CN=app", resource_name="orders", operation="WRITE")
    used = [
        Request(
            principal=each.principal, host="10.0.0.1", operation="WRITE", resource_type="TOPIC",
            resource_name="orders",
        )
        for each in (mine, other)
    ]  # fmt: skip
    small.build_with_log(tmp_path / "w", [mine, other], used=used)
    for principals in (["User:app"], []):
        result = run(
            "--warehouse", tmp_path / "w", "narrow", *principals, "--format", "strimzi", code=1
        )
        assert "kind:" not in result.stdout
        assert "Not written: a KafkaUser app owns User:CN=app and User:app" in result.stderr
    result = run("--warehouse", tmp_path / "w", "narrow", "User:app", "--format", "terraform")
    assert '"User:app"' in result.stdout
