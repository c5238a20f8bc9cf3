"""What cannot be used ends with its message and exit code, and nothing published changes."""

from __future__ import annotations

import base64
import fcntl
import json
import shutil

import pyarrow.parquet as pq
import pytest

from tests.cli.dump_text import ADD, read_dump
from tests.cli.running import (
    KRAFT,
    KRAFT_TEXT,
    SEGMENT,
    SYNTHETIC,
    Warehouse,
    run,
    split_batches,
    with_crc,
)
from tests.pipeline.sources.log_bytes import ACL, batch, flipped

pytestmark = pytest.mark.usefixtures("spark")


def state(warehouse):
    """Return what readers open."""
    run = warehouse.published().run
    return run.run_number, run.table_versions


@pytest.fixture(scope="module")
def shared(replayed, tmp_path_factory):
    """A copy that holds the same ACLs after all tests."""
    copied = replayed.copy(tmp_path_factory.mktemp("bad") / "warehouse")
    yield copied
    assert copied.acls() == replayed.acls()


@pytest.fixture
def warehouse(shared):
    """A replayed warehouse, which must be unchanged after the test."""
    before = state(shared)
    yield shared
    assert state(shared) == before


def refused(result, *parts):
    """Check that the last thing said is one line of error with these parts."""
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("Error: "), result.stderr
    for part in parts:
        assert str(part) in last


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("metadata-log", "file or directory"),
        ("dump-log", "file"),
        ("records", "file"),
        ("acls-list", "file"),
    ],
)
def test_source_that_is_not_there_makes_no_sense(warehouse, tmp_path, kind, what):
    result = warehouse.replay(f"{kind}:{tmp_path / 'nowhere'}", code=2)
    refused(result, tmp_path / "nowhere", f"the {what} does not exist")


@pytest.mark.parametrize("source", ["zookeeper:/x", "metadata-log:", "/var/kafka"])
def test_unknown_kind_of_source_makes_no_sense(warehouse, source):
    refused(warehouse.replay(source, code=2), "KIND:PATH", "metadata-log, dump-log, records")


def test_replay_without_source_makes_no_sense(warehouse):
    refused(warehouse.run("replay", code=2), "--source KIND:PATH")


def test_directory_without_segments_is_unusable(warehouse, tmp_path):
    refused(warehouse.replay(f"metadata-log:{tmp_path}", code=3), tmp_path, "expected segments")


@pytest.mark.parametrize(
    ("kind", "file", "part"),
    [
        ("metadata-log", KRAFT_TEXT / "topics.txt", "expected a .log or .checkpoint file"),
        ("dump-log", KRAFT_TEXT / "kafka-acls-list.txt", "expected the text of kafka-dump-log"),
        ("dump-log", KRAFT / SEGMENT, "expected the text of kafka-dump-log"),
        ("records", KRAFT_TEXT / "kafka-dump-log.txt", "expected JSON lines"),
        ("acls-list", KRAFT_TEXT / "kafka-dump-log.txt", "expected"),
    ],
)
def test_file_of_another_kind_is_unusable(warehouse, kind, file, part):
    refused(warehouse.replay(f"{kind}:{file}", code=3, cluster="new"), file, part)


def test_text_named_as_a_segment_is_unusable(warehouse, tmp_path):
    path = tmp_path / SEGMENT
    shutil.copy(KRAFT_TEXT / "topics.txt", path)
    refused(warehouse.replay(f"metadata-log:{path}", code=3), path, "magic 2")


def test_log_of_another_cluster_is_unusable(warehouse, tmp_path):
    shutil.copy(KRAFT / SEGMENT, tmp_path)
    (tmp_path / "meta.properties").write_text("version=1\ncluster.id=other\n", encoding="utf-8")
    result = warehouse.replay(f"metadata-log:{tmp_path}", code=3)
    refused(result, "'other'", "default", "--cluster other")


def test_log_of_another_cluster_than_the_one_named_is_unusable(warehouse, tmp_path):
    shutil.copy(KRAFT / SEGMENT, tmp_path)
    (tmp_path / "meta.properties").write_text("cluster.id=other\n", encoding="utf-8")
    result = warehouse.replay(f"metadata-log:{tmp_path}", code=3, cluster="default")
    refused(result, "'other'", "'default'")


def test_listing_for_a_cluster_that_follows_a_log_is_unusable(warehouse):
    source = f"acls-list:{KRAFT_TEXT / 'kafka-acls-list.txt'}"
    refused(warehouse.replay(source, code=3), "'default'", "has followed a log", "--cluster")


