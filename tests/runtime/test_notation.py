"""Rules of notation: JSON and TOML are read strictly, and in time linear in their length."""

from __future__ import annotations

import time
import tomllib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.runtime import notation
from aclkit.runtime.notation import parse_json, parse_toml, parse_yaml

MARKS = {"'''": "'''", '"""': '"""'}


def refused(parse, text):
    with pytest.raises(UsageError) as error:
        parse(text, "f")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "9" * 5_000, "f: not valid TOML: a number does not fit into 64 bits"),
        ("a = [1, {b = 0x" + "f" * 9_000 + "}]", "f: not valid TOML: a number does not fit into"),
        ("a = 9223372036854775808", "f: not valid TOML: a number does not fit into 64 bits"),
        ("a" + ".a" * 50_000 + " = 1", "f: not valid TOML: a key has more than 16 parts"),
        ("[" + '"a" . ' * 50_000 + "a]", "f: not valid TOML: a key has more than 16 parts"),
        ("a = [{" + "b." * 20 + "b = 1}]", "f: not valid TOML: a key has more than 16 parts"),
        ("a = " + "[" * 33 + "]" * 33, "f: not valid TOML: nested too deeply, over 32 levels"),
        ("a = " + "{b=" * 5_000, "f: not valid TOML: nested too deeply, over 32 levels"),
        ("a = 1\na = 2", "f: not valid TOML: Cannot overwrite a value (at "),
        ("a = '\0'", "f: not valid TOML: Found invalid character '\\x00' (at line 1, column 6)"),
        ("a = 1\rb = 2", "f: not valid TOML: "),
    ],
)
def test_toml_that_no_one_can_use_is_refused_in_one_line(text, message):
    told = refused(parse_toml, text)
    assert told.startswith(message)
    assert len(told) < 200


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a = 9223372036854775807", 2**63 - 1),
        ("a = " + "[" * 32 + "]" * 32, eval("[" * 32 + "]" * 32)),
        ("a = " + "[[1], [2.5], " * 16 + "0" + "]" * 16, None),
        ('a = "' + "[{.=" * 100 + '"', "[{.=" * 100),
        ("a = '" + "[{." * 100 + "'", "[{." * 100),
        ('a = """' + '[{."" \\"""\n' * 100 + '"""', '[{."" """\n' * 100),
        ('a = """[\n""""', '[\n"'),
        ('a = """[\n"""""', '[\n""'),
        ("a = '''" + "[{.''\n" * 100 + "'''", "[{.''\n" * 100),
        ("a = 1 # " + "[{." * 100, 1),
        ("a = [" + "10.5, " * 100 + "]", [10.5] * 100),
        ('a = ["' + '[", "' * 100 + '"]', ["[", *["["] * 99, ""]),
        ("a = 1\r\n", 1),
    ],
)
def test_depth_is_counted_outside_of_texts_and_comments(text, value):
    found = parse_toml(text, "f")["a"]
    assert value is None or found == value


@pytest.mark.parametrize("quote", MARKS)
@pytest.mark.parametrize("end", [0, 1, 2])
def test_a_text_of_several_lines_may_end_in_quotes(quote, end):
    line = f"[a{end}]\nb = {quote}x[{quote[0] * end}{quote}\n"
    text = "".join(line.replace("[a", f"[t{number}_", 1) for number in range(60))
    assert len(parse_toml(text, "f")) == 60


def test_the_parser_is_not_asked_for_what_takes_it_the_square_of_the_length(monkeypatch):
    monkeypatch.setattr(notation.tomllib, "loads", lambda _: pytest.fail("was asked"))
    refused(parse_toml, "a" + ".a" * 20 + " = 1")
    refused(parse_toml, "a = " + "[" * 40)


NASTY = [
    '"""',
    "'''",
    '""" \\"""',
    "'''\"\"\"",
    "[",
    "{",
    '"',
    "'",
    "\\",
    "#",
    "a.",
    '"a" .',
    '\\"',
]


