"""export: ACLs and decisions in the forms of other tools, to stdout or whole into a file."""

from __future__ import annotations

import csv
import io

import pyarrow.parquet as pq
import pytest

from aclkit.model.semantics import KIP_1042, BrokerSettings
from tests.cli.acl_warehouse import warehouse_of
from tests.cli.running import Warehouse
from tests.factories import acl
from tests.questions.query import small_warehouse as small

ACLS = [
    acl("payments", acl_id="1"),
    acl('say "no", please', resource_type="GROUP", acl_id="2"),
    acl("p*s", pattern_type="GLOB", acl_id="3"),
    acl("", pattern_type="PREFIXED", acl_id="4"),
]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory) -> Warehouse:
    return warehouse_of(tmp_path_factory.mktemp("export") / "warehouse", ACLS)


@pytest.fixture(scope="module")
def decided(tmp_path_factory) -> Warehouse:
    path = tmp_path_factory.mktemp("export") / "warehouse"
    small.build(path)
    return Warehouse(path)


def wanted_cells():
    settings = BrokerSettings(super_users=frozenset({small.SUPER_USER}), allow_everyone=True)
    return small.brute_force(small.ACLS, settings, KIP_1042)


def test_csv_of_acls_is_exact(warehouse):
    out = warehouse.run("export", "acls", "--format", "csv").stdout_bytes.decode()
    assert out == (
        "resource_type,resource_name,pattern_type,principal,host,operation,permission_type,acl_id"
        "\r\n"
        'GROUP,"say ""no"", please",LITERAL,User:a,*,READ,ALLOW,2\r\n'
        'TOPIC,"",PREFIXED,User:a,*,READ,ALLOW,4\r\n'
        "TOPIC,p*s,GLOB,User:a,*,READ,ALLOW,3\r\n"
        "TOPIC,payments,LITERAL,User:a,*,READ,ALLOW,1\r\n"
    )


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("kafka-acls", "add --topic payments --allow-principal User:a --operation Read"),
        ("kafka-bulk", "TOPIC payments LITERAL User:a * READ ALLOW"),
        ("strimzi", '          name: "payments"'),
        ("terraform", '  resource_name                = "payments"'),
    ],
)
def test_a_form_says_what_it_can_and_stderr_how_much_it_cannot(warehouse, form, said):
    result = warehouse.run("export", "acls", "--format", form, code=1)
    assert said in result.stdout.splitlines()
    assert sum(" cannot write " in line for line in result.stdout.splitlines()) == 2
    *left_out, last = result.stderr.splitlines()
    assert [line.partition(", patternType=")[0].rpartition("name=")[2] for line in left_out] == [
        "",
        "p*s",
    ]
    assert last == (
        "This format cannot express 2 of 4 ACLs. They are left out, and listed as comments."
    )


@pytest.mark.parametrize("form", ["kafka-acls", "kafka-bulk", "strimzi", "terraform"])
def test_what_is_left_out_ends_with_1_but_where_it_is_meant_to_be(warehouse, tmp_path, form):
    path = tmp_path / "file"
    words = ("export", "acls", "--format", form, "--output", path)
    warehouse.run(*words, code=1)
    written = path.read_text(encoding="utf-8")
    assert "left out" in warehouse.run(*words, "--skip-unsupported").stderr
    assert path.read_text(encoding="utf-8") == written


@pytest.mark.parametrize("form", ["kafka-acls", "kafka-bulk", "strimzi", "terraform"])
def test_an_export_that_says_every_acl_ends_with_0(tmp_path, form):
    whole = warehouse_of(tmp_path / "warehouse", [acl("payments", principal="User:etl")])
    assert whole.run("export", "acls", "--format", form).stderr == ""


def test_records_say_every_acl_and_when_it_was_added(warehouse):
    out = warehouse.run("export", "acls", "--format", "records").stdout.splitlines()
    assert len(out) == 4
    assert out[0].startswith(
        f'{{"offset":0,"timestamp":{int(small.WHEN.timestamp() * 1000)},'
        '"type":"ACCESS_CONTROL_ENTRY_RECORD","version":0,"data":{"id":"1","resourceType":2,'
    )


def test_a_file_is_written_whole_or_not_at_all(warehouse, tmp_path):
    path = tmp_path / "acls.csv"
    path.write_text("before", encoding="utf-8")
    warehouse.run("export", "acls", "--format", "csv", "--output", path)
    assert path.read_bytes().endswith(b",1\r\n")
    assert list(tmp_path.iterdir()) == [path]
    lost = tmp_path / "nowhere" / "acls.csv"
    warehouse.run("export", "acls", "--format", "csv", "--output", lost, code=4)


def test_csv_of_explain_is_every_decision(decided):
    out = decided.run("export", "explain", "--format", "csv").stdout_bytes.decode()
    header, *rows = csv.reader(io.StringIO(out, newline=""))
    assert header[:3] == ["cluster_id", "principal", "host"]
    assert {tuple(v or None for v in row) for row in rows} == wanted_cells()
    assert len(rows) == len(wanted_cells())
    assert out.count("\r\n") == len(rows) + 1


def test_parquet_of_explain_is_every_decision(decided, tmp_path):
    path = tmp_path / "explain.parquet"
    decided.run("export", "explain", "--format", "parquet", "--output", path)
    table = pq.read_table(path)
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert set(rows) == wanted_cells()
    assert len(rows) == len(wanted_cells())


def test_parquet_goes_to_a_pipe_too(decided):
    out = decided.run("export", "explain", "--format", "parquet").stdout_bytes
    assert pq.read_table(io.BytesIO(out)).num_rows == len(wanted_cells())


def test_nothing_decided_is_nothing_to_export(warehouse):
    told = warehouse.run("export", "explain", "--format", "csv", code=2)
    assert "No decisions exist for cluster c1 yet" in told.stderr


@pytest.mark.parametrize("what", ["acls", "explain"])
def test_the_form_must_be_said_whatever_the_environment_says_of_rows(decided, what, monkeypatch):
    monkeypatch.setenv("ACLKIT_FORMAT", "csv")
    assert "Missing option '--format'" in decided.run("export", what, code=2).stderr
