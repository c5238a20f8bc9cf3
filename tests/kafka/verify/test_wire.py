"""What goes over the wire comes out the same, whatever the texts hold."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.kafka.verify.wire import (
    Reply,
    TextNumbers,
    decode_answers,
    encode_ask,
    encode_load,
)
from aclkit.model.semantics import BrokerSettings
from aclkit.rules.decide.order import utf16
from tests.factories import acl, request
from tests.tools.benchmarks.kafka_loop import encode_measure

any_text = st.text(st.characters(), max_size=20)
"""Control characters, emoji and lone surrogates too."""


class Reader:
    """What StandardAuthorizerLoop.java reads, in Python."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.texts = data, 0, []

    def take(self, form: str):
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return values if len(values) > 1 else values[0]

    def read_texts(self) -> None:
        for _ in range(self.take("i")):
            size = 2 * self.take("i")
            units = self.data[self.at : self.at + size]
            self.at += size
            self.texts.append(units.decode("utf-16-be", "surrogatepass"))


@given(st.lists(any_text, max_size=12))
def test_every_text_is_sent_once_and_as_it_is(texts):
    table = TextNumbers()
    numbers = [table.number(text) for text in texts]
    reader = Reader(table.flush() + table.flush())
    reader.read_texts()
    reader.read_texts()
    assert [reader.texts[number] for number in numbers] == texts
    assert len(reader.texts) == len(set(texts))
    assert reader.at == len(reader.data)


@given(any_text, any_text, any_text)
def test_acls_and_settings_are_sent_as_a_log_holds_them(name, principal, host):
    sent = acl(
        name,
        principal=principal,
        host=host,
        resource_type="GROUP",
        pattern_type="UNKNOWN(-9)",
        operation="TWO_PHASE_COMMIT",
        permission_type="DENY",
    )
    settings = BrokerSettings(super_users=frozenset({"User:b", "User:a"}), allow_everyone=True)
    reader = Reader(encode_load([sent], settings, TextNumbers()))
    assert reader.take("c") == b"L"
    reader.read_texts()
    super_users, allow_everyone, count = reader.take("i?i")
    assert (reader.texts[super_users], allow_everyone, count) == ("User:a;User:b", True, 1)
    assert reader.take("bbbb") == (3, -9, 15, 2)
    assert [reader.texts[number] for number in reader.take("iii")] == [name, principal, host]
    assert reader.at == len(reader.data)


@given(any_text, any_text)
def test_requests_are_sent_as_numbers_of_texts_and_codes(name, principal):
    asked = request(name, principal=principal, resource_type="USER", operation="CREATE_TOKENS")
    reader = Reader(encode_ask([asked, asked], TextNumbers()))
    assert reader.take("c") == b"A"
    reader.read_texts()
    assert reader.take("i") == 2
    for _ in range(2):
        who, where, operation, resource_type, what = reader.take("iiiii")
        assert (operation, resource_type) == (13, 7)
        assert [reader.texts[n] for n in (who, where, what)] == [principal, "10.0.0.1", name]
    assert reader.at == len(reader.data)


def test_a_measurement_says_for_how_long():
    reader = Reader(encode_measure([request()], 1.5, TextNumbers()))
    assert (reader.take("c"), reader.take("i")) == (b"M", 1500)


RECORDS = [
    (b"\0" + struct.pack(">i", -3), Reply("DENIED", "DefaultDeny")),
    (b"\1" + struct.pack(">i", -2), Reply("ALLOWED", "DefaultAllow")),
    (b"\1" + struct.pack(">i", -1), Reply("ALLOWED", "SuperUser")),
    (b"\0" + struct.pack(">i", 1), "second"),
    (b"\2" + struct.pack(">i", 5) + b"a.B\n\xc3"[:4] + b"!", Reply(None, "throws a.B\n!")),
]


@pytest.mark.parametrize("cut", range(len(RECORDS)))
def test_only_whole_answers_count(cut):
    acls = [acl("first"), acl("second")]
    wanted = [
        Reply("DENIED", "MatchingAcl", acls[1]) if answer == "second" else answer
        for _, answer in RECORDS
    ]
    whole = b"".join(record for record, _ in RECORDS[:cut])
    for rest in range(len(RECORDS[cut][0])):
        data = whole + RECORDS[cut][0][:rest]
        assert list(decode_answers(data, acls)) == wanted[:cut]
    assert list(decode_answers(whole + RECORDS[cut][0], acls)) == wanted[: cut + 1]


def test_texts_are_java_strings():
    assert len(utf16("\U0001f511")) == 4
    assert utf16("\ud800") == b"\xd8\x00"
