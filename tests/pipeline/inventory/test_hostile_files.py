"""Inventories as strangers leave them: what is plain is read, the rest is refused in one line."""

from __future__ import annotations

import io
import resource
import struct
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from aclkit.errors import UsageError
from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.inventory import files, parquet_file, sheet
from aclkit.pipeline.inventory.files import read_inventory
from tests.fuzz.mutating import ends_well

ONE = ["User:a"]


@pytest.fixture
def read(tmp_path):
    def written(content, name="i.csv", kind=PRINCIPALS):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        entries = read_inventory(None, str(path), kind)
        return [(entry.name, dict(entry.attributes)) for entry in entries]

    return written


@pytest.fixture
def refused(read):
    """Return the one line with which a file is refused, without its folder."""

    def told(*arguments):
        with pytest.raises(UsageError) as error:
            read(*arguments)
        message = str(error.value)
        assert len(message.splitlines()) == 1
        return message[message.index("/i.") + 1 :]

    return told


def parquet(packing="snappy", **columns):
    return parquet_of(pa.table(columns), packing)


def parquet_of(table, packing="snappy", **more):
    out = io.BytesIO()
    pq.write_table(table, out, compression=packing, **more)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"principal,team\nUser:a,red\n",
        b"principal;team\nUser:a;red\n",
        b"principal\tteam\nUser:a\tred\n",
        b'"principal";"team"\r\n"User:a";"red"\r\n',
        b"team;principal\nred;User:a\n",
        b"Principal,team\nUser:a,red\n",
        b" PRINCIPAL ,team\nUser:a,red\n",
        b"\xef\xbb\xbfprincipal;team\nUser:a;red\n",
        b"principal,team\rUser:a,red\r",
        b"principal,team\n\n\nUser:a,red\n\n",
        "principal\tteam\r\nUser:a\tred\r\n".encode("utf-16"),
        b"\xfe\xff" + "principal;team\nUser:a;red".encode("utf-16-be"),
    ],
)
def test_csv_as_spreadsheets_write_it_is_read(read, content):
    assert read(content) == [("User:a", {"team": "red"})]


def test_only_the_header_says_what_separates(read):
    content = "principal;note\nUser:CN=a,OU=b;x\n"
    assert read(content) == [("User:CN=a,OU=b", {"note": "x"})]
    assert read("principal\nUser:a;b\n") == [("User:a;b", {})]
    assert read('principal,"a;b"\nUser:a,1\n') == [("User:a", {"a;b": "1"})]
    assert read('principal;"a,b"\nUser:a;1\n') == [("User:a", {"a,b": "1"})]


def test_attributes_keep_the_case_of_their_columns(read):
    assert read("Principal,Team,team\nUser:a,x,y\n") == [("User:a", {"Team": "x", "team": "y"})]
    assert read('{"PRINCIPAL":"User:a","Team":"x"}\n', "i.jsonl") == [("User:a", {"Team": "x"})]
    assert read(parquet(Principal=ONE, Team=["x"]), "i.parquet") == [("User:a", {"Team": "x"})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Principal,principal\na:b,a:b\n", "i.csv: expected distinct column names, found Princ"),
        (b'principal\n"User:a\n', "i.csv, line 2: not valid CSV: unexpected end of data; perhaps"),
        (b'principal\nUser:a\nUser:b"\n"x"y\n', "i.csv, line 4: not valid CSV: "),
        (b"principal\nUser:" + b"a" * 200_000, "i.csv, line 2: not valid CSV: field larger than"),
        (b"principal,\nx,y\n", "i.csv, row 1: 'x' has no principal type"),
        (b"pr\nincipal\n", "i.csv: expected columns principal, found pr"),
        (b'"a\nError: b"\n', "i.csv: expected columns principal, found 'a\\nError: b'"),
        ("principal\n".encode("utf-16-le"), "i.csv: expected columns principal, found NUL bytes;"),
        (b"principal\nUser:a\nUser:\xff\n", "i.csv: expected UTF-8, found other bytes in line 3"),
        (b"\xff\xfea", "i.csv: expected UTF-16, found other bytes in line 1"),
        (b"\0" * 100, "i.csv: expected columns principal, found NUL bytes"),
    ],
)
def test_csv_that_cannot_be_used_is_refused_with_its_place(refused, content, message):
    assert refused(content).startswith(message)


