"""CSV with an ACL a row: whose CSV it is, what a row is, and every reason why it is refused."""

from __future__ import annotations

import resource
import time
from datetime import UTC, datetime

import pytest

from aclkit.answer.rows import render_csv
from aclkit.cli.acls import COLUMNS
from aclkit.kafka.desired.csv_text import CSV
from aclkit.kafka.desired.model import Part
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

MANAGER = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
KAFBAT = "Principal,ResourceType, PatternType, ResourceName,Operation,PermissionType,Host\n"
OWN = "resource_type,resource_name,pattern_type,principal,host,operation,permission_type,acl_id\n"
ANN = ("TOPIC", "foo", "LITERAL", "User:ann", "*", "READ", "ALLOW")


def of(text: str) -> Part:
    return read(CSV, text)


@pytest.mark.parametrize("name", ["ksm.csv", "kafbat.csv", "kafbat-no-header.csv"])
def test_a_csv_of_another_tool_holds_the_acls_of_its_table(name):
    found = read(CSV, document_of(DESIRED / "by-hand" / name).text)
    assert bindings(found) == right_values(DESIRED / "by-hand" / "acls.tsv")
    assert found.reach == "asked"


def test_without_pattern_type_each_name_of_kafka_security_manager_is_literal():
    found = CSV.read(document_of(DESIRED / "by-hand" / "ksm-no-pattern-type.csv"))
    right = right_values(DESIRED / "by-hand" / "acls.tsv")
    assert bindings(found) == {acl for acl in right if acl[2] == "LITERAL"}
    assert found.notes == [
        "ksm-no-pattern-type.csv has no column PatternType, so each of its names is LITERAL."
    ]


@pytest.mark.parametrize(("name", "number"), [("ksm.csv", 3), ("kafka-ui.csv", 1)])
def test_real_files_of_other_tools_are_held_and_read(name, number):
    assert len(bindings(read(CSV, document_of(OTHER / name).text))) == number


def test_what_acls_are_exported_as_is_read():
    rows = [(*acl("a,b").binding, "id"), (*acl('say "x"\r\ny').binding, None)]
    found = of("".join(render_csv(COLUMNS, rows)))
    assert bindings(found) == {row[:-1] for row in rows}


