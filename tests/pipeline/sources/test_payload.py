"""One JSON payload: the fact that it states, or why not."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclkit.model.facts import SourceRow
from aclkit.pipeline.sources.payload import BadPayload, load_payload, may_hide_acl, parse_payload

BASE = SourceRow(kind="fact", source="s", fact="record", log_offset=7)
ID = "QZDDv-R7SyaPgetDPGd0Mw"


def acl(**changes):
    data = {
        **{"id": ID, "resourceType": 2, "resourceName": "foo_", "patternType": 4},
        **{"principal": "User:*", "host": "*", "operation": 3, "permissionType": 3},
    }
    return {"type": "ACCESS_CONTROL_ENTRY_RECORD", "version": 0, "data": data | changes}


def without(field):
    payload = acl()
    del payload["data"][field]
    return payload


def refused(payload):
    with pytest.raises(BadPayload) as raised:
        parse_payload(payload, BASE)
    return raised.value


@pytest.mark.parametrize("name", ["ACCESS_CONTROL_ENTRY_RECORD", "AccessControlEntryRecord"])
def test_an_acl_has_its_seven_fields_and_id_in_both_spellings(name):
    row = parse_payload(acl() | {"type": name}, BASE)
    assert row == SourceRow(
        kind="fact",
        source="s",
        fact="record",
        log_offset=7,
        record_type="ACCESS_CONTROL_ENTRY_RECORD",
        acl_id=ID,
        resource_type="TOPIC",
        resource_name="foo_",
        pattern_type="PREFIXED",
        principal="User:*",
        host="*",
        operation="READ",
        permission_type="ALLOW",
    )


def test_unknown_codes_are_names_that_lead_back():
    row = parse_payload(acl(operation=127, patternType=5, permissionType=-128), BASE)
    assert (row.operation, row.pattern_type) == ("UNKNOWN(127)", "GLOB")
    assert row.permission_type == "UNKNOWN(-128)"


def test_padding_of_an_id_is_accepted_and_dropped():
    assert parse_payload(acl(id=ID + "=="), BASE).acl_id == ID


def test_loose_bits_at_the_end_of_an_id_do_not_make_another_id():
    assert parse_payload(acl(id=ID[:-1] + "x"), BASE).acl_id == ID


@pytest.mark.parametrize(
    "changes",
    [
        *({"operation": code} for code in (128, -129, True, 3.0, "3", None)),
        *({"id": id_} for id_ in ("", ID[:-1], ID + "=", ID + "===", ID[:-1] + "+", None, 5)),
        *({"principal": name} for name in (None, 5, ["User:a"], "User:\ud800")),
    ],
)
def test_a_wrong_type_or_value_may_hide_an_acl(changes):
    error = refused(acl(**changes))
    assert error.hides_acl
    assert str(error).startswith(f"ACCESS_CONTROL_ENTRY_RECORD: {next(iter(changes))}: ")


@pytest.mark.parametrize("field", list(acl()["data"]))
def test_a_missing_field_is_named(field):
    assert str(refused(without(field))) == f"ACCESS_CONTROL_ENTRY_RECORD: {field}: missing"


BROKER = {
    "brokerId": 3,
    "endPoints": [{"name": "EXTERNAL", "host": "SECRET"}],
    "features": [
        {"name": "group.version", "minSupportedVersion": 0, "maxSupportedVersion": 1},
        {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 29},
    ],
    "rack": "SECRET",
}


@pytest.mark.parametrize("version", [True, -1, "0", None, 1.0])
def test_a_version_is_a_number(version):
    assert "version" in str(refused(acl() | {"version": version}))


def test_any_version_is_read_as_the_broker_does():
    assert parse_payload(acl() | {"version": 1}, BASE).acl_id == ID


def test_names_may_be_empty_and_hold_anything():
    row = parse_payload(acl(principal="", resourceName='a\n", {😀'), BASE)
    assert (row.principal, row.resource_name) == ("", 'a\n", {😀')


@pytest.mark.parametrize(
    ("name", "data", "kept"),
    [
        ("RemoveAccessControlEntryRecord", {"id": ID}, {"acl_id": ID}),
        ("BEGIN_TRANSACTION_RECORD", {"name": "x"}, {}),
        ("EndTransactionRecord", {}, {}),
        ("ABORT_TRANSACTION_RECORD", {"reason": "r"}, {}),
        ("TopicRecord", {"name": "t", "topicId": ID}, {"resource_name": "t", "topic_id": ID}),
        ("REMOVE_TOPIC_RECORD", {"topicId": ID}, {"topic_id": ID}),
        (
            "UserScramCredentialRecord",
            {"name": "u", "mechanism": 2, "storedKey": "SECRET", "iterations": 1},
            {"principal": "User:u", "mechanism": "SCRAM-SHA-512"},
        ),
        (
            "REMOVE_USER_SCRAM_CREDENTIAL_RECORD",
            {"name": "u", "mechanism": 9},
            {"principal": "User:u", "mechanism": "UNKNOWN(9)"},
        ),
        ("REGISTER_BROKER_RECORD", BROKER, {"broker_id": 3, "min_level": 7, "max_level": 29}),
        ("RegisterBrokerRecord", BROKER | {"features": []}, {"broker_id": 3, "max_level": None}),
        ("UNREGISTER_BROKER_RECORD", {"brokerId": 3, "brokerEpoch": 9}, {"broker_id": 3}),
        (
            "FEATURE_LEVEL_RECORD",
            {"name": "metadata.version", "featureLevel": 30},
            {"broker_id": None, "max_level": 30},
        ),
    ],
)
def test_of_other_records_only_names_are_kept(name, data, kept):
    row = parse_payload({"type": name, "version": 0, "data": data}, BASE)
    for column, value in kept.items():
        assert getattr(row, column) == value
    assert "SECRET" not in repr(row)


def test_the_level_of_another_feature_is_not_kept():
    data = {"name": "group.version", "featureLevel": 1}
    assert parse_payload({"type": "FEATURE_LEVEL_RECORD", "data": data}, BASE) is None


@pytest.mark.parametrize(
    "data",
    [
        *({"brokerId": number, "features": []} for number in ("3", None, 2**31, True)),
        *({"brokerId": 3, "features": some} for some in (None, {}, [5])),
        {"brokerId": 3, "features": [{"name": "metadata.version", "minSupportedVersion": 7}]},
    ],
)
def test_a_bad_registration_hides_no_acl(data):
    assert not refused({"type": "REGISTER_BROKER_RECORD", "data": data}).hides_acl


@pytest.mark.parametrize(
    "name",
    [
        *("NO_OP_RECORD", "ClearElrRecord", "DELEGATION_TOKEN_RECORD"),
        *("UNREGISTER_CONTROLLER_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD"),
    ],
)
def test_what_kafka_knows_and_aclkit_does_not_need_is_skipped(name):
    assert parse_payload({"type": name, "data": None}, BASE) is None


def test_an_unknown_type_is_a_reject_that_loses_no_acl():
    error = refused({"type": "SHINY_NEW_RECORD", "data": {}})
    assert "SHINY_NEW_RECORD" in str(error)
    assert not error.hides_acl


@pytest.mark.parametrize("payload", [5, None, [], {}, {"type": 5}, {"type": "AccessControlEntry"}])
def test_what_is_no_payload_may_hide_an_acl(payload):
    assert refused(payload).hides_acl


def test_a_bad_topic_hides_no_acl():
    assert not refused({"type": "TOPIC_RECORD", "data": {"name": 5}}).hides_acl


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', '{"a":NaN}', "[-Infinity]", "{", "", "[" * 100_000, "9" * 5_000]
)
def test_json_is_read_strictly(text):
    with pytest.raises(BadPayload):
        load_payload(text)


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        ('{"type":"CONFIG_RECORD","data":{', False),
        ('{"type":"END_TRANSACTION_RECORD","da', True),
        ('{"type":"ACCESS_CON', True),
        ('{"type":"CONFIG_RECORD"}{"type":"ACCESS_CONTROL_ENTRY_RECORD"', True),
        ("garbage", True),
    ],
)
def test_only_a_known_foreign_record_hides_no_acl(text, hides):
    assert may_hide_acl(text) is hides


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.sampled_from(list(acl()["data"])), JSON)
def test_any_json_in_a_field_is_a_fact_or_a_reason(field, value):
    with suppress(BadPayload):
        assert parse_payload(acl(**{field: value}), BASE) is not None


def test_a_string_longer_than_kafka_stores_is_refused():
    assert parse_payload(acl(principal="x" * 32_767), BASE)
    assert parse_payload(acl(principal="é" * 16_383), BASE)
    for long in ("x" * 32_768, "é" * 16_384):
        error = refused(acl(principal=long))
        assert "longer than the 32767 bytes that Kafka can store" in str(error)
        assert error.hides_acl
