"""What ``export acls`` writes is read back: the same ACLs, or the form says which it left out."""

from __future__ import annotations

import io
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aclkit.cli.acls import COLUMNS
from aclkit.cli.output import write_rows
from aclkit.kafka.acls.exports import render_kafka_users, render_records, render_terraform
from aclkit.kafka.acls.script import render_bulk, render_script
from aclkit.kafka.desired.documents import read_documents
from aclkit.kafka.desired.formats import Format
from aclkit.model.acl import Acl
from tests.factories import acl
from tests.kafka.desired.holding import bindings, document

Rendered = tuple[str, Sequence[Acl]]


def as_csv(acls: Iterable[Acl]) -> Rendered:
    file = io.StringIO(newline="")
    write_rows(COLUMNS, sorted((*each.binding, each.acl_id) for each in acls), "csv", file)
    return file.getvalue(), ()


def as_records(acls: Iterable[Acl]) -> Rendered:
    with_ids = (replace(each, acl_id=kafka_id(number)) for number, each in enumerate(acls))
    return "".join(f"{line}\n" for line in render_records(with_ids, {})), ()


def kafka_id(number: int) -> str:
    """An id as Kafka writes it."""
    return urlsafe_b64encode(number.to_bytes(16, "big")).decode().rstrip("=")


def as_lines(
    render: Callable[[Iterable[Acl]], tuple[list[str], list[Acl]]], acls: Iterable[Acl]
) -> Rendered:
    lines, unsaid = render(acls)
    return "".join(f"{line}\n" for line in lines), unsaid


@dataclass(frozen=True, slots=True)
class Form:
    """A form of ``export acls``.

    Attributes:
        name: the value of its option.
        render: writes ACLs, and returns those that it left out.
        module: where its reader is.
        reader: the name of its format there.
        formats: the name of the formats there.
        says_what_it_lacks: its reader has a note on what the form cannot express.
    """

    name: str
    render: Callable[[Iterable[Acl]], Rendered]
    module: str
    reader: str
    formats: str = "FORMATS"
    says_what_it_lacks: bool = False

    @property
    def format(self) -> Format:
        """Its reader; a test whose reader does not exist yet is skipped."""
        found = getattr(pytest.importorskip(self.module), self.formats)
        return next(each for each in found if each.name == self.reader)


_ROOM = "aclkit.kafka.desired"
FORMS = (
    Form("csv", as_csv, f"{_ROOM}.csv_text", "csv"),
    Form(
        "kafka-acls",
        partial(as_lines, render_script),
        f"{_ROOM}.scripts",
        "kafka-acls",
        says_what_it_lacks=True,
    ),
    Form(
        "kafka-bulk",
        partial(as_lines, render_bulk),
        f"{_ROOM}.scripts",
        "kafka-bulk",
        says_what_it_lacks=True,
    ),
    Form("records", as_records, "aclkit.questions.preview.desired_forms", "records", "ALL_FORMATS"),
    Form("strimzi", partial(as_lines, render_kafka_users), f"{_ROOM}.kafka_user", "strimzi"),
    Form(
        "terraform",
        partial(as_lines, render_terraform),
        f"{_ROOM}.hcl",
        "terraform-hcl",
        says_what_it_lacks=True,
    ),
)
by_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)