def test_log_for_a_cluster_that_follows_listings_is_unusable(tmp_path):
    listing = tmp_path / "acls.txt"
    listing.write_text(
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, "
        "patternType=LITERAL)`: \n"
        " \t(principal=User:a, host=*, operation=READ, permissionType=ALLOW) \n"
    )
    warehouse = Warehouse(tmp_path / "warehouse")
    warehouse.replay(f"acls-list:{listing}")
    before = state(warehouse)
    result = warehouse.replay(f"metadata-log:{SYNTHETIC / 'basic'}", code=3)
    refused(result, "'default'", "has followed listings", "--cluster")
    assert state(warehouse) == before
    assert list(warehouse.acls()) == [("TOPIC", "t", "LITERAL", "User:a", "*", "READ", "ALLOW")]


def test_other_content_at_a_known_offset_and_epoch_is_unusable(warehouse, tmp_path):
    log = (KRAFT / SEGMENT).read_bytes()
    records = [r for r in read_dump(KRAFT_TEXT / "kafka-dump-log.txt") if r["type"] == ADD]
    changed = next(r for r in records if log.count(r["data"]["resourceName"].encode()) == 1)
    name = changed["data"]["resourceName"].encode()
    batches = [
        with_crc(flipped(content, content.index(name))) if name in content else content
        for _, content in split_batches(log)
    ]
    (tmp_path / SEGMENT).write_bytes(b"".join(batches))
    result = warehouse.replay(f"metadata-log:{tmp_path / SEGMENT}", code=3)
    refused(result, f"Offset {changed['offset']} ", "was read before with other content")


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01"])
def test_bad_time_makes_no_sense(warehouse, time):
    source = f"dump-log:{KRAFT_TEXT / 'kafka-dump-log.txt'}"
    refused(warehouse.replay(source, code=2, more=("--at", time)), "Invalid time", time)


@pytest.mark.parametrize(
    ("option", "content", "parts"),
    [
        ("--principals", "name\nUser:a\n", ("expected columns principal", "found name")),
        ("--hosts", "principal\nUser:a\n", ("expected columns host", "found principal")),
        (
            "--resources",
            "resource_name\nt\n",
            ("expected columns resource_type, resource_name", "found resource_name"),
        ),
        ("--principals", "principal\nUser:a\nalice\n", ("row 2", "'alice' has no principal type")),
        ("--hosts", "host\n10.0.0.1\nlocalhost\n", ("row 2", "Invalid host 'localhost'")),
        (
            "--resources",
            "resource_type,resource_name\nTOPIC,t\nqueue,q\n",
            ("row 2", "unknown resource type 'queue'", "TOPIC"),
        ),
    ],
)
def test_bad_inventory_file_makes_no_sense(warehouse, tmp_path, option, content, parts):
    file = tmp_path / "inventory.csv"
    file.write_text(content, encoding="utf-8")
    refused(warehouse.run("materialize", option, file, code=2), file, *parts)


@pytest.mark.parametrize("option", ["--principals", "--hosts", "--resources"])
def test_inventory_file_that_is_not_there_makes_no_sense(warehouse, tmp_path, option):
    result = warehouse.run("materialize", option, tmp_path / "no.csv", code=2)
    refused(result, tmp_path / "no.csv", "the file or directory does not exist")


def test_bad_super_users_make_no_sense(warehouse):
    result = warehouse.run("materialize", "--super-users", "User:a;admin", code=2)
    refused(result, "'admin' has no principal type")


def test_materialize_of_an_unknown_cluster_makes_no_sense(warehouse):
    refused(warehouse.run("materialize", code=2, cluster="prod"), "'prod'", "default")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("warehose = 'w'\n", "unknown key warehose"),
        ("[replay]\nsauce = ['x']\n", "[replay]: unknown key sauce"),
        ("warehouse = \n", "not valid TOML"),
        ("replay = 3\n", "[replay] must be a table"),
    ],
)
def test_bad_config_file_makes_no_sense(warehouse, tmp_path, content, part):
    file = tmp_path / "aclkit.toml"
    file.write_text(content, encoding="utf-8")
    refused(run("--config", file, "sql", "SELECT 1", code=2), file, part)


def test_config_file_that_is_not_there_makes_no_sense(tmp_path):
    refused(run("--config", tmp_path / "no.toml", "sql", "SELECT 1", code=2), tmp_path / "no.toml")


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "--source", f"metadata-log:{KRAFT}"),
        ("materialize",),
        ("sql", "SELECT 1"),
        ("who-can", "READ", "topic:t"),
    ],
)
def test_command_without_warehouse_makes_no_sense(monkeypatch, command):
    monkeypatch.delenv("ACLKIT_WAREHOUSE", raising=False)
    refused(run(*command, code=2), "--warehouse DIR")


