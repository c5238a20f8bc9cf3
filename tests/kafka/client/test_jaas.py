"""sasl.jaas.config, cut as java.io.StreamTokenizer cuts it.

``test_tokens`` holds what a JDK 17 printed for the same texts.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.errors import UsageError
from aclkit.kafka.client.config import _tokens, parse_jaas


def options(text):
    return dict(parse_jaas(f"a.b.C required {text};").options)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('p="a b"', "a b"),
        ("p='a \"b'", 'a "b'),
        ("p=abc", "abc"),
        ("p=a-b_c$d.e9", "a-b_c$d.e9"),
        ("p=ünï", "ünï"),
        ("p = \n 'x'", "x"),
        (r'p="a\"b\\c\n\t\101\7x"', 'a"b\\c\n\tA\x07x'),
        (r'p="\477"', "'7"),
        ('p="a" // the rest', "a"),
        ('/* x */ p="a"', "a"),
    ],
)
def test_values(text, value):
    assert options(text + "\n") == {"p": value}


def test_a_whole_entry():
    entry = parse_jaas(
        "org.apache.kafka.common.security.scram.ScramLoginModule REQUIRED\n"
        "  username='b=o,b' password=secret-9\n  serviceName=\"kafka\" ;\n"
    )
    assert entry.module == "org.apache.kafka.common.security.scram.ScramLoginModule"
    assert entry.options == {"username": "b=o,b", "password": "secret-9", "serviceName": "kafka"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.B",
        "a.B maybe p=x;",
        "a.B required p=x",
        "a.B required p=;",
        "a.B required p x;",
        "a.B required p=9lives;",
        "a.B required p=-1;",
        "a.B required p=/secret;",
        "a.B required p='x\n';",
        "a.B required p=x; a.C required;",
        "7 required;",
        "a.B required p='x\\",
    ],
)
def test_what_kafka_refuses_is_refused_and_no_value_is_quoted(text):
    with pytest.raises(UsageError, match=r"^sasl\.jaas\.config: ") as raised:
        parse_jaas(text)
    assert not any(word in str(raised.value) for word in ("9lives", "secret", "'x"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("-.5-a", [("number", None), ("-", None), ("word", "a")]),
        ("--1", [("-", None), ("number", None)]),
        ("1.2.3", [("number", None), ("number", None)]),
        ("a/b\nc", [("word", "a"), ("word", "c")]),
        ("/\nb\nc", [("word", "c")]),
        ("/**/x/*", [("word", "x")]),
        ("'a\nb", [("'", "a"), ("word", "b")]),
        ("\x7f\x80\xa0", [("\x7f", None), ("\x80", None), ("word", "\xa0")]),
    ],
)
def test_tokens(text, tokens):
    assert list(_tokens(text)) == tokens


@given(st.text(alphabet="ab-_$.19 \t\n\r\"'\\/*;=\x80é"))
def test_any_text_is_read_or_refused(text):
    try:
        parse_jaas(text)
    except UsageError:
        return


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30))
def test_a_quoted_password_is_read_back(password):
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    assert options(f'p="{quoted}"') == {"p": password}
