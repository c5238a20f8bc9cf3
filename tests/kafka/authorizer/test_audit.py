"""The audit log: lines of a real broker, word for word, and who gets to see which."""

from __future__ import annotations

import logging

import pytest
from kio.schema.index import api_key_map

from aclkit.kafka.acls.command import pascal_case
from aclkit.kafka.authorizer.audit import (
    API_NAMES,
    BROKER_FORMAT,
    LOGGER,
    TRACE,
    Wording,
    audit_message,
    request_name,
    standard_acl,
)
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.model.semantics import KAFKA, KIP_1042
from aclkit.rules.decide.rules import Ruling
from tests.factories import acl
from tests.kafka.authorizer.asking import action, context

ALPHA = acl("alp", pattern_type="PREFIXED", principal="User:bob", permission_type="DENY")


@pytest.fixture
def lines(caplog):
    """Return all lines written so far, with their levels."""
    caplog.set_level(TRACE, logger=LOGGER)
    return lambda: [(r.levelname, r.getMessage()) for r in caplog.records if r.name == LOGGER]


def bob(**fields):
    return context("User:bob", "127.0.0.1", request_type=1, **fields)


def test_the_line_since_4_2_has_square_brackets():
    ruling = Ruling("DENIED", "MatchingAcl", ALPHA)
    assert audit_message(bob(), action("alpha"), ruling, Wording.SINCE_4_2) == (
        "Principal = User:bob is Denied operation = READ from host = 127.0.0.1 on resource = "
        "Topic:LITERAL:alpha for request = Fetch with resourceRefCount = 1 based on rule "
        "MatchingAcl(acl=StandardAcl[resourceType=TOPIC, resourceName=alp, patternType=PREFIXED, "
        "principal=User:bob, host=*, operation=READ, permissionType=DENY])"
    )


def test_the_line_up_to_4_1_has_round_brackets():
    """Written by a Kafka 4.1 broker."""
    allowed = acl("app", resource_type="GROUP", principal="User:consumer")
    who = context("User:consumer", "127.0.0.1", request_type=10)
    ruling = Ruling("ALLOWED", "MatchingAcl", allowed)
    asked = action("app", "DESCRIBE", "GROUP")
    assert audit_message(who, asked, ruling, Wording.UP_TO_4_1) == (
        "Principal = User:consumer is Allowed operation = DESCRIBE from host = 127.0.0.1 on "
        "resource = Group:LITERAL:app for request = FindCoordinator with resourceRefCount = 1 "
        "based on rule MatchingAcl(acl=StandardAcl(resourceType=GROUP, resourceName=app, "
        "patternType=LITERAL, principal=User:consumer, host=*, operation=READ, "
        "permissionType=ALLOW))"
    )


def test_requests_have_the_names_that_kio_generates_from_kafkas_schemas():
    assert {number: pascal_case(name) for number, name in api_key_map.items()} == API_NAMES


def test_a_rule_without_acl_is_its_name():
    """Written by a Kafka 4.1 broker."""
    who = context("User:ANONYMOUS", "127.0.0.1", request_type=62)
    ruling = Ruling("ALLOWED", "SuperUser")
    asked = action("kafka-cluster", "CLUSTER_ACTION", "CLUSTER")
    assert audit_message(who, asked, ruling, Wording.SINCE_4_2) == (
        "Principal = User:ANONYMOUS is Allowed operation = CLUSTER_ACTION from host = 127.0.0.1 "
        "on resource = Cluster:LITERAL:kafka-cluster for request = BrokerRegistration with "
        "resourceRefCount = 1 based on rule SuperUser"
    )


@pytest.mark.parametrize(
    ("resource_type", "written"),
    [("TRANSACTIONAL_ID", "TransactionalId"), ("DELEGATION_TOKEN", "DelegationToken")],
)
def test_resource_types_are_written_in_one_word(resource_type, written):
    line = audit_message(
        bob(), action("x", "DESCRIBE", resource_type), Ruling("DENIED", "DefaultDeny"),
        Wording.SINCE_4_2,
    )  # fmt: skip
    assert f"on resource = {written}:LITERAL:x for" in line