def test_each_acl_has_the_line_on_which_its_row_begins():
    text = (
        MANAGER
        + 'User:ann,Topic,LITERAL,"a\nb",Read,Allow,*\n\nUser:ann,Topic,LITERAL,c,Read,Allow,*\n'
    )
    assert [str(each.place) for each in of(text).acls] == ["file:2", "file:5"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", [MANAGER, KAFBAT, OWN])
def test_fields_are_separated_as_the_header_is(header, separator):
    words = {"Principal": "User:ann", "ResourceType": "TOPIC", "PatternType": "LITERAL"}
    words |= {"ResourceName": "foo", "Operation": "READ", "PermissionType": "ALLOW", "Host": "*"}
    words |= dict(zip(COLUMNS, (*ANN, "id"), strict=True))
    words |= {"KafkaPrincipal": "User:ann"}
    names = [name.strip() for name in header.strip().split(",")]
    row = [words[name] for name in names]
    if header == MANAGER:
        row = [word.capitalize() if word in ("TOPIC", "READ", "ALLOW") else word for word in row]
    text = f"{separator.join(names)}\n{separator.join(row)}\n"
    assert bindings(of(text)) == {ANN}


def test_crlf_ends_no_name():
    assert bindings(
        of((KAFBAT + "User:ann,TOPIC,LITERAL,foo,READ,ALLOW,*\n").replace("\n", "\r\n"))
    ) == {ANN}


def test_a_missing_line_end_at_the_end_is_none_that_counts():
    assert bindings(of(KAFBAT + "User:ann,TOPIC,LITERAL,foo,READ,ALLOW,*")) == {ANN}


def test_columns_stand_in_any_order_and_known_others_are_passed_over():
    text = "line,host,acl_id,permission_type,operation,principal,pattern_type,resource_name,"
    text += "resource_type,file,address\n9,*,x,ALLOW,READ,User:ann,LITERAL,foo,TOPIC,a.yaml,k.a\n"
    found = of(text)
    assert bindings(found) == {ANN}
    assert found.notes == []


def test_a_column_that_is_like_none_is_passed_over_with_a_note():
    found = of(MANAGER.strip() + ",Jira\nUser:ann,Topic,LITERAL,foo,Read,Allow,*,OPS-1\n")
    assert bindings(found) == {ANN}
    assert found.notes == ["file: columns not read: 'Jira'."]


def test_a_column_that_is_like_a_known_one_is_refused():
    text = MANAGER.replace("Host", "Hots") + "User:ann,Topic,LITERAL,foo,Read,Allow,*\n"
    assert problems(of(text)) == [
        "file:1: The column 'Hots' is unknown to kafka-security-manager. Did you mean Host?",
        "file:1: The column Host of kafka-security-manager is missing. Add it",
    ]


def test_a_pattern_type_of_another_name_is_no_missing_one():
    text = MANAGER.replace("PatternType", "Kind") + "User:ann,Topic,PREFIXED,foo,Read,Allow,*\n"
    assert problems(of(text)) == [
        "file:1: The column 'Kind' is unknown to kafka-security-manager. Valid: KafkaPrincipal, "
        "ResourceType, PatternType, ResourceName, Operation, PermissionType, Host"
    ]


def test_kafka_security_manager_does_not_trim_its_header():
    text = MANAGER.replace("PatternType", " PatternType")
    assert problems(of(text + "User:ann,Topic,PREFIXED,foo,Read,Allow,*\n")) == [
        "file:1: The column ' PatternType' is unknown to kafka-security-manager. "
        "Did you mean PatternType?"
    ]


def test_a_column_that_may_revoke_a_row_is_refused():
    text = MANAGER.strip() + ",Action\nUser:ann,Topic,LITERAL,foo,Read,Allow,*,delete\n"
    assert problems(of(text)) == [
        "file:1: The column 'Action' may mean that the ACL of a row does not exist. Remove the "
        "column, and the rows whose ACL shall not exist"
    ]


def test_a_column_that_stands_twice_is_refused():
    assert problems(of(MANAGER.strip() + ",Host\n")) == [
        "file:1: The column Host stands twice. Remove one"
    ]


def test_a_missing_column_is_named():
    assert problems(
        of(KAFBAT.replace(",Host", "") + "User:ann,TOPIC,LITERAL,foo,READ,ALLOW\n")
    ) == ["file:1: The column Host of Kafbat is missing. Add it"]


def test_a_text_without_known_columns_is_not_held_and_refused_if_it_must_be_read():
    text = "user,thing\nann,password\n"
    assert not CSV.holds(document(text))
    (problem,) = problems(CSV.read(document(text)))
    assert problem.startswith("file:1: The header has none of the known columns. Write KafkaPrin")
    assert "thing" not in problem


@pytest.mark.parametrize(
    ("row", "number"),
    [("User:ann,Topic,LITERAL,foo,Read,Allow", 6), ("User:a,b,Topic,LITERAL,foo,Read,Allow,*", 8)],
)
def test_a_row_with_too_few_or_many_fields_is_refused(row, number):
    assert problems(of(f"{MANAGER}{row}\n")) == [
        f"file:2: Expected 7 fields, found {number}. A field with a separator in it must be in "
        "quotes"
    ]


def test_a_row_of_empty_fields_is_refused_once():
    assert problems(of(f"{MANAGER},,,,,,\n")) == ["file:2: All fields are empty. Remove the line"]


def test_a_header_among_the_rows_is_refused():
    text = f"{MANAGER}User:ann,Topic,LITERAL,foo,Read,Allow,*\n{MANAGER}"
    assert problems(of(text)) == ["file:3: The header stands here again. Remove the line"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            MANAGER + "User:ann,TOPIC,LITERAL,foo,Read,Allow,*\n",
            "ResourceType 'TOPIC' is unknown. Did you mean Topic?",
        ),
        (
            MANAGER + "User:ann,Topic,Prefixed,foo,Read,Allow,*\n",
            "PatternType 'Prefixed' is unknown. Did you mean PREFIXED?",
        ),
        (
            KAFBAT + "User:ann,TOPIC,LITERAL,foo,DescribeConfigs,ALLOW,*\n",
            "Operation 'DescribeConfigs' is unknown. Did you mean DESCRIBE_CONFIGS?",
        ),
        (
            KAFBAT + "User:ann,TOPIC,LITERAL,foo,READ,allow,*\n",
            "PermissionType 'allow' is unknown. Did you mean ALLOW?",
        ),
        (
            KAFBAT + "ann,TOPIC,LITERAL,foo,READ,ALLOW,*\n",
            "Principal 'ann' has no type. Write User:ann",
        ),
        (
            KAFBAT + "User:ann,TOPIC,LITERAL, ,READ,ALLOW,*\n",
            "ResourceName is empty. Write a value",
        ),
    ],
)
def test_a_word_of_the_wrong_case_or_an_empty_field_is_refused(text, problem):
    assert problems(of(text)) == [f"file:2: {problem}"]


