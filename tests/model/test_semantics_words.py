"""In words: which preset decides, what is set otherwise, and whether ranges decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.model.semantics import BROKER, KAFKA, KIP_1042
from aclkit.model.semantics_words import preset_words, semantics_words

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
