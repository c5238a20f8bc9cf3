"""Settings under which ACLs are read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.errors import UsageError
from aclkit.model.semantics import (
    BROKER,
    KAFKA,
    KIP_1042,
    PRESETS,
    AskedReading,
    Semantics,
    other_reading,
    preset_words,
    read_as,
    semantics_words,
)


def test_in_no_preset_do_ranges_decide():
    assert not any(preset.cidr_hosts for preset in PRESETS.values())


def test_settings_are_said_as_of_old_where_ranges_do_not_decide():
    assert list(KAFKA.said()) == [
        "glob_patterns",
        "identity_globs",
        "deciding_acl",
        "wildcard_defect",
    ]
    assert replace(KAFKA, cidr_hosts=True).said() == {**KAFKA.said(), "cidr_hosts": True}


RANGES = replace(KAFKA, cidr_hosts=True)


def test_by_itself_the_reading_is_kafkas_until_there_was_a_glob():
    assert AskedReading().taken(has_glob=False) == KAFKA
    assert AskedReading().taken(has_glob=True) == KIP_1042


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("has_glob", [False, True])
def test_a_preset_that_is_asked_for_holds_whatever_acls_there_are(preset, has_glob):
    asked = AskedReading(preset=preset, own={"cidr_hosts": True})
    assert asked.taken(has_glob=has_glob) == replace(PRESETS[preset], cidr_hosts=True)
    assert asked.preset_taken(has_glob=has_glob) == preset


def test_the_other_reading_names_the_same_acl_and_reads_ranges_the_same():
    assert other_reading(RANGES) == replace(KIP_1042, deciding_acl=BROKER, cidr_hosts=True)
    assert other_reading(other_reading(RANGES)) == RANGES


@pytest.mark.parametrize(
    ("text", "base", "wanted"),
    [
        ("4.4", KAFKA, RANGES),
        ("4.4.0", KAFKA, RANGES),
        ("10.0", KAFKA, RANGES),
        ("4.3", RANGES, KAFKA),
        ("4.3.1", KIP_1042, KIP_1042),
        ("3.9", RANGES, KAFKA),
        ("kafka", replace(KIP_1042, cidr_hosts=True), RANGES),
        ("kip-1042,4.4", KAFKA, replace(KIP_1042, cidr_hosts=True)),
        ("4.4, kafka", KIP_1042, RANGES),
        ("wildcard-defect", KIP_1042, replace(KIP_1042, wildcard_defect=True)),
        ("no-wildcard-defect", KAFKA, replace(KAFKA, wildcard_defect=False)),
        ("cidr-hosts=on", KAFKA, RANGES),
        ("cidr-hosts=off", RANGES, KAFKA),
        ("deciding-acl=broker", KIP_1042, replace(KIP_1042, deciding_acl=BROKER)),
        ("glob-patterns,identity-globs", KAFKA,
         Semantics(deciding_acl=BROKER, wildcard_defect=True)),
    ],
)  # fmt: skip
def test_a_reading_is_a_version_a_preset_or_a_setting_and_all_else_stays(text, base, wanted):
    assert read_as(text, base) == wanted


@pytest.mark.parametrize(
    "text",
    ["", "4", "4.", "4.4.0.1", "v4.4", "kafka,", "cidr-hosts=auto", "no-cidr-hosts=on", "globs",
     "deciding-acl", "no-deciding-acl=broker", "deciding-acl=first", "٤.٤", "4.44444", "no-4.4"],
)  # fmt: skip
def test_what_is_no_reading_is_refused_with_what_was_expected(text):
    with pytest.raises(UsageError, match="Expected a version of Kafka such as "):
        read_as(text, KAFKA)


KIP_WORDS = "ACLs are read with the preset kip-1042 (globs are wildcards)"
KAFKA_WORDS = "ACLs are read with the preset kafka (as current brokers do)"


@pytest.mark.parametrize(
    ("semantics", "words"),
    [
        (KIP_1042, KIP_WORDS),
        (KAFKA, KAFKA_WORDS),
        (replace(KIP_1042, cidr_hosts=True), KIP_WORDS),
        (replace(KIP_1042, deciding_acl=BROKER), f"{KIP_WORDS}, but deciding_acl is broker"),
        (replace(KAFKA, wildcard_defect=False), f"{KAFKA_WORDS}, but wildcard_defect is off"),
        (
            replace(KIP_1042, glob_patterns=False, wildcard_defect=True),
            f"{KIP_WORDS}, but glob_patterns is off and wildcard_defect is on",
        ),
        (replace(KAFKA, deciding_acl="most-specific", identity_globs=True),
         f"{KIP_WORDS}, but glob_patterns is off and wildcard_defect is on"),
    ],
)  # fmt: skip
def test_the_nearest_preset_is_named_with_what_differs_from_it(semantics, words):
    assert preset_words(semantics) == words


def test_whether_ranges_decide_is_said_beside_the_preset():
    assert semantics_words(KAFKA) == (
        f"{KAFKA_WORDS}; hosts such as 10.0.0.0/8 are compared as text"
    )
    assert (
        semantics_words(replace(KAFKA, cidr_hosts=True))
        == f"{KAFKA_WORDS}; hosts such as 10.0.0.0/8 match as address ranges"
    )