@pytest.mark.parametrize("word", ["ANY", "MATCH", "UNKNOWN"])
def test_a_word_of_filters_is_refused(word):
    (problem,) = problems(of(f"{KAFBAT}User:ann,TOPIC,{word},foo,READ,ALLOW,*\n"))
    assert problem.startswith(f"file:2: PatternType '{word}' exists in filters only.")


def test_all_that_is_wrong_is_told_at_once():
    text = f"{MANAGER}ann,topic,LITERAL,foo,Read,Allow,*\nUser:b,Topic,LITERAL,foo,Reed,Allow\n"
    assert [each.partition(" ")[0] for each in problems(of(text))] == [
        "file:2:",
        "file:2:",
        "file:3:",
    ]


def test_kafbat_trims_fields_and_the_others_do_not():
    row = " User:ann ,TOPIC, LITERAL, foo ,READ,ALLOW,*\n"
    assert bindings(of(KAFBAT + row)) == {ANN}
    text = f"{MANAGER} User:ann,Topic,LITERAL, foo ,Read,Allow,*\n"
    assert [each.acl.resource_name for each in of(text).acls] == [" foo "]
    text = f"{OWN}TOPIC, foo,LITERAL,User:ann,*,READ,ALLOW,\n"
    assert [each.acl.resource_name for each in of(text).acls] == [" foo"]


def test_kafbat_ignores_the_case_and_the_blanks_of_its_header():
    assert bindings(of(KAFBAT.upper() + "User:ann,TOPIC,LITERAL,foo,READ,ALLOW,*\n")) == {ANN}


def test_quotes_in_a_file_of_kafbat_are_told():
    found = of(KAFBAT + '"User:CN=a,O=b",TOPIC,LITERAL,foo,READ,ALLOW,*\n')
    assert [each.acl.principal for each in found.acls] == ["User:CN=a,O=b"]
    assert found.notes == [
        "file: 1 row with a field in quotes. Kafbat takes such quotes for letters."
    ]


def test_a_quote_within_a_field_is_a_letter():
    (found,) = of(MANAGER + 'User:ann,Topic,LITERAL,a"b,Read,Allow,*\n').acls
    assert found.acl.resource_name == 'a"b'


def test_comments_and_blank_lines_are_passed_over():
    row = "User:ann,Topic,LITERAL,foo,Read,Allow,*\n"
    text = f"# ours\n\n{MANAGER}# {row}  \n{row}"
    found = of(text)
    assert bindings(found) == {ANN}
    assert found.notes == ["file: 2 lines with # passed over; kafka-security-manager would not."]