NAMES = (
    # quotes, separators and escapes of shells, CSV, YAML, HCL and JSON
    "two words", " blank before", "blank after ", "a  b", "it's", 'say "no"', '"', "'", '""', "''",
    "a,b", "a;b", "a\tb", "a|b", "\\", "a\\", "\\n", "\\\"", "a\\u0041", "a`id`b", "a&&b", "a>b<c",
    "(a)", "[a]", "{a,b}", "~root", "!x", "a?", "a=b", "a: b", "a%20b+c", "%", "%25", "a/../b",
    # what is replaced
    "$HOME", "${HOME}", "${var.x}", "$${x}", "%{if true}", "%%{x}", "$(id)", "$((1))", "$'a'",
    "{{ x }}", "&a", "*a", "<<EOF", "ACLS", "JAVA", "EOF",
    # words, options and comments
    "-dash", "--force", "--add", "# no comment", "#", "*", "null", "no", "007", "1e3", "~", "---",
    "kafka-cluster", "resource_name", "=1+1",
    # what does not show, and what acts on a terminal
    "line\nend", "end\n", "\nbegin", "a\n\nb\n\n", "a\rb", "a\r\nb", "\x01", "a\x00b", "a\x1b[2Jb",
    "a\x15b", "a\x7fb", "a\x85b", "a\u2028b", "a\u00a0b", "\ufeffa", "a\u200bb", "a\u202eb",
    "\u200f\u05d0", "e\u0301", "\u00e9", "\U0001f511", "\U000e0041", "\uffff", "\U0010ffff",
    "a" * 32_000,
)  # fmt: skip


def acls_of(name: str) -> list[Acl]:
    """ACLs with a name in each place that takes any text."""
    return [
        acl(name),
        acl(name, resource_type="GROUP", pattern_type="PREFIXED", operation="ALL"),
        acl(name, resource_type="TRANSACTIONAL_ID", permission_type="DENY", operation="WRITE"),
        acl("t", principal=f"User:{name}"),
        acl("t", principal=f"User:CN={name}", operation="DESCRIBE_CONFIGS"),
        acl("t", host=name, operation="ALTER_CONFIGS"),
    ]


def check_round_trip(form: Form, acls: Sequence[Acl]) -> None:
    """Insist that a form has the same ACLs without those that it left out."""
    text, unsaid = form.render(acls)
    part = form.format.read(document(text))
    left_out = {each.binding for each in unsaid}
    expected = {each.binding for each in acls} - left_out
    assert (part.form, dict(part.unread)) == (form.reader, {})
    assert bindings(part) == expected


def test_sixty_names_are_tried():
    assert len(NAMES) >= 60
    assert len(set(NAMES)) == len(NAMES)


@by_form
@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_acls_with_a_hostile_name_are_read_back(form: Form, name: str):
    text, _ = form.render(acls_of(name))
    assert form.format.holds(document(text))
    check_round_trip(form, acls_of(name))


@by_form
def test_a_file_with_all_hostile_names_is_read_back(form: Form, tmp_path):
    acls = [each for name in NAMES for each in acls_of(name)]
    text, unsaid = form.render(acls)
    path = tmp_path / "acls"
    path.write_bytes(text.encode())
    ((file, _),) = read_documents([str(path)], lambda name: Path(name).read_bytes())
    left_out = {each.binding for each in unsaid}
    assert form.format.holds(file)
    assert bindings(form.format.read(file)) == {each.binding for each in acls} - left_out


@by_form
def test_what_a_form_leaves_out_is_a_comment_each(form: Form):
    acls = [each for name in NAMES for each in acls_of(name)]
    text, unsaid = form.render(acls)
    comments = [line for line in text.split("\n") if line.startswith("# ")]
    assert sum(" cannot write " in line for line in comments) == len(unsaid)


@by_form
def test_what_was_left_out_is_in_a_note(form: Form):
    acls = [acl("a"), acl("b", pattern_type="GLOB"), acl("c", operation="UNKNOWN(99)")]
    text, unsaid = form.render(acls)
    found = form.format.read(document(text))
    if form.says_what_it_lacks:
        assert len(unsaid) == 2
        assert any("2 ACLs" in note for note in found.notes)


@by_form
def test_an_export_is_of_one_form_only(form: Form):
    text, _ = form.render([acl("a", principal="User:a"), acl("b,c", principal="User:b")])
    holders = [each.name for each in FORMS if each.format.holds(document(text))]
    # A script of the bulk form is one of kafka-acls too, if it is not asked first.
    assert [name for name in holders if name != "kafka-acls" or form.name == name] == [form.name]


@by_form
@settings(deadline=None, max_examples=60)
@given(name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_acls_with_any_name_are_read_back(form: Form, name: str):
    check_round_trip(form, acls_of(name))
