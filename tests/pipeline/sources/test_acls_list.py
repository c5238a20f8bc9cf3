"""The text of kafka-acls --list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import DataError
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, AclPermissionType, PatternType, ResourceType
from aclkit.pipeline.sources.acls_list import read_acls_list

TESTS = Path(__file__).parents[2]
DATA = TESTS / "data" / "kraft-4.1-text"
PASTED = TESTS / "data" / "pasted-listings"
OTHER_FORMS = TESTS / "data" / "other-acl-forms"
FIELDS = (
    *("resource_type", "resource_name", "pattern_type", "principal", "host", "operation"),
    "permission_type",
)


def group(name="foo", *entries, kind="TOPIC", pattern="LITERAL"):
    head = f"Current ACLs for resource `ResourcePattern(resourceType={kind}, name={name}, "
    return [f"{head}patternType={pattern})`:", *(f"\t{entry}" for entry in entries), ""]


def entry(principal="User:bob", host="*", operation="READ", permission="ALLOW"):
    return (
        f"(principal={principal}, host={host}, operation={operation}, permissionType={permission})"
    )


def read(*lines):
    return list(read_acls_list([f"{line}\n" for line in lines], "s"))


def bindings(rows):
    return [tuple(getattr(r, name) for name in FIELDS) for r in rows if r.kind == "fact"]


def rejected_lines(rows):
    return [row.position for row in rows if row.kind == "reject"]


FOO = ("TOPIC", "foo", "LITERAL", "User:bob", "*", "READ", "ALLOW")


def test_a_real_listing_equals_what_the_admin_client_saw():
    with (DATA / "kafka-acls-list.txt").open(encoding="utf-8") as lines:
        rows = list(read_acls_list(lines, "s"))
    live = {tuple(acl) for acl in json.loads((DATA / "live-acls.json").read_text(encoding="utf-8"))}
    read_ones = {("BROKER" if b[0] == "CLUSTER" else b[0], *b[1:]) for b in bindings(rows)}
    assert len(rows) == len(live) == 627
    assert read_ones == live


def test_a_listed_acl_has_neither_id_nor_offset():
    (row,) = read(*group("foo", entry()))
    assert (row.fact, row.record_type) == ("listing", "ACCESS_CONTROL_ENTRY_RECORD")
    assert (row.acl_id, row.log_offset, row.log_time) == (None, None, None)
    assert bindings([row]) == [FOO]


def test_the_form_up_to_3_9_is_read():
    header, first, last, _ = group("foo", entry(), entry(operation="WRITE"))
    rows = read(f"{header} ", f" {first}", f"{last} ", "")
    assert bindings(rows) == [FOO, (*FOO[:5], "WRITE", "ALLOW")]


def test_an_acl_that_is_listed_twice_is_read_once():
    lines = group("foo", entry(), entry())
    rows = read(*lines, *lines)
    assert bindings(rows) == [FOO]
    assert rejected_lines(rows) == []


@pytest.mark.parametrize("name", ["", "a, name=b", "x, patternType=PREFIXED)`:", "a) b, c", " "])
@pytest.mark.parametrize("principal", ["User:CN=a,OU=b, host=x", "", "a, operation=READ", "U:)"])
def test_names_are_not_escaped(name, principal):
    assert bindings(read(*group(name, entry(principal, host="10.0.0.1")))) == [
        ("TOPIC", name, "LITERAL", principal, "10.0.0.1", "READ", "ALLOW")
    ]


def test_enum_words_stay_as_the_text_has_them():
    rows = read(*group("x", entry(operation="UNKNOWN"), kind="UNKNOWN", pattern="UNKNOWN"))
    assert bindings(rows) == [("UNKNOWN", "x", "UNKNOWN", "User:bob", "*", "UNKNOWN", "ALLOW")]


def test_a_line_that_is_not_understood_is_rejected_with_its_number():
    rows = read("hello", *group("foo", "(principal=User:x", entry()))
    assert rejected_lines(rows) == [1, 3]
    assert bindings(rows) == [FOO]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"\t{entry()}", "an ACL without the line that names its resource"),
        ("\t(principal=User:x)", "expected (principal=…, host=…, operation=…, permissionType=…)"),
        ("\t(principal=User:x, host=*, operation=READ)", "expected (principal=…, host=…"),
        ("\t(principal=)", "expected (principal=…"),
        ("hello", "not a line of kafka-acls --list"),
    ],
)
def test_a_reject_says_why(line, reason):
    *_, rejected = read(*group("foo", entry()), line)
    assert rejected.reason.startswith(reason)


def test_an_acl_whose_resource_is_not_known_goes_to_no_other_resource():
    rows = read(*group("foo", entry())[:2], "Current ACLs for reso", f"\t{entry('User:x')}")
    assert bindings(rows) == [FOO]
    assert rejected_lines(rows) == [3, 4]
    rows = read(*group("foo", entry()), f"\t{entry('User:x')}")
    assert bindings(rows) == [FOO]


def test_an_empty_text_has_no_acls():
    assert read() == read("", "") == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "TOPC"}, "unknown resource type 'TOPC'"),
        ({"kind": "Topic"}, "unknown resource type 'Topic'"),
        ({"pattern": "PREFIXD"}, "unknown pattern type 'PREFIXD'"),
        ({"pattern": "UNKNOWN(3)"}, "unknown pattern type 'UNKNOWN(3)'"),
        ({"pattern": "UNKNOWN(128)"}, "unknown pattern type 'UNKNOWN(128)'"),
    ],
)
def test_a_misspelt_header_is_rejected_with_all_that_stands_under_it(change, reason):
    rows = read(*group("foo", entry(), **change), *group("bar", entry()))
    assert [binding[1] for binding in bindings(rows)] == ["bar"]
    assert [row.reason for row in rows if row.kind == "reject"] == [
        reason,
        "an ACL without the line that names its resource",
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"permission": "ALLOV"}, "unknown permission type 'ALLOV'"),
        ({"permission": "Allow"}, "unknown permission type 'Allow'"),
        ({"permission": "READ"}, "unknown permission type 'READ'"),
        ({"operation": "REED"}, "unknown operation 'REED'"),
        ({"operation": "UNKNOWN(\u0661)"}, "unknown operation 'UNKNOWN(١)'"),
        ({"operation": "UNKNOWN(-129)"}, "unknown operation 'UNKNOWN(-129)'"),
    ],
)
def test_a_misspelt_entry_is_rejected_and_the_others_stay(change, reason):
    rows = read(*group("foo", entry("User:x", **change), entry()))
    assert bindings(rows) == [FOO]
    assert [row.reason for row in rows if row.kind == "reject"] == [reason]


def test_codes_without_a_name_are_words():
    rows = read(*group("x", entry(operation="UNKNOWN(99)", permission="UNKNOWN(-3)"), kind="USER"))
    assert bindings(rows) == [
        ("USER", "x", "LITERAL", "User:bob", "*", "UNKNOWN(99)", "UNKNOWN(-3)")
    ]


LOG = "[2026-11-22 10:00:00,123] WARN [AdminClient clientId=x] slow (org.apache.kafka.Client)"
LOGGED = [
    LOG,
    LOG.replace("WARN", "INFO"),
    "SLF4J: Class path contains multiple SLF4J bindings.",
    "SLF4J(W): No SLF4J providers were found.",
    "log4j:WARN No appenders could be found for logger (kafka).",
    "2026-11-22T10:00:00.123456Z main WARN The use of package scanning is deprecated",
    "OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes",
    "Picked up JAVA_TOOL_OPTIONS: -Xmx256m",
    "WARNING: An illegal reflective access operation has occurred",
]


@pytest.mark.parametrize("line", LOGGED)
def test_what_a_tool_logs_is_left_out_wherever_a_line_of_it_stands(line):
    header, first, last, end = group("foo", entry(), entry(operation="WRITE"))
    rows = read(line, header, line, first, line, line, last, end, line)
    assert bindings(rows) == [FOO, (*FOO[:5], "WRITE", "ALLOW")]
    assert rejected_lines(rows) == []


def test_the_trace_of_a_logged_exception_is_left_out():
    trace = [
        "java.net.ConnectException: Connection refused",
        "\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)",
        "Caused by: org.apache.kafka.common.errors.TimeoutException: gone",
        "\t... 7 more",
    ]
    rows = read(*group("foo", entry())[:1], LOG, *trace, f"\t{entry()}")
    assert (bindings(rows), rejected_lines(rows)) == ([FOO], [])


def test_lines_that_a_log_line_cuts_anywhere_are_joined():
    lines = group("foo", entry())
    for number, line in enumerate(lines[:2]):
        for at in range(len(line) + 1):
            mixed = [*lines[:number], line[:at] + LOG, LOG, line[at:], *lines[number + 1 :]]
            rows = read(*mixed)
            assert (bindings(rows), rejected_lines(rows)) == ([FOO], []), mixed


def test_a_line_that_is_cut_for_good_takes_no_other_with_it():
    header, line, _ = group("foo", entry())
    rows = read(header, line[:9] + LOG, line)
    assert (bindings(rows), rejected_lines(rows)) == ([FOO], [2])


def test_a_name_that_looks_like_a_log_line_stays_a_name():
    rows = read(*group(LOG, entry(f"User:{LOG}")))
    assert bindings(rows) == [("TOPIC", LOG, "LITERAL", f"User:{LOG}", "*", "READ", "ALLOW")]


def test_an_error_of_the_tool_is_not_left_out():
    rows = read(*group("foo", entry()), LOG.replace("WARN", "ERROR"))
    assert rejected_lines(rows) == [4]


def test_a_text_of_log_lines_alone_has_no_acls():
    assert read(*LOGGED) == []


def test_another_kind_of_file_is_refused():
    with pytest.raises(DataError, match=r"the output of kafka-acls --list .* found Er.*\*"):
        read("Error while executing hunter2")


def read_path(path):
    with path.open(encoding="utf-8") as lines:
        return list(read_acls_list(lines, "s"))


RELATION = [
    ("GROUP", "relation-81-*", "LITERAL", "User:relation-81", "*", "READ", "ALLOW"),
    ("TOPIC", "parcels", "LITERAL", "User:relation-81", "*", "WRITE", "ALLOW"),
    ("TOPIC", "parcels", "LITERAL", "User:relation-81", "*", "READ", "ALLOW"),
]


@pytest.mark.parametrize("name", ["tabs.txt", "eight-spaces.txt", "commented.txt"])
def test_a_pasted_listing_is_read_as_kafka_acls_wrote_it(name):
    rows = read_path(PASTED / name)
    assert (bindings(rows), rejected_lines(rows)) == (RELATION, [])


@pytest.mark.parametrize("mark", ["# ", "> ", "| ", "// ", "-- ", ";", "    ", "\t", "##  "])
def test_one_sign_in_front_of_all_lines_is_left_out(mark):
    text = (PASTED / "tabs.txt").read_text(encoding="utf-8")
    rows = read(*(f"{mark}{line}".rstrip() for line in text.splitlines()))
    assert (bindings(rows), rejected_lines(rows)) == (RELATION, [])


@pytest.mark.parametrize("blanks", ["", " ", "    ", "\u00a0\u00a0", "\t\t"])
def test_an_acl_may_be_indented_by_any_blanks(blanks):
    header, line, _ = group("foo", entry())
    assert bindings(read(header, f"{blanks}{line.strip()}   ")) == [FOO]


def test_a_sign_in_front_of_some_lines_only_is_refused():
    lines = [f"# {line}" for line in group("foo", entry())[:2]]
    with pytest.raises(DataError, match="line 3: expected '#' at the start of each line"):
        read(*lines, *group("bar", entry()))
    rows = read(*group("bar", entry()), *lines)
    assert [row.kind for row in rows] == ["fact", "reject", "reject"]


@pytest.mark.parametrize("mark", ["+", "-", "- ", "x "])
def test_a_diff_is_no_listing(mark):
    lines = [f"{mark}{line}" for line in group("foo", entry())]
    with pytest.raises(DataError, match="expected the output of kafka-acls --list"):
        read(*lines)


def test_what_a_change_prints_is_no_list_of_all_acls():
    with pytest.raises(DataError, match=r"line 1: .* --add or --remove, which lists only"):
        read_path(PASTED / "add-output.txt")
    with pytest.raises(DataError, match=r"line 4: .* --add or --remove"):
        read(*group("foo", entry()), "Are you sure you want to remove ACLs: ")


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (PASTED / "wrapped80.txt", "lines are wrapped or cut"),
        (PASTED / "kafka-1.0.txt", "kafka-acls up to Kafka 2.2; use a newer kafka-acls"),
        (PASTED / "dump-without-decoder.txt", "--source dump-log:FILE"),
        (OTHER_FORMS / "rpk-print-filters.txt", "rpk acl list --print-filters"),
        (OTHER_FORMS / "desired.sh", "a shell script"),
        (OTHER_FORMS / "kafka-ui.csv", "kafka-ui"),
        (OTHER_FORMS / "kafka.tf", "Terraform"),
        (OTHER_FORMS / "kafkauser.yaml", "Strimzi KafkaUser"),
        (OTHER_FORMS / "ksm.csv", "kafka-security-manager"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_another_form_is_refused_by_its_name_and_in_one_line(path, form):
    with pytest.raises(DataError) as refused:
        read_path(path)
    said = str(refused.value)
    assert form in said
    assert "kafka-acls --list (Kafka 2.3 or newer) or of rpk acl list" in said
    assert "\n" not in said


def test_a_line_that_a_terminal_has_wrapped_is_named_so():
    header, line, _ = group("foo", entry())
    rows = read(header, line, line[:30], line[30:])
    (first, _) = [row for row in rows if row.kind == "reject"]
    assert "wrapped or cut" in first.reason


RPK = (OTHER_FORMS / "rpk.txt").read_text(encoding="utf-8").splitlines()
ANN = ("User:ann", "*", "READ", "ALLOW")
RPK_ACLS = [
    ("TOPIC", "foo", "LITERAL", *ANN),
    ("CLUSTER", "kafka-cluster", "LITERAL", "User:ann", "*", "ALL", "ALLOW"),
]


def test_the_table_of_rpk_is_read():
    assert bindings(read(*RPK)) == RPK_ACLS
    assert bindings(read(LOG, *RPK, "", RPK[1])) == RPK_ACLS


@pytest.mark.parametrize("mark", ["# ", "> ", "#", "    "])
def test_the_table_of_rpk_is_read_behind_a_sign(mark):
    assert bindings(read(*(f"{mark}{line}".rstrip() for line in ["", *RPK, ""]))) == RPK_ACLS
    with pytest.raises(DataError):
        read(f"# {RPK[0]}", *RPK[1:])


def test_a_table_of_rpk_with_other_bytes_than_utf_8_is_refused():
    with pytest.raises(DataError, match="line 2: bytes that are not UTF-8"):
        read(RPK[0], RPK[1].replace("ann", "\udcf6nn"), *RPK[2:])


def rpk(*rows):
    """Write a table as rpk does: each column as wide as its longest cell, and two blanks."""
    table = [RPK[0].split(), *([*row, ""] for row in rows)]
    wide = [max(6, *(len(row[n]) + 2 for row in table)) for n in range(8)]
    return ["".join(c.ljust(w) for c, w in zip(row, wide, strict=True)).rstrip() for row in table]


def test_names_with_blanks_are_read_from_the_table_of_rpk():
    row = ("User:CN=a  b, OU=c", "10.0.0.1", "TOPIC", "x y  z", "PREFIXED", "READ", "DENY")
    assert bindings(read(*rpk(row))) == [
        ("TOPIC", "x y  z", "PREFIXED", "User:CN=a  b, OU=c", "10.0.0.1", "READ", "DENY")
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0], lines[1].replace("  ", " ", 1)],
        lambda lines: [lines[0], lines[1].replace("  ", "\t", 1)],
        lambda lines: [lines[0], lines[1].replace("ALLOW", "ALLOV")],
        lambda lines: [lines[0], lines[1].replace("TOPIC", "TOPIK")],
        lambda lines: [lines[0], lines[1][:60]],
        lambda lines: [lines[0], f"{lines[1]}       timeout"],
        lambda lines: [lines[0].replace("HOST", "HOST  "), lines[1].replace("*", "*  ")],
    ],
)
def test_a_table_of_rpk_that_was_changed_is_refused_whole(change):
    with pytest.raises(DataError):
        read(*change(RPK))


def words(enum):
    return st.sampled_from([*enum.__members__, "UNKNOWN(77)", "UNKNOWN(-1)"])


NAME = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=20)
HOST = NAME.filter(lambda host: ", host=" not in f", host{host}" and ", host" not in host)


ACL = st.tuples(
    *(words(ResourceType), NAME, words(PatternType), NAME, HOST),
    *(words(AclOperation), words(AclPermissionType)),
)


@given(st.lists(ACL, min_size=1, unique=True))
def test_what_kafka_writes_is_read_back(acls):
    lines = []
    for fields in acls:
        written = Acl(acl_id="", **dict(zip(FIELDS, fields, strict=True)))
        pattern, body = written.render_pattern(), written.render_entry()
        lines += [f"Current ACLs for resource `{pattern}`:", f"\t{body}", ""]
    assert bindings(read(*lines)) == acls


CELL = NAME.map(str.strip).filter(lambda cell: cell and cell.isprintable() and "\t" not in cell)
RPK_ROW = st.tuples(
    CELL, CELL, words(ResourceType), CELL, words(PatternType), words(AclOperation),
    words(AclPermissionType),
)  # fmt: skip


@given(st.lists(RPK_ROW, min_size=1, unique=True))
def test_what_rpk_writes_is_read_back(rows):
    told = [(kind, name, pattern, who, *rest) for who, host, kind, name, pattern, *more in rows
            for rest in [(host, *more)]]  # fmt: skip
    assert bindings(read(*rpk(*rows))) == told


@given(st.lists(st.text() | st.sampled_from(group("foo", entry()))))
def test_any_text_is_read_or_refused(lines):
    try:
        rows = list(read_acls_list(lines, "s"))
    except DataError:
        return
    assert set(bindings(rows)) <= {FOO}


def test_a_name_longer_than_kafka_stores_is_a_reject():
    long = "x" * 32_768
    assert bindings(read(*group("foo", entry(), entry(principal=f"User:{long}")))) == bindings(
        read(*group("foo", entry()))
    )
    rows = read(*group("a", entry()), *group(long, entry()))
    assert [row.kind for row in rows] == ["fact", "reject", "reject"]
    assert len(bindings(read(*group(long[:-1], entry())))) == 1
