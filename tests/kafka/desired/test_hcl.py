"""The subset of Terraform's language that ``export acls`` writes; all else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.acls.exports import render_terraform
from aclkit.kafka.desired.hcl import FORMATS, holds_hcl, read_hcl, tokens
from aclkit.kafka.desired.model import Document
from aclkit.model.acl import Acl
from tests.kafka.desired.terraform_files import handed, row
from tests.names import NASTY

FIELD = Path(__file__).parents[2] / "data" / "desired" / "hcl" / "kafka.tf"
FOO = ("TOPIC", "LITERAL", "foo", "User:ann", "*", "READ", "ALLOW")
HOW = "terraform show -json PLAN > plan.json"

ATTRIBUTES = """
  resource_name       = "foo"
  resource_type       = "Topic"
  acl_principal       = "User:ann"
  acl_host            = "*"
  acl_operation       = "Read"
  acl_permission_type = "Allow"
"""


def read(text):
    return read_hcl(Document("k.tf", text))


def acls(text):
    part = read(text)
    assert part.problems == []
    return list(map(row, part.acls))


def block(attributes=ATTRIBUTES, name="a"):
    return f'resource "kafka_acl" "{name}" {{{attributes}}}\n'


def refused(text):
    """Return the only problem of a text that the format holds."""
    bad = Document("k.tf", text)
    assert holds_hcl(bad)
    part = read_hcl(bad)
    assert part.acls == []
    [problem] = part.problems
    assert HOW in problem.text
    return str(problem)


def test_the_handed_file_is_read():
    made = Document("kafka.tf", FIELD.read_text(encoding="utf-8"))
    assert holds_hcl(made)
    part = read_hcl(made)
    assert list(map(row, part.acls)) == [FOO]
    assert (str(part.acls[0].place), part.reach, part.problems) == ("kafka.tf:1", "asked", [])


def test_a_pattern_is_literal_by_default():
    assert acls(block()) == [FOO]


@pytest.mark.parametrize(
    "text",
    [
        block().replace("\n", "\r\n"),
        block().replace("  ", "\t"),
        block().replace(" = ", "="),
        block().replace('"Topic"', '"Topic" # why'),
        block().replace('"Topic"', '"Topic" // why "${x}"'),
        block().replace("  resource_type", "\n  /* } \n */ resource_type"),
        "# a comment { \n" + block(),
        block().replace('"kafka_acl"', "kafka_acl"),
        block(ATTRIBUTES.rstrip()),
        block() + "   ",
        block() + "\t# end",
        'variable "x" { type = object({ a = string }) }\n' + block(),
        'provider "kafka" {\n  bootstrap_servers = ["${var.a["}"]}:9092"]\n}\n' + block(),
        'output "x" {\n  value = <<-END\n  }}} "\n  END\n}\n' + block(),
        'resource "kafka_topic" "t" {\n  count = 3\n  name = "x"\n}\n' + block(),
    ],
)
def test_the_layout_does_not_matter(text):
    assert acls(text) == [FOO]


def test_each_acl_has_the_line_of_its_resource():
    part = read("\n\n" + block() + "# x\n" + block(name="b"))
    assert [each.place.line for each in part.acls] == [3, 12]


def test_an_acl_of_confluent_is_read():
    text = """resource "confluent_kafka_acl" "a" {
  resource_type = "GROUP"
  resource_name = "g"
  pattern_type  = "PREFIXED"
  principal     = "User:sa-1"
  host          = "*"
  operation     = "READ"
  permission    = "DENY"
}"""
    assert acls(text) == [("GROUP", "PREFIXED", "g", "User:sa-1", "*", "READ", "DENY")]


@pytest.mark.parametrize(
    "line",
    [
        "  for_each = local.all",
        "  count = 2",
        '  acl_principal2 = "User:${var.x}"',
        "  depends_on = [kafka_acl.b]",
        "  lifecycle {\n    prevent_destroy = true\n  }",
        '  dynamic "x" {\n    for_each = {}\n  }',
        "  provider = kafka.second",
        '  x = "a" == "b"',
        '  x = upper("a")',
        "  x = <<END\nfoo\nEND",
        '  "x" = "y"',
        '  x = "%{if true}a%{endif}"',
    ],
)
def test_more_than_a_plain_text_is_refused_with_its_line(line):
    problem = refused(block(f"{ATTRIBUTES}{line}\n"))
    assert problem.startswith("k.tf:8: A kafka_acl holds more than plain texts: ")


def test_an_attribute_that_is_no_field_is_refused():
    assert refused(block(f'{ATTRIBUTES}  id = "x"\n')).startswith("k.tf:8: 'id' is not a field")


def test_an_attribute_that_stands_there_twice_is_refused():
    text = block(f'{ATTRIBUTES}  acl_host = "*"\n')
    assert refused(text).startswith("k.tf:8: 'acl_host' is written twice")


def test_a_resource_with_the_name_of_another_is_refused():
    part = read(block() + block())
    assert [problem.place.line for problem in part.problems] == [9]


@pytest.mark.parametrize("head", ['module "m"', "locals"])
def test_a_block_that_can_make_acls_is_refused(head):
    assert refused(f'\n{head} {{\n  source = "./x"\n}}\n').startswith("k.tf:2: A block ")


def test_the_source_of_the_handed_plans_is_refused_at_once():
    part = read_hcl(handed("main.tf"))
    assert [problem.place.line for problem in part.problems] == [14, 25, 36]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('resource "kafka_acl" "a" {\n  acl_host = "x\n', 2),
        ('resource "kafka_acl" "a" {\n  acl_host = "x"\n', 3),
        ('resource "kafka_acl" "a" {\n  acl_host = "\\q"\n}\n', 2),
        ('resource "kafka_acl" "a" {\n}\n/* x', 3),
        ('resource "kafka_acl" "a" {\n}\n}\n', 3),
        ('terraform {\n  x = "${"\n}\n', 2),
    ],
)
def test_a_broken_file_is_refused(text, line):
    found = read(text).problems
    assert any(problem.place.line in (line, line - 1) and HOW in problem.text for problem in found)


def test_a_field_that_is_missing_is_refused_with_the_line_of_its_resource():
    [problem] = read(block(ATTRIBUTES.replace('  acl_host            = "*"\n', ""))).problems
    assert str(problem) == "k.tf:1: acl_host has no value. Write one"


def test_a_word_that_the_provider_does_not_know_is_refused():
    [problem] = read(block(ATTRIBUTES.replace('"Read"', '"READ"'))).problems
    assert str(problem) == "k.tf:1: acl_operation 'READ' is unknown. Did you mean Read?"


def test_a_configuration_in_json_is_refused():
    text = '{"resource": {"kafka_acl": {"a": {"acl_host": "*"}}}}'
    assert "a configuration in JSON" in refused(text)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("$${x}", "${x}"),
        ("%%{x}", "%{x}"),
        ("$x %x $$ %%", "$x %x $$ %%"),
        ("$$${x}", "$${x}"),
        (r"\u0041\U0001f511", "A\U0001f511"),
        (r"\"\\\n\t\r", '"\\\n\t\r'),
        (r"\\u0041", "\\u0041"),
        ("e\u0301", "\u00e9"),
    ],
)
def test_a_text_means_what_terraform_reads(written, value):
    [token] = tokens(f'"{written}"')
    assert (token.kind, token.text) == ("text", value)


@pytest.mark.parametrize("written", [r"\x41", r"\u12", r"\U00110000", r"\'"])
def test_an_unknown_escape_is_broken(written):
    assert [token.kind for token in tokens(f'"{written}"')] == ["broken"]


def test_other_kinds_are_counted():
    text = 'resource "aiven_kafka_acl" "a" {\n  x = "y"\n}\n'
    assert read(text).unread == {"aiven_kafka_acl": 1}


# The way back of the export


def exported(*made):
    lines, left_out = render_terraform(made)
    return read("\n".join(lines) + "\n"), left_out


def acl(number, name, principal="User:ann", **changed):
    fields = {
        "resource_type": "TOPIC",
        "resource_name": name,
        "pattern_type": "LITERAL",
        "principal": principal,
        "host": "*",
        "operation": "READ",
        "permission_type": "ALLOW",
        **changed,
    }
    return Acl(acl_id=f"-{number}", **fields)


def test_hostile_names_come_back_from_the_export():
    made = [acl(at, name, f"User:{name}", host=name) for at, name in enumerate(NASTY)]
    part, left_out = exported(*made)
    assert (part.problems, left_out) == ([], [])
    assert {each.binding for each in part.acls} == {each.binding for each in made}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=5))
def test_any_name_comes_back_as_terraform_would_write_it(names):
    from unicodedata import normalize

    made = [acl(at, name) for at, name in enumerate(dict.fromkeys(names))]
    part, _ = exported(*made)
    assert part.problems == []
    wanted = {normalize("NFC", name) for name in names}
    assert {each.acl.resource_name for each in part.acls} == wanted


def test_what_the_export_cannot_write_is_a_note():
    part, left_out = exported(acl(1, "a"), acl(2, "b", pattern_type="GLOB"))
    assert (len(part.acls), len(left_out)) == (1, 1)
    assert part.notes == ["1 ACL of k.tf in comments only: not read."]


# Recognition


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kind: KafkaUser\n",
        "User:ann\n",
        '{"resource": "x"}',
        "resource_type,name\n",
        "Terraform will perform the following actions:\n",
        'data:\n  main.tf: |\n    resource "kafka_acl" "a" {\n    }\n',
        "#!/bin/sh\nset -e\nterraform apply\n",
        "resource {\n}\n",
    ],
)
def test_other_files_are_not_terraforms(text):
    assert not holds_hcl(Document("x", text))


def test_the_format_is_in_the_registry_entry():
    [form] = FORMATS
    assert (form.name, form.read) == ("terraform-hcl", read_hcl)