@pytest.mark.parametrize("piece", NASTY)
def test_looking_for_depth_takes_time_linear_in_the_length(piece):
    def seconds(times):
        best = 10.0
        for _ in range(3):
            begin = time.process_time()
            notation._depth(notation._TOML, piece * times)
            notation._depth(notation._JSON, piece * times)
            best = min(best, time.process_time() - begin)
        return best

    seconds(100)
    # Sixteen times the length takes sixteen times as long, or 256 times if it were the square.
    assert seconds(32_000) < 100 * max(seconds(2_000), 0.001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 33 + "]" * 33, "f: not valid JSON: nested too deeply"),
        ('{"a":' * 100_000, "f: not valid JSON: nested too deeply"),
        ("9" * 1_001, "f: not valid JSON: a number has more than 1,000 digits"),
        ("[NaN]", "f: not valid JSON: NaN is not a JSON number"),
        ("-Infinity", "f: not valid JSON: -Infinity is not a JSON number"),
        ("1e999", "f: not valid JSON: a number is too large"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "f: not valid JSON: the key 'c' occurs twice in one o"),
        ('{"a": "\\ud800"}', "f: not valid JSON: a text contains half a surrogate pair"),
        ('{"\\udfff": 1}', "f: not valid JSON: a text contains half a surrogate pair"),
        ('{\n"a":', "f:2: not valid JSON: Expecting value at column 5"),
        ("", "f:1: not valid JSON: Expecting value at column 1"),
    ],
)
def test_json_that_no_one_can_use_is_refused_in_one_line(text, message):
    told = refused(parse_json, text)
    assert told.startswith(message)
    assert len(told) < 200


def test_json_of_too_many_values_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(notation, "MOST_VALUES", 3)
    assert parse_json("[1, 2, 3]", "f") == [1, 2, 3]
    assert refused(parse_json, "[1, [], []]") == "f: not valid JSON: it has more than 3 values"


def test_json_may_nest_as_deep_as_is_said_and_hold_brackets_in_texts():
    assert parse_json("[" * 32 + "]" * 32, "f") == eval("[" * 32 + "]" * 32)
    text = '{"a": "' + '[\\"{' * 1_000 + '"}'
    assert parse_json(text, "f") == {"a": '["{' * 1_000}
    assert parse_json('"\\ud83d\\ude00"', "f") == "😀"


def test_what_is_sound_is_read_as_tomllib_reads_it():
    text = 'a.b = 1.5\n[[c]]\nd = 2026-01-01\n[[c]]\ne = """x"""\n'
    assert parse_toml(text, "f") == tomllib.loads(text)


@pytest.mark.parametrize("text", ["yes", "on", "no", "017", "1e3", "0x1F", "2026-11-26", "1:30"])
def test_a_plain_scalar_stays_the_text_that_was_written(text):
    assert parse_yaml(f"a: {text}\nb: [{text}]", "f") == [{"a": text, "b": [text]}]


@pytest.mark.parametrize("text", ["", "~", "null"])
def test_nothing_is_none_unless_it_is_quoted(text):
    assert parse_yaml(f"a: {text}\nb: '{text}'\nc: !!str {text}", "f") == [
        {"a": None, "b": text, "c": text}
    ]


def test_merged_keys_give_way_to_own_ones_and_to_those_merged_before():
    text = "x: &x {A: 1, B: 1}\ny: &y {B: 2, C: 2}\nz: {<<: [*x, *y], C: 3}\nq: {'<<': t}"
    assert parse_yaml(text, "f")[0]["z"] == {"A": "1", "B": "1", "C": "3"}
    assert parse_yaml(text, "f")[0]["q"] == {"<<": "t"}


def test_documents_do_not_share_anchors():
    with pytest.raises(UsageError, match=r"f:4: The alias \*a has no anchor before it"):
        parse_yaml("a: &a 1\nb: *a\n---\nc: *a", "f")


BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\nb: 2\na: 3", "f:3: The key 'a' occurs twice in one mapping, on lines 1 and 3"),
        ("a: {b: 1, 'b': 2}", "The key 'b' occurs twice"),
        (BOMB, "f:5: Aliases stand for more than 100,000 values"),
        ("&a [*a]", "f:1: The alias *a has no anchor before it"),
        ("- " * 140 + "x", "Nested too deeply"),
        ("[" * 100_000, "Nested too deeply"),
        ("a: !!python/object/apply:os.system [x]", "The tag"),
        ("a: !!binary aGk=", "The tag"),
        ("a: !reset x", "The tag '!reset' is not read here"),
        ("[a]: b", "A key is a mapping or a list. Write a text"),
        ("a: [1", "Not valid YAML: did not find expected"),
        ("a: 1\n\tb: 2", "f:2: Not valid YAML"),
        ("a: \0", "f:1: This line has the control character U+0000"),
        ("a: !!int 5", "f:1: A tag is not read here. Remove it"),
        ("a:\n  *: 1", 'f:2: A key * has no quotes. Write "*":'),
        ("<<: 5", "<< merges a mapping"),
    ],
)
def test_what_is_not_read_strictly_is_refused_with_its_line(text, why):
    with pytest.raises(UsageError) as refused:
        parse_yaml(text, "f")
    assert why in str(refused.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(UsageError):
        parse_yaml(text, "f")
