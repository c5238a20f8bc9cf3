"""Inventories in CSV, JSON lines and Parquet: whatever lies in them, reading ends well."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aclkit.model.symbol import HOSTS, PRINCIPALS, RESOURCES
from aclkit.pipeline.inventory import parquet_file
from aclkit.pipeline.inventory.files import COLUMNS, read_inventory
from tests.fuzz.mutating import VALUES, ends_well, rounds

KINDS = (PRINCIPALS, HOSTS, RESOURCES)
ROWS = {
    PRINCIPALS: [
        {"principal": "User:a", "team": "red"},
        {"principal": "User:CN=b,O=x", "team": 'say "x"\nhere'},
    ],
    HOSTS: [{"host": "10.0.0.1", "rack": "1"}, {"host": "::1", "rack": ""}],
    RESOURCES: [
        {"resource_type": "topic", "resource_name": "a;b\tc"},
        {"resource_type": "GROUP", "resource_name": "g, h"},
    ],
}


def as_csv(rows, mark=",", end="\n"):
    text = io.StringIO()
    # With \r as its end Python's own writer leaves \n unquoted.
    quoting = csv.QUOTE_ALL if end == "\r" else csv.QUOTE_MINIMAL
    head = list(rows[0])
    writer = csv.DictWriter(text, head, delimiter=mark, lineterminator=end, quoting=quoting)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(table, packing="snappy"):
    out = io.BytesIO()
    pq.write_table(table, out, compression=packing)
    return out.getvalue()


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write a file and read it; every entry that comes out can be written again.

    Parquet is read in this process: what would end the other one is seen here.
    """
    monkeypatch.setattr(parquet_file, "_read_apart", parquet_file.read_here)

    def written(content, kind, ending):
        path = tmp_path / f"i.{ending}"
        path.write_bytes(content)

        def call():
            for entry in read_inventory(None, str(path), kind):
                json.dumps([entry.key, dict(entry.attributes)], ensure_ascii=False).encode()

        return ends_well(call, content)

    return written


@pytest.mark.parametrize("kind", KINDS)
def test_csv_with_other_bytes_ends_well(read, kind):
    codes = [
        read(
            mutants.bytes_of(as_csv(ROWS[kind], mutants.chance.choice(",;\t")).encode()),
            kind,
            "csv",
        )
        for mutants in rounds(f"csv {kind}", 300)
    ]
    assert set(codes) == {0, 2}


@pytest.mark.parametrize("kind", KINDS)
def test_csv_of_any_dialect_is_read_as_it_was_meant(tmp_path, kind):
    path = tmp_path / "i.csv"
    for mutants in rounds(f"dialect {kind}", 60):
        draw = mutants.chance.choice
        cells = ["", "a", " b ", "c,d", "e;f", "g\th", 'i"j', "k\nl", "m\r\nn", "😀", "é", "=1"]
        head = [
            draw([str.upper, str.title, str.lower, " {} ".format])(name) for name in COLUMNS[kind]
        ]
        rows = [
            dict(zip(head, row.values(), strict=False)) | {"note": draw(cells)}
            for row in ROWS[kind]
        ]
        encoding = draw(["utf-8", "utf-8-sig", "utf-16"])
        content = as_csv(rows, draw(",;\t"), draw(["\n", "\r\n", "\r"])).encode(encoding)
        path.write_bytes(content)
        found = read_inventory(None, str(path), kind)
        assert [entry.attributes["note"] for entry in found] == [row["note"] for row in rows], (
            content
        )


@pytest.mark.parametrize("kind", KINDS)
def test_json_lines_with_other_bytes_end_well(read, kind):
    codes = [
        read(m.bytes_of(as_lines(ROWS[kind])), kind, "jsonl") for m in rounds(f"jsonl {kind}", 300)
    ]
    assert set(codes) == {0, 2}


@pytest.mark.parametrize("kind", KINDS)
def test_json_lines_with_other_values_end_well(read, kind):
    codes = [
        read(
            as_lines(found)
            if isinstance(found := m.value_of(ROWS[kind]), list)
            else as_lines([found]),
            kind,
            "json",
        )
        for m in rounds(f"json {kind}", 300)
    ]
    assert set(codes) == {0, 2}


MIXED = pa.table({
    "principal": [f"User:{n % 7}" for n in range(40)],
    "n": list(range(40)),
    "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 40, pa.timestamp("ns", "Europe/Berlin")),
    "tags": [[{"k": "v"}]] * 40,
    "day": [date(2026, 1, 1)] * 40,
    "price": [Decimal("1.50")] * 40,
})  # fmt: skip