def test_a_value_may_have_as_many_letters_as_csv_allows_and_a_row_no_more_than_is_said(
    read, refused, monkeypatch
):
    longest = "a" * (sheet.LONGEST_VALUE - 5)
    assert read(f"principal\nUser:{longest}\n") == [(f"User:{longest}", {})]
    monkeypatch.setattr(sheet, "LONGEST_ROW", 300)
    assert read('principal\n"User:' + "\n" * 200 + '"\n')
    message = "i.csv, line 77: expected a row of at most 0 Mi letters, found a longer one"
    assert refused("principal\n" + '"\n",' * 400) == message


def test_a_long_value_is_refused_in_every_kind_of_file(refused):
    value = "a" * 131_073
    message = "row 1, column 'x': expected at most 131,072 letters, found 131,073"
    assert refused(f'{{"principal":"User:a","x":"{value}"}}', "i.jsonl") == f"i.jsonl, {message}"
    assert refused(parquet(principal=ONE, x=[value]), "i.parquet") == f"i.parquet, {message}"


def test_more_rows_lines_or_values_than_are_said_are_refused(read, refused, monkeypatch):
    monkeypatch.setattr(sheet, "MOST_ROWS", 3)
    rows = "User:a\n" * 3
    line = '{"principal":"User:a"}\n'
    assert read(f"principal\n{rows}") == read(line * 3, "i.jsonl") == [("User:a", {})]
    for arguments in (
        (f"principal\n{rows}User:a\n",),
        ("principal\n" + "\n" * 40,),
        (line * 4, "i.jsonl"),
        ("\r" * 40, "i.jsonl"),
        (parquet(principal=ONE * 4), "i.parquet"),
    ):
        assert "expected at most 3 rows, 10,000,000 values and 128 Mi" in refused(*arguments)
    monkeypatch.setattr(sheet, "MOST_VALUES", 5)
    assert "5 values" in refused("principal,a\n" + "User:a,\n" * 3)