@pytest.mark.parametrize(
    "command",
    [
        ("sql", "SELECT 1"),
        ("who-can", "READ", "topic:t"),
        ("what-can", "User:a"),
        ("materialize",),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_command_before_any_replay_says_what_to_do_first(tmp_path, command, exists):
    empty = Warehouse(tmp_path / "empty")
    if exists:
        empty.path.mkdir()
    refused(empty.run(*command, code=2), empty.path, "replay --source metadata-log:DIR")


@pytest.mark.parametrize(
    "command", [("who-can", "READ", "topic:t"), ("what-can", "User:a")], ids=lambda c: c[0]
)
def test_question_before_materialize_says_what_to_do_first(warehouse, command):
    refused(warehouse.run(*command, code=2), "materialize")


def test_warehouse_that_another_run_holds_is_waited_for_and_given_up(warehouse):
    with (warehouse.path / ".aclkit.lock").open("a") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        result = warehouse.run("materialize", "--lock-timeout", "0.2", code=4)
    refused(result, "Another run", "holds the lock", "--lock-timeout")


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "--source", f"metadata-log:{SYNTHETIC / 'basic'}"),
        ("materialize",),
        ("sql", "SELECT 1"),
    ],
    ids=lambda command: command[0],
)
def test_warehouse_that_is_a_file_cannot_be_used(tmp_path, command):
    file = Warehouse(tmp_path / "file")
    file.path.write_text("not a folder", encoding="utf-8")
    refused(file.run(*command, code=4), file.path)
    assert file.path.read_text(encoding="utf-8") == "not a folder"


SECRET = bytes(range(160, 192))
STORED_KEY = base64.b64encode(SECRET).decode()


def scram(stored_key):
    return {
        "type": "USER_SCRAM_CREDENTIAL_RECORD",
        "version": 0,
        "data": {
            "name": "alice", "mechanism": 1, "salt": stored_key, "storedKey": stored_key,
            "serverKey": stored_key, "iterations": 4096,
        },
    }  # fmt: skip


def broken(text):
    """Break a record's line in ways in which files break."""
    key_end = text.index(STORED_KEY) + len(STORED_KEY)
    return (
        text[:key_end],
        text[: key_end - 2],
        text[text.index("storedKey") :],
        text.replace("USER_SCRAM_CREDENTIAL_RECORD", "USER_SCRAM_RECORD"),
        text.replace("USER_SCRAM_CREDENTIAL_RECORD", "ACCESS_CONTROL_ENTRY_RECORD"),
        text.replace('"mechanism":1', '"mechanism":"x"'),
        text.replace('"version":0', '"version":0,"version":1'),
        text.replace('"', "'"),
        json.dumps(text),
        STORED_KEY,
    )


def planted_sources(folder):
    """Plant the key in sound and broken records of a log, a dump and a records file."""
    one = json.dumps(scram(STORED_KEY), separators=(",", ":"))
    payloads = [one, *broken(one)]
    dump = [
        f"| offset: {n} CreateTime: 1700000000000 keySize: -1 valueSize: 9 sequence: -1 "
        f"headerKeys: [] payload: {payload}\n"
        for n, payload in enumerate(payloads)
    ]
    (folder / "dump.txt").write_text(
        f"Dumping x.log\n{''.join(dump)}{one}\n{STORED_KEY}\n", encoding="utf-8"
    )
    lines = [
        payload.replace("{", f'{{"offset":{number},', 1)
        for number, payload in enumerate(payloads, 50)
    ]
    (folder / "records.jsonl").write_text("\n".join(lines), encoding="utf-8")
    key = bytes([len(SECRET) + 1]) + SECRET
    frame = bytes.fromhex("010b00") + b"\x06alice\x01" + key * 3 + (4096).to_bytes(4) + b"\x00"
    strange = b"\x01\x7f\x00" + frame[3:]
    log = batch(100, ACL, frame, frame[:-6], strange, frame[1:]) + flipped(batch(105, frame), 90)
    (folder / "00000000000000000100.log").write_bytes(log + batch(106, ACL, frame)[:-3])
    return (
        f"dump-log:{folder / 'dump.txt'}",
        f"records:{folder / 'records.jsonl'}",
        f"metadata-log:{folder / '00000000000000000100.log'}",
    )


def test_credentials_of_the_log_are_nowhere_in_warehouse_and_output(tmp_path):
    warehouse = Warehouse(tmp_path / "warehouse")
    (tmp_path / "sources").mkdir()
    result = warehouse.replay(*planted_sources(tmp_path / "sources"), code=3)
    rejects = warehouse.run("sql", "SELECT * FROM acl_reject", "--format", "json")
    assert len(json.loads(rejects.stdout)) >= 20
    assert [row["principal"] for row in warehouse.sql("SELECT principal FROM principal_lifetime")]

    told = [result.output, rejects.output]
    files = [path for path in warehouse.path.rglob("*") if path.is_file()]
    values = [str(pq.read_table(path).to_pylist()) for path in files if path.suffix == ".parquet"]
    assert values
    needles = (STORED_KEY.rstrip("="), STORED_KEY[:16], SECRET.hex(), repr(SECRET)[2:-1])
    for text in (*told, *values):
        for needle in needles:
            assert needle not in text
    for path in files:
        content = path.read_bytes()
        assert SECRET not in content, path
        assert not any(needle.encode() in content for needle in needles), path
