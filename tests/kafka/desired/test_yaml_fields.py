"""YAML keeps its texts, tells line and reason of what is wrong, and no file costs too much."""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest
import yaml

from aclkit.kafka.desired.model import Document
from aclkit.kafka.desired.yaml_fields import Fields
from aclkit.runtime import yaml_nodes
from aclkit.runtime.yaml_nodes import Mapping, Scalar, Sequence
from tests.kafka.desired.yaml_files import text_of


def read(text):
    fields = Fields(Document("f.yaml", text))
    nodes = list(fields.nodes())
    problems = [(problem.place.line, problem.text) for problem in fields.problems]
    return nodes, problems, fields.notes


def value_of(node):
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [value_of(item) for item in node.items]
    return {key.text: value_of(value) for key, value in node.pairs}


def sound(text):
    nodes, problems, _ = read(text)
    assert not problems
    return nodes


def problem(text):
    _, problems, _ = read(text)
    (only,) = problems
    return only


@pytest.fixture(params=["fast", "pure"])
def parser(request, monkeypatch):
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)


@pytest.mark.usefixtures("parser")
def test_documents_come_in_order_and_an_empty_one_is_null():
    first, second, third = sound("a: 1\n---\n---\n- b\n")
    assert value_of(first) == {"a": "1"}
    assert second.kind == "null"
    assert value_of(third) == ["b"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((word, "boolean") for word in ("yes", "No", "ON", "off", "true", "False", "y", "N")),
        *((word, "null") for word in ("~", "null", "Null")),
        *(
            (word, "number")
            for word in ("7", "007", "0x1F", "0o7", "1_000", "1.5", ".5", "1e3", "-3", "+1", "1:30")
        ),
        *((word, "number") for word in (".inf", "-.INF", ".nan", "1.", "0b1", "1:2:3:4:5:6:7:8")),
        *((word, "text") for word in ("10.0.0.1", "10.0.0.0/8", "::1", "a", "yess", "1a", "-")),
        *((word, "text") for word in ("2026-01-01", "*a", "1.2.3", "orders", "e3", "_", "1-2")),
    ],
)
def test_a_plain_scalar_keeps_its_letters_and_has_the_kind_that_yaml_gives_it(text, kind):
    scalar = Scalar(text, 1, is_plain=True)
    assert scalar.kind == kind
    assert Scalar(text, 1).kind == "text"


@pytest.mark.usefixtures("parser")
def test_a_core_tag_decides_the_kind():
    (node,) = sound("[!!str 7, !!int '7', !!bool 'x', ! no, !!null '']")
    assert [item.kind for item in node.items] == ["text", "number", "boolean", "text", "null"]


@pytest.mark.usefixtures("parser")
def test_each_node_knows_its_line():
    (node,) = sound("a:\n  - b\n  - c: d\n")
    assert isinstance(node, Mapping)
    items = node.get("a").items
    assert [item.line for item in items] == [2, 3]
    assert items[1].line_of("c") == 3
    assert items[1].line_of("missing") == 3


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\r"])
def test_only_a_line_feed_ends_a_line(end):
    line, _ = problem(f"a: 'x{end}{end}y'\nb: !other c\n")
    assert line == 2


@pytest.mark.usefixtures("parser")
def test_a_key_twice_is_refused_with_both_lines_and_the_rest_is_read():
    nodes, problems, _ = read("a: 1\nb: 2\na: 3\n---\nc: 4\n")
    assert problems == [
        (3, "The key 'a' occurs twice in one mapping, on lines 1 and 3. Remove one of them")
    ]
    assert len(nodes) == 2


def test_a_key_twice_is_refused_however_it_is_quoted():
    assert problem("a: 1\n'a': 2\n")[0] == 2


@pytest.mark.usefixtures("parser")
def test_an_alias_stands_for_its_anchor():
    (node,) = sound("a: &x [1]\nb: *x\n")
    assert value_of(node) == {"a": ["1"], "b": ["1"]}


@pytest.mark.usefixtures("parser")
def test_a_merge_brings_keys_that_are_missing():
    (node,) = sound("a: &a {x: 1, y: 2}\nb: &b {z: 3}\nc: {<<: [*a, *b], x: 0}\n")
    assert value_of(node)["c"] == {"x": "0", "y": "2", "z": "3"}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text", ["a: *x\nb: &x 1", "a: &x [*x]", "a: &x 1\n---\nb: *x"])
def test_an_alias_before_its_anchor_is_refused(text):
    line, why = problem(text)
    assert line == len(text.splitlines()) if "---" in text else 1
    assert why.startswith("The alias *x has no anchor before it")


def bomb(levels):
    lines = ["a0: &a0 [x]", *(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, levels)
    )]  # fmt: skip
    return "\n".join(lines)


@pytest.mark.usefixtures("parser")
def test_aliases_that_stand_for_too_much_are_refused_at_once():
    before = time.process_time()
    line, why = problem(bomb(12))
    assert line == 6
    assert why == "Aliases stand for more than 100,000 values. Write the values out"
    assert time.process_time() - before < 2


def test_few_aliases_of_a_large_file_are_read():
    text = "- &a {b: c}\n" + "- *a\n" * 20_000
    (node,) = sound(text)
    assert len(node.items) == 20_001


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text", ["!secret a", "!!python/object:os.system x", "!!set {a}", "!x [a]", "!!map [a]"]
)
def test_a_tag_that_is_no_core_one_is_refused(text):
    line, why = problem(f"a: b\n---\n{text}")
    assert (line, why.endswith("is not read here. Remove it")) == (3, True)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("depth", [101, 1_500])
