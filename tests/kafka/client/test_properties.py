"""A .properties file, as java.util.Properties reads it."""

from __future__ import annotations

import pytest

from aclkit.errors import UsageError
from aclkit.kafka.client.properties import parse_properties, read_properties


def test_properties_are_read_as_java_reads_them(tmp_path):
    path = tmp_path / "client.properties"
    text = (
        "# comment\\\n! too\n  a=1\nb : 2\nc 3\nd\\=e=f=g\nh=one \\\n   two\n"
        "i=\\u00e9\\t\\q\\\\\nj=caf\xe9\nk=\\uD83D\\uDE00\nl=a\\r\\n\\f\n  : nameless\nm\n"
    )
    path.write_bytes(text.encode("latin-1"))
    assert read_properties(path) == {
        **{"a": "1", "b": "2", "c": "3", "d=e": "f=g", "h": "one two", "": "nameless", "m": ""},
        **{"i": "é\tq\\", "j": "café", "k": "😀", "l": "a\r\n\f"},
    }
    assert parse_properties("") == {}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path, encoding):
    path = tmp_path / "client.properties"
    path.write_text("security.protocol=SSL\n", encoding=encoding)
    assert read_properties(path) == {"security.protocol": "SSL"}


def test_of_a_key_given_twice_the_last_value_holds():
    assert parse_properties("a=1\na=2") == {"a": "2"}


def test_half_a_surrogate_pair_becomes_a_text_that_can_be_written():
    assert parse_properties("a=\\uD83Dx")["a"].encode() == "\ufffdx".encode()


def test_an_escape_that_is_none_is_refused_without_quoting_the_value():
    with pytest.raises(UsageError, match="four hexadecimal digits") as raised:
        parse_properties("password=secret\\u12g4")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["none", ".", "a\0b"])
def test_a_file_that_is_none_is_a_usage_error(tmp_path, name):
    with pytest.raises(UsageError):
        read_properties(f"{tmp_path}/{name}")