def test_parquet_with_other_bytes_ends_well(read):
    seeds = [as_parquet(MIXED, packing) for packing in ("none", "snappy", "gzip", "zstd")]
    codes = [
        read(m.bytes_of(m.chance.choice(seeds)), PRINCIPALS, "parquet")
        for m in rounds("parquet", 300)
    ]
    assert set(codes) == {0, 2}


def test_parquet_with_single_bytes_changed_ends_well(read):
    """Lengths stay, so that what lies behind a change is still found."""
    seeds = [as_parquet(MIXED, packing) for packing in ("none", "snappy", "zstd")]
    codes = []
    for mutants in rounds("parquet bytes", 300):
        content = bytearray(mutants.chance.choice(seeds))
        for _ in range(mutants.chance.choice((1, 1, 2, 5))):
            is_footer = mutants.chance.random() < 0.5
            at = mutants.chance.randrange(
                len(content) - 2_000 if is_footer else 4, len(content) - 8
            )
            content[at] = mutants.chance.choice(
                (0, 1, 127, 128, 255, content[at] ^ 1, content[at] ^ 16)
            )
        codes.append(read(bytes(content), PRINCIPALS, "parquet"))
    assert set(codes) == {0, 2}


ZONES = (None, "Europe/Berlin", "+25:99", "Mars/Phobos")
TYPES = (
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in ZONES),
    pa.date32(), pa.date64(), pa.time64("ns"), pa.time32("s"), pa.duration("ns"), pa.duration("s"),
    pa.int8(), pa.uint64(), pa.float32(), pa.bool_(), pa.decimal128(38, 4), pa.null(),
    pa.binary(), pa.binary(3), pa.string(), pa.large_string(),
)  # fmt: skip


def column_of(chance, length):
    """Make a column of a strange type out of chance bits; some values of it no one can hold."""
    kind = chance.choice(TYPES)
    if kind == pa.null():
        return pa.nulls(length)
    if kind in (pa.binary(), pa.string(), pa.large_string(), pa.binary(3)):
        words = [
            chance.choice((b"abc", b"\xff\xfe\xfd", b"\xc3\xa9x", None)) for _ in range(length)
        ]
        if kind == pa.binary(3):
            return pa.array(words, kind)
        column = pa.array(words, pa.large_binary() if kind == pa.large_string() else pa.binary())
        return pa.Array.from_buffers(kind, length, column.buffers())
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(chance.randrange(10**9)) for _ in range(length)], kind)
    if kind == pa.bool_():
        return pa.array([chance.random() < 0.5 for _ in range(length)])
    bits = kind.bit_width
    numbers = [chance.choice((0, 1, 999, 2**40, chance.getrandbits(63))) for _ in range(length)]
    raw = b"".join(number.to_bytes(8, "little")[: bits // 8] for number in numbers)
    return pa.Array.from_buffers(kind, length, [None, pa.py_buffer(raw)])


def wrapped(chance, column):
    """Put a column into lists, objects or a dictionary, now and then."""
    how = chance.randrange(5)
    if how == 0:
        return pa.StructArray.from_arrays([column], ["é"])
    if how == 1:
        return pa.ListArray.from_arrays(pa.array(range(len(column) + 1), pa.int32()), column)
    if how == 2 and column.type not in (pa.null(), pa.bool_()):
        return pa.DictionaryArray.from_arrays(pa.array([0] * len(column), pa.int8()), column)
    return column


def test_parquet_of_strange_types_and_values_ends_well(read):
    codes = []
    for mutants in rounds("types", 300):
        chance, length = mutants.chance, mutants.chance.choice((0, 1, 3, 20))
        names = [
            "principal",
            *(chance.choice(("a", "b", "principal", "Principal", "")) for _ in range(2)),
        ]
        columns = [
            pa.array(["User:a"] * length),
            column_of(chance, length),
            wrapped(chance, column_of(chance, length)),
        ]
        if chance.random() < 0.2:
            columns.reverse()
        try:
            content = as_parquet(pa.Table.from_arrays(columns, names=names))
        except (pa.ArrowException, ValueError, OverflowError):
            continue  # Arrow writes no such file either
        codes.append(read(content, PRINCIPALS, "parquet"))
    assert set(codes) == {0, 2}


def test_values_of_the_fuzzers_are_of_every_kind():
    assert {type(value) for value in VALUES} == {type(None), bool, int, float, str, list, dict}