def test_a_file_is_refused_by_its_bytes_and_by_the_letters_that_it_unpacks_to(refused, monkeypatch):
    content = parquet(principal=pa.array(["User:" + "a" * 500] * 100).dictionary_encode())
    monkeypatch.setattr(sheet, "LARGEST_DATA", len(content) - 1)
    assert "expected a file of at most" in refused(content, "i.parquet")
    monkeypatch.setattr(sheet, "LARGEST_DATA", 40_000)
    assert "values and 0 Mi letters, found more" in refused(content, "i.parquet")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"principal":"User:a","principal":"User:b"}', "not valid JSON: the key 'principal' oc"),
        ('{"principal":"User:a","x":NaN}', "not valid JSON: NaN is not a JSON number"),
        ('{"principal":"User:a","x":1e999}', "not valid JSON: a number is too large"),
        (f'{{"principal":"User:a","x":{"9" * 5_000}}}', "not valid JSON: a number has more than"),
        (f'{{"principal":"User:a","x":{"[" * 985 + "]" * 985}}}', "not valid JSON: nested too"),
        ('{"principal":"User:a","PRINCIPAL":"User:b"}', "expected distinct column names, found"),
        ('{"a\\nError: b":1}', "expected columns principal, found 'a\\nError: b'"),
        ('{"principal"', "not valid JSON: Expecting ':' delimiter at column 13"),
    ],
)
def test_json_that_cannot_be_used_is_refused_with_its_line(refused, line, message):
    told = refused(f'{{"principal":"User:x"}}\n{line}\n', "i.jsonl")
    assert told.startswith(f"i.jsonl, line 2: {message}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_json_may_end_in_any_way(read, end):
    content = end.join(['{"principal":"User:a"}', '{"principal":"User:b"}', ""])
    assert [name for name, _ in read(content, "i.jsonl")] == ["User:a", "User:b"]


@pytest.mark.parametrize("value", ['{"a":1}', '["User:a"]', "true", "1.5"])
def test_a_name_that_is_no_text_is_refused_and_not_made_one(refused, value):
    message = refused(f'{{"principal":{value}}}', "i.jsonl")
    assert message.startswith("i.jsonl, row 1, column 'principal': expected a text, found ")


def test_a_name_of_digits_may_be_a_number(read):
    content = '{"resource_type":"topic","resource_name":5}'
    assert read(content, "i.jsonl", RESOURCES) == [("5", {})]
    content = parquet(resource_type=["topic"], resource_name=[5])
    assert read(content, "i.parquet", RESOURCES) == [("5", {})]


def test_parquet_without_the_type_of_text_is_read_as_text(read, refused):
    assert read(parquet(principal=[b"User:\xc3\xa9"]), "i.parquet") == [("User:é", {})]
    message = "i.parquet, row 2, column 'principal': expected UTF-8, found other bytes: b'x\\xff'"
    assert refused(parquet(principal=[b"a:b", b"x\xff"]), "i.parquet") == message


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        (pa.timestamp("ns"), 1_000, "1970-01-01 00:00:00.000001"),
        (pa.timestamp("ns", "Europe/Berlin"), 0, "1970-01-01 01:00:00+01:00"),
        (pa.timestamp("s"), 253_402_300_799, "9999-12-31 23:59:59"),
        (pa.time64("ns"), 1_000, "00:00:00.000001"),
        (pa.duration("ns"), 1_000, "0:00:00.000001"),
    ],
)
def test_times_are_read_as_far_as_microseconds_tell_them(read, kind, number, text):
    content = parquet(principal=ONE, x=pa.array([number], pa.int64()).cast(kind))
    assert read(content, "i.parquet") == [("User:a", {"x": text})]


def test_what_is_no_time_is_text_without_quotes_and_lists_are_json(read):
    content = parquet(
        principal=ONE,
        day=pa.array([0], pa.int32()).cast(pa.date32()),
        price=pa.array([150]).cast(pa.decimal128(38, 2)),
        tags=pa.array([[{"a": b"x", "b": [1.5, None]}]]),
        word=pa.array(["x"]).dictionary_encode(),
        none=pa.nulls(1),
    )
    attributes = {"day": "1970-01-01", "price": "150.00", "tags": '[{"a": "x", "b": [1.5, null]}]'}
    assert read(content, "i.parquet") == [("User:a", attributes | {"word": "x"})]


BEYOND = [
    (pa.timestamp("ns"), 1_001),
    (pa.timestamp("us"), 2**62),
    (pa.timestamp("s"), -(10**12)),
    (pa.timestamp("ms", "Mars/Phobos"), 0),
    (pa.date64(), 86_400_000 * 2_932_897),
    (pa.time64("ns"), 1),
    (pa.duration("s"), 2**62),
]


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize(("kind", "number"), BEYOND, ids=lambda given: str(given))
def test_times_that_cannot_be_kept_are_refused_with_their_place(refused, kind, number, is_nested):
    column = pa.array([None, number], pa.int64()).view(kind)
    if is_nested:
        column = pa.ListArray.from_arrays([0, 1, 2], column)
    message = refused(parquet(principal=ONE * 2, x=column), "i.parquet")
    assert message.startswith("i.parquet, row 2, column 'x': expected a value of ")


@pytest.mark.parametrize("days", [2_932_897, -719_163, 2**31 - 1])
def test_days_of_other_years_than_1_to_9999_are_refused(refused, days):
    column = pa.array([0, days], pa.int32()).cast(pa.date32())
    message = refused(parquet(principal=ONE * 2, x=column), "i.parquet")
    assert message.startswith("i.parquet, row 2, column 'x': expected a value of date32[day]")


