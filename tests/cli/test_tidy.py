"""The command tidy: what goes and why, as rows and as a script, and proposals."""

from __future__ import annotations

import csv
import io
import json
import shlex

import pytest
from deltalake import DeltaTable

from aclkit.model.operation import OPERATIONS_OF_TYPE
from aclkit.model.semantics import KAFKA
from aclkit.questions.tidy.propose import tidy_proven
from aclkit.rules.names import tidy as rules_tidy
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.warehouse.published import open_warehouse
from tests.cli.running import run, without_run
from tests.kafka.acls.test_script import changed_by, run_script
from tests.questions.query import small_warehouse as small
from tests.questions.query.small_warehouse import acl

HOSTILE = "User:it's\x1b[31m\n$(x)"
LANDS = ("de", "fr", "us")
ACLS = [
    *small.ACLS,
    *(
        acl(100 + n, principal="User:dora", resource_name=f"pay.{land}.log")
        for n, land in enumerate(LANDS)
    ),
    *(
        acl(200 + n, principal=HOSTILE, resource_name="orders", operation=operation)
        for n, operation in enumerate(OPERATIONS_OF_TYPE["TOPIC"])
    ),
    acl(300, principal="User:eve", host="10.0.0.1", resource_name="eve.1"),
    acl(
        301, principal="User:eve", host="10.0.0.1", resource_name="eve.", pattern_type="PREFIXED",
        operation="ALL",
    ),
    acl(302, principal="User:fay", resource_name="none", permission_type="DENY"),
]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    path = tmp_path_factory.mktemp("tidy") / "warehouse"
    small.build(path, ACLS)
    return path


@pytest.fixture
def tidy(root):
    def call(*arguments, code=0, where=root):
        return run("--warehouse", where, "tidy", *arguments, code=code)

    return call


def test_people_are_told_what_goes_with_what_covers_it_and_the_proof(tidy):
    lines = tidy().stdout.splitlines()
    assert lines[-3:] == [
        "",
        "10 to remove, 1 to add: 24 ACLs become 15. No decision changes, proven for every name.",
        "ALL includes operations of later Kafka versions. --keep-operations avoids ALL.",
    ]
    assert all(line.startswith(("+ ALLOW", "- ALLOW", "    ")) for line in lines[:-3])
    gone = "- ALLOW READ on topic eve.1 for User:eve from 10.0.0.1"
    covered = "    already covered by ALLOW ALL on topic eve.* (prefix) for User:eve from 10.0.0.1"
    assert lines[lines.index(gone) + 1] == covered
    assert "\x1b" not in "".join(lines)


def test_rows_say_all_of_it(tidy):
    found = json.loads(tidy("--format", "json", "--idle-denies").stdout)
    assert found["verdict"] == "equivalent"
    changes = found["changes"]
    assert [row["operation"] for row in changes if row["change"] == "add"] == ["ALL"]
    assert {row["resource_name"] for row in changes if row["why"] == "idle"} == {"none"}
    assert found["acls_after"] == found["acls_before"] + 1 - len(changes) + 1
    rows = list(csv.DictReader(io.StringIO(tidy("--format", "csv", "--idle-denies").stdout)))
    assert [row["acl_id"] or None for row in rows] == [row["acl_id"] for row in changes]
    lines = tidy("--format", "jsonl", "--idle-denies").stdout.splitlines()
    assert [without_run(json.loads(line)) for line in lines] == changes


def test_operations_stay_apart_where_they_are_wanted_so(tidy):
    found = json.loads(tidy("--format", "json", "--keep-operations").stdout)
    assert {row["change"] for row in found["changes"]} == {"remove"}


def test_the_script_leads_to_the_tidy_set(tidy, tmp_path):
    result = tidy("--format", "kafka-acls", "--idle-denies", code=1)
    assert "Left out: DENY READ on topic none for User:fay from any host." in result.stderr
    lines = result.stdout.splitlines()
    assert any(
        line.startswith("# not removed: ") and "has no principal type" in line for line in lines
    )
    bindings = {one.binding for one in ACLS}
    for _, *words in run_script(lines, tmp_path):
        bindings = changed_by(words, bindings)
    changes = json.loads(tidy("--format", "json").stdout)["changes"]
    fields = small.ACLS[0].__slots__[1:]
    by_change = {
        kind: {tuple(row[name] for name in fields) for row in changes if row["change"] == kind}
        for kind in ("add", "remove")
    }
    unsaid = {one.binding for one in ACLS if one.principal == "has no principal type"}
    wanted = ({one.binding for one in ACLS} | by_change["add"]) - by_change["remove"]
    assert bindings == wanted | unsaid


def test_a_script_of_what_kafka_acls_can_say_ends_with_0(tidy, tmp_path):
    small.build(
        tmp_path / "said", [one for one in ACLS if one.principal != "has no principal type"]
    )
    result = tidy("--format", "kafka-acls", where=tmp_path / "said")
    said = [
        shlex.split(line) for line in result.stdout.splitlines() if line.startswith("remove --")
    ]
    assert {"--topic", "eve.1", "--operation", "Read"} <= set(said[0]) | set(said[-1])
    proven = "9 to remove, 1 to add: 23 ACLs become 15. No decision changes, proven for every name."
    assert proven in result.stderr