def test_a_principal_in_quotes_that_begins_with_a_hash_is_no_comment():
    (found,) = of(MANAGER + '"#Team:a",Topic,LITERAL,foo,Read,Allow,*\n').acls
    assert found.acl.principal == "#Team:a"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ('"foo', "A field that begins with a quote does not end."),
        ('"foo"x', "Text follows the closing quote of a field."),
        ("fo\ro", "A carriage return stands within the line."),
        ('"' + "x" * 140_000, "A field is longer than 131,072 characters."),
    ],
)
def test_quotes_and_line_ends_that_are_wrong_are_refused_with_their_line(name, fault):
    text = f"{MANAGER}User:ann,Topic,LITERAL,{name},Read,Allow,*\n"
    assert problems(of(text))[0].startswith(f"file:2: {fault}")


def test_bytes_that_are_not_utf_8_are_refused():
    assert problems(of(MANAGER + "User:ann,Topic,LITERAL,\udce4,Read,Allow,*\n")) == [
        "file:2: ResourceName has bytes that are not UTF-8. Write the file as UTF-8"
    ]


@pytest.mark.parametrize("break_of", ["READ", "LITERAL", "TOPIC", "ALLOW"])
def test_without_a_header_a_row_with_one_wrong_word_is_still_held(break_of):
    text = "User:ann,TOPIC,LITERAL,foo,READ,ALLOW,*\n".replace(break_of, "Wrong")
    (problem,) = problems(of(text))
    assert problem.startswith("file:1: ")
    assert "'Wrong' is unknown" in problem


def test_without_a_header_the_words_are_those_of_kafbat():
    assert problems(of("User:ann,Topic,LITERAL,foo,READ,ALLOW,*\n")) == [
        "file:1: ResourceType 'Topic' is unknown. Did you mean TOPIC?"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "a,b,c\n1,2,3\n",
        "principal: a, host: b, operation: c\n",
        '{"resourceType":2,"principal":"User:a","host":"*"}\n',
        "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=a, patternType=L)`:\n",
        "PRINCIPAL  HOST  RESOURCE-TYPE  RESOURCE-NAME  RESOURCE-PATTERN-TYPE  OPERATION\n",
        "User:ann,on,the,road,again,and,again\n",
    ],
)
def test_other_texts_are_not_held(text):
    assert not CSV.holds(document(text))


@pytest.mark.slow
def test_twenty_megabytes_take_seconds_and_a_few_hundred_megabytes():
    row = "User:svc-{},Topic,PREFIXED,team-{}.orders.of.the.year.v{},Read,Allow,*\n"
    text = MANAGER + "".join(row.format(n % 900, n % 7_000, n) for n in range(290_000))
    assert len(text) > 20_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = of(text)
    assert len(found.acls) == 290_000
    assert time.process_time() - start < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700_000


def test_a_quote_that_never_ends_costs_no_more_than_its_text():
    text = MANAGER + 'User:ann,Topic,LITERAL,"foo,Read,Allow,*\n' * 100_000
    start = time.process_time()
    assert of(text).problems
    assert time.process_time() - start < 20


@pytest.mark.parametrize("header", [MANAGER, KAFBAT])
def test_a_column_until_is_the_end_of_each_row_that_has_one(header):
    words = "Topic,LITERAL,foo,Read,Allow" if header is MANAGER else "TOPIC,LITERAL,foo,READ,ALLOW"
    ends = {"ann": "2026-12-31", "bob": "", "eve": " 2026-12-31T18:00:00+01:00"}
    rows = [f"User:{name},{words},*,{until}\n" for name, until in ends.items()]
    found = of(f"{header[:-1]},Until\n{''.join(rows)}")
    assert not found.problems
    assert [each.until for each in found.acls] == [
        datetime(2027, 1, 1, tzinfo=UTC), None, datetime(2026, 12, 31, 17, tzinfo=UTC)
    ]  # fmt: skip


def test_an_end_that_is_none_is_refused_on_its_line():
    row = "User:ann,Topic,LITERAL,foo,Read,Allow,*"
    found = of(f"{MANAGER[:-1]},until\n{row},2026-12-31\n{row},soon\n")
    (problem,) = found.problems
    assert problem.place.line == 3
    assert problem.text.startswith("until: expected a day such as 2026-12-31")


def test_a_second_column_until_is_refused():
    (problem,) = of(f"{MANAGER[:-1]},until,Until\n").problems
    assert "The column until stands twice" in problem.text