def test_text_of_other_bytes_than_utf_8_is_refused_with_its_place(refused):
    offsets, letters = pa.py_buffer(struct.pack("<iii", 0, 6, 12)), pa.py_buffer(b"User:aUser:\xff")
    content = parquet(principal=pa.StringArray.from_buffers(2, offsets, letters))
    message = "i.parquet, row 2, column 'principal': expected UTF-8, found other bytes"
    assert refused(content, "i.parquet") == message


def test_columns_of_one_name_are_refused(refused):
    table = pa.Table.from_arrays([pa.array(ONE), pa.array(["User:b"])], ["principal", "Principal"])
    assert "expected distinct column names" in refused(parquet_of(table), "i.parquet")
    assert "expected distinct column names" in refused(
        parquet_of(table.rename_columns(["principal", "principal"])), "i.parquet"
    )


def test_parquet_without_rows_is_an_inventory_of_nothing(read, refused):
    assert read(parquet(host=pa.array([], pa.string())), "i.parquet", HOSTS) == []
    assert "expected columns principal" in refused(
        parquet(x=pa.array([], pa.string())), "i.parquet"
    )


def deep(levels):
    value, kind = "x", pa.string()
    for _ in range(levels):
        value, kind = [value], pa.list_(kind)
    return parquet(principal=ONE, x=pa.array([value], kind))


def cut(content, at):
    return content[:at] + content[-8:]


SOUND = parquet(principal=[f"User:{n}" for n in range(500)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "i.parquet: not a Parquet file: "),
        (SOUND[:-1], "i.parquet: not a Parquet file: "),
        (cut(SOUND, 100), "i.parquet: not a Parquet file: "),
        (SOUND[:-4] + b"PARE", "i.parquet: expected a Parquet file that is not encrypted"),
        (SOUND[:-8] + b"\xff\xff\xff\x7fPAR1", "i.parquet: expected a footer of at most 16 MiB"),
        (deep(33), "i.parquet: nested too deeply, over 32 levels"),
        (deep(500), "i.parquet: not a Parquet file: Parquet schema too deeply nested"),
    ],
)
def test_parquet_that_cannot_be_used_is_refused(refused, content, message):
    assert refused(content, "i.parquet").startswith(message)


def test_a_damaged_column_of_a_footer_does_not_end_the_process(tmp_path, monkeypatch):
    """Asked for the column, pyarrow throws what nobody catches; it is not asked."""
    monkeypatch.setattr(parquet_file, "_read_apart", parquet_file.read_here)
    path = tmp_path / "i.parquet"
    for at in range(len(SOUND) - 700, len(SOUND) - 8, 7):
        path.write_bytes(SOUND[:at] + b"\0" + SOUND[at + 1 :])
        ends_well(lambda: read_inventory(None, str(path), PRINCIPALS), at)


