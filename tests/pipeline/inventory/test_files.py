"""Rules of aclkit.pipeline.inventory.files: a user's file → checked entries."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from aclkit.errors import UsageError
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.inventory.entry import FILE, Entry
from aclkit.pipeline.inventory.files import read_inventory


@pytest.fixture
def read(tmp_path):
    """Write a file of a kind and read it; no session is needed for what is not Delta."""

    def written(content, kind, name="inventory.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_inventory(None, str(path), kind)

    return written


def names(entries):
    return [entry.name for entry in entries]


def test_entry_from_a_file_says_so(read):
    assert read("principal\nUser:a\n", PRINCIPALS) == [Entry(name="User:a", origin=FILE)]


def test_csv_values_may_be_quoted_and_hold_commas_quotes_and_line_breaks(read):
    content = 'principal,note\n"User:CN=a,OU=b","say ""x""\nhere"\n'
    (entry,) = read(content, PRINCIPALS)
    assert entry.name == "User:CN=a,OU=b"
    assert entry.attributes == {"note": 'say "x"\nhere'}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_csv_lines_may_end_either_way(read, line_end):
    content = line_end.join(["principal", "User:a", "User:b", ""])
    assert names(read(content, PRINCIPALS)) == ["User:a", "User:b"]


def test_byte_order_mark_is_not_part_of_the_first_column(read):
    assert names(read(b"\xef\xbb\xbfprincipal\nUser:a\n", PRINCIPALS)) == ["User:a"]


def test_values_are_never_trimmed(read):
    assert names(read("principal\nUser: a \n", PRINCIPALS)) == ["User: a "]


def test_empty_principal_type_and_name_are_kept(read):
    assert names(read("principal\nUser:\n:a\n", PRINCIPALS)) == ["User:", ":a"]


def test_first_of_equal_rows_counts(read):
    first, second = read("host,site\n::1,x\n10.0.0.1,y\n0:0:0:0:0:0:0:1,z\n", HOSTS)
    assert (first.name, first.attributes) == ("0:0:0:0:0:0:0:1", {"site": "x"})
    assert second.name == "10.0.0.1"


def test_further_columns_become_attributes(read):
    (entry,) = read("team,principal,mail\nred,User:a,\n", PRINCIPALS)
    assert entry.attributes == {"team": "red", "mail": ""}


def test_hosts_are_written_as_java_does(read):
    content = "host\n::1\n::ffff:10.0.0.1\n2001:DB8::A\n"
    assert names(read(content, HOSTS)) == ["0:0:0:0:0:0:0:1", "10.0.0.1", "2001:db8:0:0:0:0:0:a"]


@pytest.mark.parametrize(
    ("written", "resource_type"),
    [
        ("TOPIC", "TOPIC"),
        ("topic", "TOPIC"),
        ("Group", "GROUP"),
        ("transactional-id", "TRANSACTIONAL_ID"),
        ("TRANSACTIONAL_ID", "TRANSACTIONAL_ID"),
        ("delegation-token", "DELEGATION_TOKEN"),
        ("user", "USER"),
    ],
)
def test_resource_type_is_kafkas_name_or_the_word_of_the_command_line(read, written, resource_type):
    (entry,) = read(f"resource_type,resource_name\n{written},x\n", RESOURCES)
    assert entry.key == (resource_type, "x")


def test_cluster_has_one_name_only(read):
    (entry,) = read("resource_type,resource_name\ncluster,kafka-cluster\n", RESOURCES)
    assert entry.key == ("CLUSTER", "kafka-cluster")
    with pytest.raises(UsageError, match="row 1: invalid cluster name 'prod'"):
        read("resource_type,resource_name\ncluster,prod\n", RESOURCES)


def test_same_name_of_two_types_is_two_resources(read):
    content = "resource_type,resource_name\ntopic,x\ngroup,x\ntopic,x\n"
    assert [entry.key for entry in read(content, RESOURCES)] == [("TOPIC", "x"), ("GROUP", "x")]


@pytest.mark.parametrize("name", ["inventory.jsonl", "inventory.json"])
def test_json_lines_are_read(read, name):
    lines = [{"principal": "User:a", "age": 7, "tags": ["x"], "none": None}, {"principal": "G:b"}]
    content = "\n\n".join(map(json.dumps, lines)) + "\n"
    first, second = read(content, PRINCIPALS, name)
    assert (first.name, first.attributes) == ("User:a", {"age": "7", "tags": '["x"]'})
    assert (second.name, second.attributes) == ("G:b", {})


def test_parquet_is_read(read, tmp_path):
    path = tmp_path / "made.parquet"
    pq.write_table(pa.table({"host": ["10.0.0.1", "::1"], "rack": [1, None]}), path)
    first, second = read(path.read_bytes(), HOSTS, "hosts.parquet")
    assert (first.name, first.attributes) == ("10.0.0.1", {"rack": "1"})
    assert (second.name, second.attributes) == ("0:0:0:0:0:0:0:1", {})


def test_delta_folder_is_read_at_its_newest_version(tmp_path):
    path = str(tmp_path / "staff")
    write_deltalake(path, pa.table({"principal": ["User:gone"]}))
    write_deltalake(path, pa.table({"principal": ["User:a"], "team": ["red"]}), mode="overwrite",
                    schema_mode="overwrite")  # fmt: skip
    write_deltalake(path, pa.table({"principal": ["User:b"], "team": [None]}), mode="append")
    first, second = sorted(read_inventory(None, path, PRINCIPALS), key=lambda one: one.name)
    assert (first.name, first.attributes) == ("User:a", {"team": "red"})
    assert (second.name, second.attributes) == ("User:b", {})


def test_a_delta_folder_without_rows_has_its_columns_checked_all_the_same(tmp_path):
    path = str(tmp_path / "staff")
    write_deltalake(path, pa.table({"host": pa.array([], pa.string())}))
    assert read_inventory(None, path, HOSTS) == []
    with pytest.raises(UsageError, match="staff: expected columns principal, found host"):
        read_inventory(None, path, PRINCIPALS)


def test_a_delta_folder_whose_files_lack_a_column_is_read_by_spark(spark, tmp_path):
    path = str(tmp_path / "staff")
    rows = pa.table({"principal": ["User:a", "User:b"], "team": ["red", "blue"]})
    write_deltalake(path, rows, partition_by=["team"])
    found = read_inventory(lambda: spark, path, PRINCIPALS)
    teams = {one.name: one.attributes for one in found}
    assert teams == {"User:a": {"team": "red"}, "User:b": {"team": "blue"}}


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [
        (PRINCIPALS, "name\nUser:a\n", "expected columns principal, found name"),
        (PRINCIPALS, "", "expected columns principal, found none"),
        (HOSTS, "hostname\n::1\n", "expected columns host, found hostname"),
        (RESOURCES, "resource_name\nx\n", "columns resource_type, resource_name, found resource_n"),
        (PRINCIPALS, "principal\nUser:a\nalice\n", "row 2: 'alice' has no principal type"),
        (PRINCIPALS, 'principal\n""\n', "row 1: '' has no principal type"),
        (PRINCIPALS, "principal\nUser:<any-other>\n", "row 1: .* cannot be a real name"),
        (HOSTS, "host\n10.0.0.1\n10.0.0\n", "row 2: Invalid host '10.0.0'"),
        (HOSTS, "host\n<any-other>\n", "row 1: Invalid host"),
        (HOSTS, "host\nlocalhost\n", "never host names"),
        (RESOURCES, "resource_type,resource_name\nANY,x\n", "row 1: unknown resource type 'ANY'"),
        (RESOURCES, "resource_type,resource_name\n,x\n", "row 1: unknown resource type ''"),
        (RESOURCES, "resource_type,resource_name\ntopic,<any-other>\n", "cannot be a real name"),
        (PRINCIPALS, "principal,principal\nUser:a,User:b\n", "expected distinct column names"),
        (PRINCIPALS, "principal,team\nUser:a\n", "row 1: expected 2 values"),
        (PRINCIPALS, "principal\nUser:a,b\n", "row 1: expected 1 values"),
        (PRINCIPALS, 'principal\n"User:a\n', "not valid CSV"),
        (PRINCIPALS, b"principal\nUser:\xff\n", "expected UTF-8"),
    ],
)
def test_bad_csv_is_refused_with_its_place(read, kind, content, message):
    with pytest.raises(UsageError, match=message):
        read(content, kind)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"principal":"User:a"}\n{"principal":\n', "line 2: not valid JSON"),
        ('["User:a"]\n', "line 1: expected a JSON object"),
        ('{"principal":"User:a"}\n{"name":"User:b"}\n', "expected columns principal"),
        ('{"principal":null}\n', "row 1: '' has no principal type"),
    ],
)
def test_bad_json_lines_are_refused_with_their_place(read, content, message):
    with pytest.raises(UsageError, match=message):
        read(content, PRINCIPALS, "inventory.jsonl")


def test_file_that_is_no_parquet_is_refused(read):
    with pytest.raises(UsageError, match=r"inventory\.parquet: not a Parquet file"):
        read("principal\n", PRINCIPALS, "inventory.parquet")


def test_file_of_an_unknown_ending_is_refused(read):
    with pytest.raises(UsageError, match=r"expected a file ending in \.csv"):
        read("principal\n", PRINCIPALS, "inventory.xlsx")


def test_folder_that_is_no_delta_table_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected a Delta folder"):
        read_inventory(None, str(tmp_path), PRINCIPALS)


def test_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"no\.csv: the file (or directory )?does not exist"):
        read_inventory(None, str(tmp_path / "no.csv"), HOSTS)


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (PRINCIPALS, {"principal": "User:\ud800"}),
        (PRINCIPALS, {"principal": "User:a", "te\ud800m": "red"}),
        (PRINCIPALS, {"principal": "User:a", "team": "\udfff"}),
        (RESOURCES, {"resource_type": "topic", "resource_name": "\udcff"}),
    ],
)
def test_half_a_surrogate_pair_is_refused_with_its_row(read, kind, row):
    content = json.dumps(row) + "\n"
    with pytest.raises(UsageError, match=r"line 1: .*half a surrogate pair"):
        read(content, kind, "i.jsonl")


def test_json_that_nests_too_deeply_is_refused(read):
    with pytest.raises(UsageError, match="line 1: not valid JSON"):
        read('{"principal":' + "[" * 100_000, PRINCIPALS, "i.jsonl")


def test_parquet_with_a_damaged_page_is_refused(read, tmp_path):
    pq.write_table(pa.table({"principal": [f"User:{n}" for n in range(500)]}), tmp_path / "x")
    content = bytearray((tmp_path / "x").read_bytes())
    content[4:400] = b"\xff" * 396
    with pytest.raises(UsageError, match="not a Parquet file"):
        read(bytes(content), PRINCIPALS, "i.parquet")


@pytest.mark.parametrize("path", ["nowhere://K:hunter2@h/i.csv", "a\0b.csv", "\udcff.csv"])
def test_path_that_nothing_opens_is_the_requests_fault(path):
    with pytest.raises(UsageError) as refused:
        read_inventory(None, path, PRINCIPALS)
    assert "hunter2" not in str(refused.value)


def test_uri_is_read_like_a_path(tmp_path):
    path = tmp_path / "i.csv"
    path.write_text("principal\nUser:a\n", encoding="utf-8")
    assert names(read_inventory(None, path.as_uri(), PRINCIPALS)) == ["User:a"]
