"""Lines as loggers and tools lay them out: read with the broker's own time, or named."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aclkit.questions.usage.clock import Clock, parse_zone, to_micros
from aclkit.questions.usage.entry import CUT_SHORT, read_entries
from aclkit.questions.usage.layout import LAYOUT_NOT_READ
from tests.pace import within_loops

LAYOUTS = Path(__file__).parents[2] / "data" / "log-layouts"
TIME = to_micros(datetime(2026, 11, 20, 10, 0, 0, 259_000, tzinfo=UTC))
SECOND = TIME - 259_000
PLAIN = (
    "Principal = User:clerk is Denied operation = CREATE from host = 10.244.0.9 on resource = "
    "Topic:LITERAL:ledger for request = CreateTopics with resourceRefCount = 1 based on rule "
    "DefaultDeny"
)
OLD = PLAIN.partition(" based on")[0].replace(" operation = CREATE", " Operation = Create")
LINE = f"[2026-11-20 10:00:00,259] INFO {PLAIN} (kafka.authorizer.logger)"
ISO = "2026-11-20T10:00:00.259Z"
RULE = f"{PLAIN} (kafka.authorizer.logger)"


def entries(*lines, zone="UTC"):
    raw = [line if isinstance(line, bytes) else line.encode() for line in lines]
    return list(read_entries(raw, Clock(parse_zone(zone))))


def only(*lines, zone="UTC"):
    (entry,) = entries(*lines, zone=zone)
    return entry


def json_line(**fields):
    return json.dumps(fields)


READ = {
    "stern": f"kafka-0 kafka {LINE}",
    "stern with its time": f"kafka-0 kafka 2026-11-20T12:30:00.300+02:00 {LINE}",
    "compose": f"kafka-1         | {LINE}",
    "a viewer's local time": f"2026-11-20 13:00:00 kafka-1 | {LINE}",
    "kubectl --prefix": f"[pod/kafka-0/kafka] {LINE}",
    "kubectl --prefix --timestamps": f"[pod/kafka-0/kafka] 2026-11-20T10:00:01.5Z {LINE}",
    "docker logs -t without %d": f"{ISO} INFO {RULE}",
    "CRI": f"2026-11-20T10:00:01.000000001Z stdout F {LINE}",
    "CRI without %d": f"{ISO} stdout F INFO {RULE}",
    "CRI with a date-less time": f"{ISO} stdout F 10:00:00,259 INFO {RULE}",
    "syslog": f"Nov 20 13:00:00 broker-1 kafka[4711]: {LINE}",
    "syslog of RFC 5424": f"<134>1 {ISO} broker-1 kafka 4711 - - INFO {RULE}",
    "Confluent for Kubernetes": "[INFO] 2026-11-20 10:00:00,259 [data-plane-request-handler-3]"
    f" kafka.authorizer.logger logAuditMessage - {PLAIN}",
    "log4j with a zone": f"2026-11-20T12:00:00,259+0200 INFO {RULE}",
    "log4j's UNIX_MILLIS": f"1795168800259 INFO {RULE}",
    "slashes": f"2026/11/20 10:00:00.259 INFO {RULE}",
    "grep -n of several files": f"logs/kafka-authorizer.log:17:{LINE}",
    "grep -n without brackets": f"17:2026-11-20 10:00:00,259 INFO {RULE}",
    "colours": f"\x1b[36mkafka-1  | \x1b[0m\x1b[32m{LINE}\x1b[m",
    "coloured message": f"[2026-11-20 10:00:00,259] INFO \x1b[31m{PLAIN}\x1b[0;39m",
    "a byte order mark and CRLF": f"\ufeff{LINE}\r\n",
    "docker's json-file": json.dumps(
        {"log": f"{LINE}\n", "stream": "stdout", "time": "2026-11-20T10:00:02.1Z"},
        separators=(",", ":"),
    ),
    "json-file without %d": json.dumps(
        {"log": f"INFO {RULE}\n", "stream": "stdout", "time": ISO}, separators=(",", ":")
    ),
    "log4j's JSONEventLayout": json_line(**{"@timestamp": ISO, "level": "INFO", "message": PLAIN}),
    "ECS": json_line(
        **{"@timestamp": ISO, "log.level": "INFO", "message": PLAIN, "log": {"logger": "k"}}
    ),
    "log4j's JsonLayout": json_line(
        instant={"epochSecond": SECOND // 10**6, "nanoOfSecond": 259_000_000}, message=PLAIN
    ),
    "log4j's JSONLayout": json_line(timeMillis=TIME // 1000, level="INFO", message=PLAIN),
    "msg and ts": json_line(ts=TIME / 10**6, msg=PLAIN),
    "log and time": json_line(log=LINE, time="2026-11-20T10:00:09Z", kubernetes={"pod": "k"}),
    "@message": json_line(**{"@message": LINE, "@timestamp": "2026-11-20 13:00:00.000"}),
    "journald": json_line(__REALTIME_TIMESTAMP=str(TIME), MESSAGE=f"INFO {RULE}"),
    "Loki": json_line(timestamp=str(TIME * 1000), line=f"INFO {RULE}"),
    "a nested object": json_line(**{"@timestamp": "2026-11-20T10:00:30Z", "event": {
        "time": ISO, "text": PLAIN}}),
    "JSON within JSON": json_line(time="2026-11-20T10:00:09Z", log=json_line(
        **{"@timestamp": ISO, "message": PLAIN})),
    "the message twice": json_line(
        **{"@timestamp": ISO, "message": PLAIN, "event": {"original": LINE}}
    ),
    "JSON behind a service": f"kafka-1 | {json_line(timestamp=ISO, message=PLAIN)}",
    "Gson": json_line(timestamp=ISO, message=PLAIN).replace("=", "\\u003d"),
    "JSON with a time without zone": json_line(time="2026-11-20 10:00:00,259", message=PLAIN),
}  # fmt: skip


@pytest.mark.parametrize("layout", READ)
def test_a_line_is_read_with_the_broker_s_own_time(layout):
    entry = only(READ[layout])
    assert entry.problem is None
    assert entry.span == (TIME, TIME)
    assert entry.statement.request.resource_name == "ledger"
    assert (entry.statement.rule, entry.statement.decision) == ("DefaultDeny", "DENIED")


@pytest.mark.parametrize(
    "header",
    [
        "Nov 20, 2026 10:00:00 AM kafka.authorizer.logger logAuditMessage",
        "Nov 20, 2026, 10:00:00\u202fAM kafka.security.authorizer.AclAuthorizer logAuditMessage",
    ],
)
@pytest.mark.parametrize("before", ["", "kafka-1  | "])
def test_two_lines_of_java_util_logging_are_one_entry(header, before):
    found = entries(f"{before}{header}\n", f"{before}INFO: {PLAIN}\n", f"{LINE}\n")
    assert [(each.position, each.span[0]) for each in found] == [(1, SECOND), (3, TIME)]
    assert {each.statement for each in found} == {only(LINE).statement}


def test_noon_and_midnight_of_java_util_logging_are_what_they_are():
    told = "Nov 20, 2026 {} kafka.authorizer.logger log\n"
    for written, hours in (("12:00:00 AM", -10), ("12:00:00 PM", 2), ("9:00:00 PM", 11)):
        entry = only(told.format(written), f"INFO: {PLAIN}\n")
        assert entry.span[0] == SECOND + hours * 3_600_000_000


def test_pieces_of_a_line_of_cri_are_joined_of_each_stream_its_own():
    found = entries(
        f"{ISO} stdout P {LINE[:50]}\n",
        f"{ISO} stderr F {LINE}\n",
        f"{ISO} stdout P {LINE[50:90]}\n",
        f"{ISO} stdout F {LINE[90:]}\n",
    )
    assert {each.statement for each in found} == {only(LINE).statement}
    assert len(found) == 2


def test_pieces_of_a_line_of_json_file_are_joined():
    def piece(text):
        return f'{{"log":{json.dumps(text)},"stream":"stdout","time":"{ISO}"}}\n'

    found = entries(piece(LINE[:80]), piece(f"{LINE[80:]}\n"), piece(f"{LINE}\n"))
    assert [each.position for each in found] == [1, 3]
    assert {each.statement for each in found} == {only(LINE).statement}


def test_pieces_without_an_end_are_an_entry_all_the_same():
    assert only(f"{ISO} stdout P {LINE}").statement == only(LINE).statement
    (first, second) = entries(f"{ISO} stdout P {LINE[:90]}\n", f"{LINE}\n")
    assert (first.problem, second.problem) == (CUT_SHORT, None)


def test_a_name_with_a_line_break_is_put_together_within_cri_too():
    first, last = LINE.split("ledger")
    entry = only(f"{ISO} stdout F {first}a\n", f"{ISO} stdout F b{last}\n")
    assert entry.statement.request.resource_name == "a\nb"


@pytest.mark.parametrize("tail", ["", PLAIN.partition("ledger")[2]])
def test_a_name_with_a_line_break_behind_a_pod_s_name_is_not_guessed(tail):
    first, last = LINE.split("ledger")
    (entry,) = entries(f"kafka-0 kafka {first}a{tail}\n", f"kafka-0 kafka b{last}\n")
    assert (entry.statement, entry.is_ambiguous) == (None, True)


NOT_READ = {
    "time without a date": (f"10:00:00,259 INFO {RULE}", "its time has no date"),
    "syslog without a year": (f"Nov 20 10:00:00 broker kafka: INFO {RULE}", "its time has no date"),
    "another form behind a viewer's": (
        f"2026-11-20 13:00:00 kafka-1 | [20/Nov/2026:10:00:00 +0000] {RULE}",
        "its time has no date",
    ),
    "a viewer's time alone": (f"2026-11-20 13:00:00 kafka-1 | INFO {RULE}", "--timestamps"),
    "no time": (f"kafka-1 | INFO {RULE}", "found no date and time before"),
    "JSON without a time": (json_line(message=PLAIN), "JSON without a time"),
    "JSON on several lines": (f'  {{"@timestamp": "{ISO}", "message": "{PLAIN}",', "one object"),
    "a list in JSON": (json_line(time=ISO, records=[{"message": PLAIN}]), "in a list in JSON"),
    "logfmt": (f'time={ISO} level=info msg="{PLAIN}"', "in quotation marks"),
    "CSV": (f'"{ISO}","{PLAIN}"', "in quotation marks"),
    "colours of grep": (
        LINE.replace("Principal = User", "\x1b[1;31m\x1b[KPrincipal = \x1b[m\x1b[KUser"),
        "--color=never",
    ),
    "another zone": (f"2026-11-20 11:00:00,259 CET INFO {RULE}", "pass --log-timezone"),
    "Kafka up to 2.3": (
        f"[2026-11-20 10:00:00,259] INFO {OLD.partition(' for request')[0]} (kafka.authorizer)",
        "Kafka up to 2.3",
    ),
    "UTF-16": (LINE.encode("utf-16"), "found UTF-16"),
}  # fmt: skip


@pytest.mark.parametrize("layout", NOT_READ)
def test_a_layout_that_cannot_be_read_is_named_with_what_to_do(layout):
    line, problem = NOT_READ[layout]
    entry = entries(line)[0]
    assert entry.statement is None
    assert not entry.is_ambiguous
    assert entry.problem.startswith(LAYOUT_NOT_READ)
    assert problem in entry.problem


def test_the_short_name_of_the_log_s_own_zone_may_follow_a_time():
    line = f"2026-11-20 11:00:00,259 CET INFO {RULE}"
    assert only(line, zone="Europe/Berlin").span == (TIME, TIME)


def test_a_line_whose_time_cannot_be_read_never_ends_the_one_before():
    found = entries(f"{LINE}\n", f"{NOT_READ['another zone'][0]}\n", f"{LINE}\n")
    assert [each.statement is None for each in found] == [False, True, False]


@pytest.mark.parametrize("other", ["kafka-1 | [2026-11-20 10:00:01,000] INFO x", "db-1 | started"])
def test_other_lines_behind_a_line_with_a_service_in_front_leave_it_as_it_is(other):
    found = entries(f"kafka-1 | {LINE}\n", *[f"{other}\n"] * 40, f"kafka-1 | {LINE}\n")
    assert [each.position for each in found if each.statement] == [1, 42]


@pytest.mark.parametrize("before", [f"{ISO} stdout F INFO ", f"{ISO} stdout F "])
def test_lines_that_have_the_time_of_a_container_only_are_an_entry_each(before):
    found = entries(f"{before}{RULE}\n", f"{before}{RULE}\n", f"{before}{RULE}\n")
    assert [each.problem for each in found] == [None, None, None]


def test_strings_of_json_that_say_different_things_are_not_guessed():
    other = PLAIN.replace("clerk", "eve")
    entry = only(json_line(time=ISO, message=PLAIN, client=other))
    assert (entry.statement, entry.is_ambiguous) == (None, True)


def test_of_several_times_beside_a_message_each_may_be_meant():
    entry = only(json_line(**{"@timestamp": "2026-11-20T10:00:05.259Z", "ts": ISO, "m": PLAIN}))
    assert entry.span == (TIME, TIME + 5_000_000)


def test_the_wording_of_zookeeper_s_authorizer_is_read_and_names_no_rule():
    entry = only(f"[2026-11-20 10:00:00,259] INFO {OLD} (kafka.authorizer.logger)")
    assert entry.span == (TIME, TIME)
    assert entry.statement.request == only(LINE).statement.request
    assert (entry.statement.rule, entry.statement.rule_text) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "operation = Read on resource = Topic:LITERAL:x from host = 10.0.0.1 is Allow based on acl "
        "= User:a has Allow permission for operations: Read from hosts: *",
        "No acl found for resource Topic:LITERAL:x, authorized = false",
        "principal = User:admin is a super user, allowing operation without checking acls.",
    ],
)
def test_what_zookeeper_s_authorizer_says_beside_a_decision_is_no_entry(text):
    assert entries(f"[2026-11-20 10:00:00,259] DEBUG {text} (kafka.authorizer.logger)") == []


@pytest.mark.parametrize("path", sorted(LAYOUTS.glob("*.log")), ids=lambda path: path.stem)
def test_both_lines_of_each_layout_are_read(path):
    found = list(read_entries(path.read_bytes().splitlines(True), Clock(parse_zone("UTC"))))
    assert {each.problem for each in found} == {None}
    assert [each.span[0] - TIME for each in found] == [0, 1_000_000][: len(found)]
    assert [each.statement.decision for each in found][1:] in (["ALLOWED"], [])


def test_a_hostile_line_takes_no_longer_than_its_length():
    lines = (
        "2026-11-20 10:00:00 " * 4_000 + PLAIN,
        "\x1b[1m" * 20_000 + PLAIN,
        '{"a":' * 15_000 + PLAIN + "}" * 15_000,
        json_line(**{f"k{n}": PLAIN for n in range(400)}, time=ISO),
        "Nov 20, 2026 10:00:00 AM " * 3_000,
    )
    for line in lines:
        with within_loops(400):
            entries(line)