def test_a_text_that_is_nested_too_deeply_is_refused(depth):
    line, why = problem("a:\n  " + "[" * depth + "]" * depth)
    assert (line, why) == (2, "Nested too deeply: at most 100 levels are read. Flatten it")
    sound("[" * 100 + "]" * 100)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: {{ .Values.name }}\n", 2),
        ("a: 1\n{{- if .Values.on }}\nb: 2\n{{- end }}\n", 2),
        ("# {{ a comment }}\na: 1\n{% for x in y %}\nb: 2\n", 3),
        ("a: 1\n{{ x }}: 2\n", 2),
    ],
)
def test_a_template_that_is_not_rendered_is_refused(text, line):
    assert problem(text) == (line, yaml_nodes.TEMPLATE)


@pytest.mark.usefixtures("parser")
def test_braces_in_a_text_are_marked_and_written_as_escapes_are_not():
    (node,) = sound('é: ü\na: "{{ x }}"\nb: "\\u007b{ x }}"\n')
    assert node.get("a").is_template
    assert not node.get("b").is_template
    assert node.get("b").text == "{{ x }}"


@pytest.mark.usefixtures("parser")
def test_a_tab_is_refused_with_its_line():
    line, why = problem("a:\n  b: 1\n\tc: 2\n")
    assert line == 3
    assert "tab" in why


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text", ["a: b: c", "a: 'x", "a: [1, 2", "- a\nb: c", '"\\UFFFFFFFF"', "%"]
)
def test_what_is_no_yaml_is_refused_with_line_and_reason(text):
    line, why = problem(text)
    assert line >= ("UFFF" not in text)  # of a letter beyond all others a slow parser has no line
    assert why.startswith("Not valid YAML: ")
    assert len(why) < 250


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\x7f", "\ufffe", "\ufeff"])
def test_a_control_character_is_refused_with_its_line(letter):
    line, why = problem(f"a: 1\nb: 'x{letter}y'\n")
    assert line == 2
    assert f"U+{ord(letter):04X}" in why


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text", ["\U0001f511", "a\U0001f511\U0001f511b", "\\ud83d\\udd11", "\\\U0001f511"]
)
def test_json_is_read_as_its_own_parser_reads_it(text):
    (node,) = sound(json.dumps({"a": text, "b": [1, None, "é/\x7f\u2028"]}))
    assert node.get("a").text == text


def test_bytes_that_are_no_utf_8_are_refused_with_their_line():
    assert problem("a: 1\nb: \udcff\n") == (
        2,
        "This line has bytes that are not UTF-8. Write the file as UTF-8",
    )


@pytest.mark.usefixtures("parser")
def test_a_plain_star_before_a_colon_is_a_key_and_strict_parsers_are_named():
    nodes, problems, notes = read("a: 1\n*:\n  b: c\n")
    assert not problems
    assert value_of(nodes[0]) == {"a": "1", "*": {"b": "c"}}
    assert "on line 2." in notes[0]
    assert 'write "*":' in notes[0]


def test_a_star_in_a_text_of_several_lines_is_no_key():
    nodes, problems, notes = read("a: |\n  *: x\nb: 1\n")
    assert (problems, notes) == ([], [])
    assert value_of(nodes[0]) == {"a": "*: x\n", "b": "1"}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{*: 1, b: 2}", {"*": "1", "b": "2"}),
        ("[*: 1]", [{"*": "1"}]),
        ("*:\n", {"*": ""}),
        ("- *: 1\n", [{"*": "1"}]),
        ("*: 1\na: |\n  *: \ue000\n", {"*": "1", "a": "*: \ue000\n"}),
        ("*: 1\na: 'b *: c'\n", {"*": "1", "a": "b *: c"}),
        ('*: 1\na: "b *: \\ue000"\n', {"*": "1", "a": "b *: \ue000"}),
        ("*: 1\n# *: 2\n", {"*": "1"}),
    ],
)
def test_a_star_is_a_key_where_a_key_begins_and_a_letter_elsewhere(text, value):
    nodes, problems, _ = read(text)
    assert (problems, [value_of(node) for node in nodes]) == ([], [value])


def test_a_star_is_an_alias_where_a_name_follows():
    (node,) = sound("a: &x 1\nb: *x\n")
    assert value_of(node) == {"a": "1", "b": "1"}
    assert problem("*: 1\nb: *x\n")[1].startswith("The alias *x has no anchor")


def test_a_plain_star_makes_a_large_file_no_slower_to_read():
    text = "x: 1\n{star}: 2\ny: [" + "aaaaaaaaa, " * 100_000 + "]\n"

    def seconds(star):
        before = time.process_time()
        assert len(sound(text.replace("{star}", star))) == 1
        return time.process_time() - before

    assert seconds("*") < 3 * seconds("'*'") + 1


def test_a_file_of_too_many_values_is_refused(monkeypatch):
    monkeypatch.setattr(yaml_nodes, "MOST_WRITTEN", 10)
    assert sound("[" + "a," * 9 + "]")
    assert "values in one file. Split it" in problem("\n[" + "a," * 10 + "]")[1]


ONE = f"---\n{text_of('strimzi/users.yaml')}"


def test_ten_thousand_documents_take_seconds():
    before = time.process_time()
    assert sum(1 for _ in Fields(Document("f", ONE * 2_500)).nodes()) == 10_000
    assert time.process_time() - before < 20


def test_memory_grows_with_the_text_only():
    def peak(times):
        document = Document("f", ONE * times)
        tracemalloc.start()
        for _ in Fields(document).nodes():
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / len(document.text)

    assert peak(500) < peak(50) + 4