BOMBS = {
    "three million rows": """pa.table({"principal": pa.DictionaryArray.from_arrays(
        pa.array([0] * 3_000_000, pa.int8()), pa.array(["User:a"]))})""",
    "rows of one long value": """pa.table({"principal": pa.DictionaryArray.from_arrays(
        pa.array([0] * 900_000, pa.int8()), pa.array(["User:" + "a" * 100_000]))})""",
    "rows of one value that is too long": """pa.table({"principal": pa.DictionaryArray.from_arrays(
        pa.array([0] * 900_000, pa.int8()), pa.array(["User:" + "a" * 5_000_000]))})""",
    "values in lists": """pa.table({"principal": ["User:a"],
        "x": pa.ListArray.from_arrays([0, 20_000_000], pa.repeat(True, 20_000_000))})""",
    "one large value": """pa.table({"principal": ["User:a"], "x": ["a" * 140_000_000]})""",
    "one of which the footer does not tell": """pa.table({"principal": ["User:a"],
        "x": pa.array(["a" * 300_000_000])})""",
}
WRITE = """
import sys, pyarrow as pa, pyarrow.parquet as pq
pq.write_table({table}, sys.argv[1], compression="zstd", write_statistics=False)
"""
READ = '''
import resource, sys
from aclkit.errors import UsageError
from aclkit.pipeline.inventory import parquet_file
from aclkit.pipeline.inventory.files import read_inventory

if "does not tell" in sys.argv[2]:
    parquet_file._READER = ("-P", "-c", """
from aclkit.pipeline.inventory import parquet_file
parquet_file._unpacked_size = lambda _: 0
parquet_file.main()
""")
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + (512 << 20),) * 2)
try:
    read_inventory(None, sys.argv[1], "principals")
except UsageError as error:
    print(error)
'''


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
@pytest.mark.parametrize("name", [name if "rows" in name else slow(name) for name in BOMBS])
def test_a_small_file_that_unpacks_to_gigabytes_is_refused_within_half_a_gigabyte(tmp_path, name):
    path = tmp_path / "i.parquet"
    run(WRITE.format(table=BOMBS[name]), str(path))
    assert path.stat().st_size < 24 * 1024
    told = run(READ, str(path), name)
    assert told.startswith(f"{path}")
    assert len(told.splitlines()) == 1


def test_the_limit_of_memory_is_none_of_this_process_whose_other_threads_work(read, monkeypatch):
    monkeypatch.setattr(resource, "setrlimit", lambda *_: pytest.fail("it was lowered here"))
    content = parquet(principal=["User:a"], x=pa.array([1_000]).cast(pa.timestamp("ns")))
    assert read(content, "i.parquet")


def test_a_process_that_breaks_off_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    """Batches that end early look like batches that end."""
    path = tmp_path / "i.parquet"
    path.write_bytes(SOUND)
    program = [sys.executable, "-P", "-c", BREAKS_OFF]
    monkeypatch.setattr(parquet_file.child, "python_module", lambda _: program)
    with pytest.raises(UsageError, match="reading it ended with code -9"):
        read_inventory(None, str(path), PRINCIPALS)


BREAKS_OFF = """
import os, signal, sys, pyarrow as pa
sys.stdin.buffer.read()
some = pa.record_batch({"principal": ["User:a"]})
out = pa.ipc.new_stream(sys.stdout.buffer, some.schema)
out.write_batch(some)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_delta_folder_is_counted_before_spark_collects_it(spark, tmp_path, monkeypatch):
    path = str(tmp_path / "staff")
    rows = pa.table({"Principal": ONE * 4, "team": ["red"] * 4})
    write_deltalake(path, rows, partition_by=["team"])
    (entry,) = read_inventory(lambda: spark, path, PRINCIPALS)
    assert (entry.name, entry.attributes) == ("User:a", {"team": "red"})
    for name, limit in (("MOST_ROWS", 3), ("LARGEST_DATA", 20)):
        with monkeypatch.context() as patch:
            patch.setattr(files, name, limit)
            with pytest.raises(UsageError, match=r"staff: expected at most .*, found more"):
                read_inventory(lambda: spark, path, PRINCIPALS)


def test_the_files_of_a_delta_folder_are_read_together_up_to_the_limits(tmp_path, monkeypatch):
    path = str(tmp_path / "staff")
    for _ in range(2):
        write_deltalake(path, pa.table({"Principal": ONE * 2, "team": ["red"] * 2}), mode="append")
    (entry,) = read_inventory(None, path, PRINCIPALS)
    assert (entry.name, entry.attributes) == ("User:a", {"team": "red"})
    for name, limit in (("MOST_ROWS", 3), ("LARGEST_DATA", 20)):
        with monkeypatch.context() as patch:
            patch.setattr(sheet, name, limit)
            with pytest.raises(UsageError, match=r"staff: expected at most .*, found "):
                read_inventory(None, path, PRINCIPALS)