@pytest.mark.parametrize(
    ("key", "name"),
    [(0, "Produce"), (3, "Metadata"), (22, "InitProducerId"), (58, "Envelope"),
     (63, "BrokerHeartbeat"), (70, "ControllerRegistration"), (999, "UNKNOWN(999)")],
)  # fmt: skip
def test_requests_have_kafkas_names(key, name):
    assert request_name(key) == name


def test_a_code_that_no_release_knows_is_written_unknown():
    odd = acl("a*", pattern_type="UNKNOWN(9)", permission_type="UNKNOWN(7)")
    text = standard_acl(odd, Wording.SINCE_4_2)
    assert "patternType=UNKNOWN, " in text
    assert text.endswith("permissionType=UNKNOWN]")


def test_a_glob_is_unknown_to_a_broker_that_takes_it_for_a_prefix(lines):
    for read in (KIP_1042, KAFKA):
        glob = acl("orders", pattern_type="GLOB")
        Authorizer.over_acls([glob], semantics=read).authorize(context(), [action()])
    written = [text.partition("patternType=")[2].partition(",")[0] for _, text in lines()]
    assert written == ["GLOB", "UNKNOWN"]


@pytest.mark.parametrize(
    ("name", "flags", "level"),
    [
        ("orders", {}, "DEBUG"),
        ("orders", {"log_if_allowed": False}, "TRACE"),
        ("orders", {"log_if_denied": False}, "DEBUG"),
        ("other", {}, "INFO"),
        ("other", {"log_if_denied": False}, "TRACE"),
        ("other", {"log_if_allowed": False}, "INFO"),
    ],
)
def test_the_level_follows_the_answer_and_the_flags_of_the_action(lines, name, flags, level):
    Authorizer.over_acls([acl()]).authorize(context(), [action(name, **flags)])
    ((written, _),) = lines()
    assert written == level


def test_under_info_only_denials_show(caplog):
    caplog.set_level(logging.INFO, logger=LOGGER)
    Authorizer.over_acls([acl()]).authorize(context(), [action(), action("other")])
    (record,) = (r for r in caplog.records if r.name == LOGGER)
    assert "is Denied" in record.getMessage()


def test_each_action_has_a_line_with_its_reference_count(lines):
    wording = Wording.UP_TO_4_1
    authorizer = Authorizer.over_acls([acl()], wording=wording)
    authorizer.authorize(bob(), [action(resource_reference_count=3), action("other")])
    texts = [text for _, text in lines()]
    assert ["resourceRefCount = 3" in text for text in texts] == [True, False]


def test_a_question_by_resource_type_is_logged_as_kafka_logs_it(lines):
    authorizer = Authorizer.over_acls([acl("h", pattern_type="PREFIXED")], semantics=KAFKA)
    assert authorizer.authorize_by_resource_type(context(), "READ", "TOPIC") == "ALLOWED"
    assert authorizer.authorize_by_resource_type(context(), "WRITE", "TOPIC") == "DENIED"
    allowed, denied = lines()
    assert allowed[0] == "DEBUG"
    assert "on resource = Topic:LITERAL:hardcode for" in allowed[1]
    assert "resourceRefCount = 0" in allowed[1]
    assert denied[0] == "TRACE"


def test_a_formatter_writes_a_brokers_file():
    record = logging.LogRecord(LOGGER, logging.INFO, "", 0, "Principal = …", None, None)
    line = logging.Formatter(BROKER_FORMAT).format(record)
    assert line.startswith("[20")
    assert line.endswith("] INFO Principal = … (kafka.authorizer.logger)")


def test_percent_signs_in_names_are_letters(lines):
    Authorizer.over_acls([acl("100%s")]).authorize(context("User:%d"), [action("100%s")])
    ((_, text),) = lines()
    assert "Topic:LITERAL:100%s" in text
