"""What may be kept of a rejected line."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.pipeline.sources.masking import digest, mask_text, names_acl, numbered
from tests.pace import within_loops

KEY = "Mg9lU+8mjPN4rDMdxz2eF5txZH2MZM4xwviYh3mGs1Y="
SCRAM = json.dumps(
    {
        "type": "USER_SCRAM_CREDENTIAL_RECORD",
        "data": {"name": "svc", "mechanism": 1, "storedKey": KEY, "serverKey": KEY, "salt": KEY},
    }
)
ACL = '{"type":"ACCESS_CONTROL_ENTRY_RECORD","version":0,"data":{"principal":"User:a"'


@pytest.mark.parametrize(
    "line",
    [
        f'{{"storedKey":"{KEY}"}}',
        f"{{'serverKey' : '{KEY}'}}",
        f"SALT={KEY}",
        f'{{\\"hmac\\": \\"{KEY}\\"}}',
        f'"stored_key":"{KEY}',
        f"stored_key: {KEY}, x",
        f"{ACL},storedKey:{KEY}",
        f'{ACL}{KEY}","iterations":4096}}',
        f'{KEY}","serverKey":"x{ACL}',
        f"{SCRAM[:-20]}{ACL}}}",
    ],
)
def test_a_credential_is_masked_in_whatever_form_it_stands(line):
    assert KEY[:20] not in mask_text(line)


@pytest.mark.parametrize("name", ["ssl.keystore.password", "sasl.jaas.config", "x"])
@pytest.mark.parametrize("form", ['"name":"{}","value":"pw 1, 2"', '"name":"{},"value":"pw 1"'])
def test_values_of_configurations_are_masked(name, form):
    line = '{"type":"CONFIG_RECORD","data":{' + form.format(name) + "}}"
    assert "pw" not in mask_text(line)


def test_a_short_password_is_masked_also_with_a_quote_missing():
    assert "hunter2" not in mask_text('{"type":"CONFIG_RECORD","data":{"value:"hunter2"}}')
    assert "hunter2" not in mask_text('{"type":"CONFIG_RECORD","data":{"value":hunter2"}}')


def test_an_acl_record_is_kept_as_it_is():
    line = ACL + ',"resourceName":"orders","host":"*"}}'
    assert mask_text(line) == line
    assert mask_text(line.replace("ACCESS_CONTROL_ENTRY_RECORD", "AccessControlEntryRecord"))


def test_structural_words_are_kept():
    line = '{"offset":3,"timestamp":1,"type":"FOO_RECORD","version":0,"data":{"a":"b"}}'
    assert mask_text(line) == line.replace('"a":"b"', '"***":"***"')


def test_at_most_500_characters_are_kept():
    assert len(mask_text(ACL + "x, " * 10_000)) == 500


def test_both_spellings_name_an_acl():
    assert names_acl("REMOVE_ACCESS_CONTROL_ENTRY_RECORD")
    assert names_acl("AccessControlEntryRecord")
    assert not names_acl("CONFIG_RECORD")


def test_lines_are_numbered_from_one_without_their_ends():
    assert list(numbered(["\ufeffa\r\n", "b\n", "c"])) == [(1, "a"), (2, "b"), (3, "c")]


def test_the_digest_is_of_the_whole_text():
    assert digest("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    assert digest("\ud800") != digest("\ud801")


@given(st.data())
def test_no_mutation_of_a_line_shows_its_stored_key(data):
    cut = st.integers(0, len(SCRAM))
    start, end = sorted((data.draw(cut), data.draw(cut)))
    patch = data.draw(st.sampled_from(["", '"', "\\", "{", "}", ":", ACL, "\n", " ", "Record"]))
    line = SCRAM[:start] + patch + SCRAM[end:]
    assert KEY not in mask_text(line)


MARKER = "Zq7Xw9Kv3Jm5Rb8"
HOLDERS = (
    '{"type":"CONFIG_RECORD","data":{"name":"ssl.key.password","value":"%s"}}',
    '{"type":"USER_SCRAM_CREDENTIAL_RECORD","data":{"name":"a","salt":"%s","storedKey":"%s"}}',
    '{"type":"DELEGATION_TOKEN_RECORD","data":{"tokenId":"x","hmac":"%s"}}',
    ACL + ',"resourceName":"orders","password":"%s"}}',
    "password='%s'",
    "secret=%s",
    "apikey: %s",
    "ssl.key.password=%s",
    "sasl.jaas.config=org.apache.Login required username='a' password='%s';",
    r"{\"sasl.jaas.config\":\"x password=\\\"%s\\\";\"}",
    "| offset: 7 CreateTime: 1 payload: {'type':'CONFIG_RECORD','data':{'value':'%s'}}",
    "2026-11-21 10:00:00,123 INFO Principal = User:a is Allowed operation = Read, token=%s",
)


def fragments(text, size=4):
    return {text[at : at + size] for at in range(len(text) - size + 1)}


def mutated(line, chance):
    """Cut a line anywhere, change its quotes, and put other characters between."""
    for _ in range(chance.randint(0, 3)):
        at = chance.randint(0, len(line))
        how = chance.randint(0, 5)
        if how == 0:
            line = line[:at]
        elif how == 1:
            line = line[at:]
        elif how == 2:
            line = line.replace('"', chance.choice(["'", '\\"', "", "`", "“"]))
        elif how == 3:
            line = line[:at] + line[at + chance.randint(1, 4) :]
        elif how == 4:
            line = line.replace(":", "=").replace(",", chance.choice([";", " ", "\t", "\n"]))
        else:
            line = line[:at] + chance.choice(["\\", '"', "'", "{", "}", ACL, "=", " "]) + line[at:]
    return line


def test_no_mutation_of_a_line_shows_four_letters_of_its_secret():
    chance = random.Random(14)
    for _ in range(20_000):
        line = mutated(chance.choice(HOLDERS).replace("%s", MARKER), chance)
        shown = mask_text(line)
        seen = fragments(MARKER) & fragments(shown)
        assert not seen, f"{line!r} was shown as {shown!r}"


@pytest.mark.parametrize("line", [holder.replace("%s", MARKER) for holder in HOLDERS])
def test_a_line_cut_at_any_place_shows_nothing_of_its_secret(line):
    for at in range(len(line)):
        assert not fragments(MARKER, 3) & fragments(mask_text(line[:at]), 3)
        assert not fragments(MARKER, 3) & fragments(mask_text(line[at:]), 3)


def test_of_what_speaks_of_a_request_the_request_is_kept():
    line = "2026-11-21 10:00:00 INFO Principal = User:CN=a is Allowd from host = 10.0.0.1"
    assert mask_text(line) == line.replace("Allowd", "***")


def test_long_and_hostile_lines_are_masked_in_linear_time():
    for line in ('"' * 9_000, "\\" * 9_000, "password" * 1_000, "a_" * 4_000, "principal=" * 900):
        with within_loops(50):
            mask_text(line)


@given(st.text())
def test_any_text_can_be_masked(text):
    mask_text(text).encode()
