"""Listings and records as desired state: each ACL with its line, and each reason for a refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclkit.kafka.acls.exports import render_records
from aclkit.kafka.acls.text import render_list
from aclkit.kafka.desired.model import Part
from aclkit.questions.preview.desired_forms import LISTING, RECORDS
from tests.factories import acl
from tests.kafka.desired.holding import (
    DESIRED,
    OTHER,
    bindings,
    document,
    document_of,
    problems,
    read,
    right_values,
)

PASTED = Path(__file__).parents[2] / "data" / "pasted-listings"
IDS = ["AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg", "AAAAAAAAAAAAAAAAAAAAAw"]


def records(*lines: tuple[str, dict[str, object]]) -> Part:
    texts = [
        json.dumps({"offset": number, "type": kind, "version": 0, "data": data})
        for number, (kind, data) in enumerate(lines)
    ]
    return read(RECORDS, "".join(f"{text}\n" for text in texts))


def added(number: int, **changed: object) -> tuple[str, dict[str, object]]:
    data = {
        "id": IDS[number],
        "resourceType": 2,
        "resourceName": f"topic-{number}",
        "patternType": 3,
        "principal": "User:a",
        "host": "*",
        "operation": 3,
        "permissionType": 3,
    }
    return "ACCESS_CONTROL_ENTRY_RECORD", data | changed


def removed(number: int) -> tuple[str, dict[str, object]]:
    return "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", {"id": IDS[number]}


@pytest.mark.parametrize("name", ["0-before", "1-after", "2-after"])
def test_a_listing_of_a_broker_holds_the_acls_of_its_table(name):
    folder = DESIRED / "terraform"
    listed = next(folder.glob(f"{name}.kafka-acls-list.txt"))
    found = read(LISTING, document_of(listed).text)
    assert bindings(found) == right_values(folder / f"{name}.tsv")
    assert found.reach == "all"


def test_each_acl_of_a_listing_has_its_line():
    text = "\n".join(render_list([acl("a"), acl("a", operation="WRITE"), acl("b")]))
    assert [str(each.place) for each in read(LISTING, text).acls] == ["file:2", "file:3", "file:6"]


def test_an_acl_that_a_log_line_has_cut_has_the_line_on_which_it_begins():
    head, entry, *_ = render_list([acl("a")])
    log = "[2026-01-01 10:00:00,000] WARN something (kafka.Tool)"
    text = f"{head}\n{entry[:20]}{log}\n{entry[20:]}\n"
    assert [str(each.place) for each in read(LISTING, text).acls] == ["file:2"]


def test_each_acl_of_rpk_has_its_line():
    found = read(LISTING, document_of(OTHER / "rpk.txt").text)
    assert [str(each.place) for each in found.acls] == ["file:2", "file:3"]


@pytest.mark.parametrize("name", ["commented.txt", "eight-spaces.txt", "tabs.txt"])
def test_a_pasted_listing_is_read(name):
    assert len(bindings(read(LISTING, document_of(PASTED / name).text))) == 3


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (PASTED / "kafka-1.0.txt", "the listing of kafka-acls up to Kafka 2.2; use a newer"),
        (PASTED / "wrapped80.txt", "a listing whose lines are wrapped or cut"),
        (PASTED / "add-output.txt", "This is the output of kafka-acls --add or --remove"),
        (PASTED / "of-a-principal.txt", "output of kafka-acls --list --principal"),
        (PASTED / "dump-without-decoder.txt", "pass it as --source dump-log:FILE"),
        (OTHER / "rpk-print-filters.txt", "the output of rpk acl list --print-filters"),
    ],
)
def test_a_text_that_is_no_whole_listing_is_held_and_named(path, words):
    (problem,) = problems(read(LISTING, document_of(path).text))
    assert words in problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("+Current ACLs for resource `ResourcePattern(x)`:\n", "a diff of two listings"),
        (
            "(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n",
            "ACLs without the lines that name their resources",
        ),
        ("  Principal | Permission | Operation\n", "a table of another tool"),
    ],
)
def test_a_piece_of_a_listing_is_named(text, words):
    (problem,) = problems(read(LISTING, text))
    assert words in problem


def test_every_line_of_a_listing_that_cannot_be_used_is_a_problem():
    head, entry, *_ = render_list([acl("a")])
    text = f"{head}\n{entry}\n{entry.replace('READ', 'REED')}\n{entry.replace('ALLOW', 'ALLOV')}\n"
    assert problems(read(LISTING, text)) == [
        "file:3: Unknown operation 'REED'",
        "file:4: Unknown permission type 'ALLOV'",
    ]


def test_a_row_of_rpk_that_is_out_of_place_is_a_problem_with_its_line():
    text = document_of(OTHER / "rpk.txt").text.replace("User:ann   *", "User:ann    *", 1)
    (problem,) = problems(read(LISTING, text))
    assert problem.startswith("file:2: Expected Kafka's words in type, pattern type")


def test_an_unknown_operation_in_a_listing_says_that_the_acl_is_unknown():
    text = "\n".join(render_list([acl("a", operation="UNKNOWN")]))
    (problem,) = problems(read(LISTING, text))
    assert problem.startswith("file:2: The operation is UNKNOWN, so it is unknown which ACL")


def test_a_code_that_no_version_knows_stays_as_it_is():
    text = "\n".join(render_list([acl("a", operation="UNKNOWN(99)"), acl("b", principal="ann")]))
    assert {each.acl.operation for each in read(LISTING, text).acls} == {"UNKNOWN(99)", "READ"}


def test_records_are_replayed_from_an_empty_cluster():
    found = records(added(0), added(1), removed(0), added(2, operation=99))
    assert [each.acl.resource_name for each in found.acls] == ["topic-1", "topic-2"]
    assert [str(each.place) for each in found.acls] == ["file:2", "file:4"]
    assert found.reach == "asked"
    assert not found.problems


def test_an_acl_of_records_has_no_id_and_the_line_on_which_it_was_added_last():
    (found,) = records(added(0), removed(0), added(0)).acls
    assert (found.acl.acl_id, found.place.line) == ("", 3)


def test_lines_without_offsets_are_counted():
    text = "\n\n" + "\n".join(
        json.dumps({"type": kind, "version": 0, "data": data})
        for kind, data in (added(0), added(1))
    )
    assert [each.place.line for each in read(RECORDS, text).acls] == [3, 4]


def test_an_aborted_transaction_adds_nothing_and_is_told():
    found = records(
        added(0),
        ("BEGIN_TRANSACTION_RECORD", {"name": "x"}),
        added(1),
        ("ABORT_TRANSACTION_RECORD", {"reason": "y"}),
    )
    assert [each.acl.resource_name for each in found.acls] == ["topic-0"]
    assert found.notes == ("file: Offset 2 has no effect: its transaction is aborted.",)


def test_a_removal_of_what_no_record_adds_has_no_effect_and_that_is_said():
    part = records(added(0), removed(1))
    assert (len(part.acls), len(part.problems)) == (1, 0)
    assert "removes an ACL that does not exist" in part.notes[0]


def test_every_line_of_records_that_cannot_be_used_is_a_problem():
    good = json.dumps({"type": added(0)[0], "version": 0, "data": added(0)[1]})
    text = f"{good}\nnonsense\n{good.replace('topic-0', 'x')[:80]}\n"
    assert [each.partition(": ")[0] for each in problems(read(RECORDS, text))] == [
        "file:2",
        "file:3",
    ]


def test_what_acls_are_exported_as_is_read_back():
    acls = [acl("a", acl_id=IDS[0]), acl("b\n\u2028", acl_id=IDS[1], operation="UNKNOWN(77)")]
    text = "".join(f"{line}\n" for line in render_records(acls, {}))
    assert bindings(read(RECORDS, text)) == {each.binding for each in acls}


def test_a_code_of_filters_is_refused_in_records_too():
    (problem,) = problems(records(added(0, operation=1)))
    assert problem.startswith("file:1: The operation is ANY, so it is unknown which ACL this is.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "apiVersion: v1\nkind: Secret\n",
        '{"format_version": "1.2", "resource_changes": []}\n',
        "principal,host\n",
        "[2026-01-01 10:00:00,000] WARN something (kafka.Tool)\n",
    ],
)
def test_other_texts_are_held_by_neither(text):
    assert not LISTING.holds(document(text))
    assert not RECORDS.holds(document(text))