def test_without_a_proof_nothing_is_printed(tidy, tmp_path):
    acls = [
        acl(400 + n, principal="User:gil", resource_name=name, pattern_type="GLOB")
        for n, name in enumerate(("*a????", "*b????a*", "a*a????", "ab*", "abb*"))
    ]
    semantics, settings = small.KIP_1042, small.BrokerSettings()
    small.build(tmp_path / "hard", acls, settings)
    state = Rules(acls=acls, settings=settings, semantics=semantics)
    totals = (n for n in range(1, 2_000) if not tidy_proven(state, Budget(total=n)).proof.is_known)
    result = tidy("--budget-total", str(next(totals)), code=1, where=tmp_path / "hard")
    assert result.stdout == ""
    assert "Nothing is printed. Raise the limit with --budget-total.\n" in result.stderr


def test_what_is_not_known_to_be_needless_stays_and_is_counted(tidy, tmp_path):
    acls = [acl(1, principal="User:gil"), acl(2, principal="User:gil", operation="ALL")]
    small.build(tmp_path / "two", acls)
    lines = tidy("--budget-total", "1", where=tmp_path / "two").stdout.splitlines()
    assert lines == [
        "No ACL is known to be removable.",
        "2 ACLs stay because the search limit was reached. Raise it with --budget-total.",
    ]


def test_a_disagreement_is_a_defect_and_prints_nothing(tidy, monkeypatch):
    monkeypatch.setattr(rules_tidy._Tidier, "_may_go", lambda *_, **__: True)
    result = tidy(code=4)
    assert result.stdout == ""
    assert "Please report this" in result.stderr


def test_globs_and_prefixes_are_proposed_with_what_else_they_open(tidy):
    lines = tidy("--to-globs").stdout.splitlines()
    assert lines == [
        "+ ALLOW READ on topic pay.*.log (glob) for User:dora from any host",
        "    replaces the same on pay.de.log, pay.fr.log, pay.us.log",
        "    also allows READ, DESCRIBE for User:dora from any host, on topics like pay.*.log, but "
        "not pay.de.log, pay.fr.log or pay.us.log",
        "",
        "1 proposal to replace 3 ACLs; no access of known names changes.",
    ]
    found = json.loads(tidy("--to-prefixes", "--format", "json").stdout)
    (proposal,) = found["proposals"]
    assert (proposal["resource_name"], proposal["pattern_type"]) == ("pay.", "PREFIXED")
    assert len(proposal["replaces"]) == 3
    assert proposal["closes"] == []
    assert [found["not_compared"], found["groups_not_looked_at"]] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to-globs", "--idle-denies"), "do not go with --to-globs"),
        (("--to-globs", "--format", "kafka-acls"), "Pass another --format."),
    ],
)
def test_what_makes_no_sense_is_refused(tidy, arguments, message):
    assert message in tidy(*arguments, code=2).stderr


def test_globs_are_not_proposed_where_they_are_not_read(tidy, tmp_path):
    small.build(tmp_path / "kafka", ACLS, semantics=KAFKA)
    assert (
        "needs decisions with globs" in tidy("--to-globs", code=2, where=tmp_path / "kafka").stderr
    )
    assert tidy("--to-prefixes", where=tmp_path / "kafka").exit_code == 0


def test_an_acl_that_a_finding_asks_to_add_again_makes_no_other_one_needless(tmp_path):
    older = acl(1, principal="User:gus", resource_name="t", host="10.0.0.1", operation="ALL")
    newer = acl(900, principal="User:gus", resource_name="t", host="10.0.0.1", operation="WRITE")
    path = tmp_path / "warehouse"
    versions = small.build(path, [older, newer])
    said = json.loads(run("--warehouse", path, "tidy", "--format", "json").stdout)
    assert [change["acl_id"] for change in said["changes"]] == [newer.acl_id]
    lives = [
        {"cluster_id": small.CLUSTER, "resource_type": "TOPIC", "resource_name": "t",
         "topic_id": name, "first_offset": first, "last_offset": last}
        for name, first, last in (("old", 0, 500), ("new", 600, None))
    ]  # fmt: skip
    history = DeltaTable(path / "acl_history", version=versions["acl_history"])
    rows = [
        {**row, "added_offset": 900 if row["acl_id"] == newer.acl_id else 1}
        for row in history.to_pyarrow_table().to_pylist()
    ]
    said = {
        "resource_lifetime": small.write_table(path, "resource_lifetime", lives),
        "acl_history": small.write_table(path, "acl_history", rows),
    }
    settings = open_warehouse(str(path)).run.settings_text
    small.publish(path, {**versions, **said}, run_number=2, run_id="later", settings=settings)
    said = json.loads(run("--warehouse", path, "tidy", "--format", "json").stdout)
    assert said["changes"] == []
