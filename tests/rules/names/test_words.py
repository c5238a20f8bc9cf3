"""Regions → words: never "any" where something is left out."""

from __future__ import annotations

import pytest

from aclkit.rules.names.region import Region
from aclkit.rules.names.rows import EVERYTHING, ONE, ONE_BUT_STAR, RUN, Symbols
from aclkit.rules.names.words import region_words

STARTS_WITH_A: Symbols = ("a", RUN)
GLOB: Symbols = (RUN, "e", ONE)


def region(
    pattern: Symbols,
    within: tuple[Symbols, ...] = (),
    but: tuple[Symbols, ...] = (),
    shortest: str = "q",
    *,
    is_exact: bool = True,
) -> Region:
    return Region(pattern, within, but, shortest, is_exact)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (region(EVERYTHING), "any topic"),
        (
            region(EVERYTHING, but=(GLOB,)),
            "all topics, but not those that *e? matches",
        ),
        (region(EVERYTHING, within=(GLOB,)), "topics that *e? matches"),
        (region(("x",)), "topic x"),
        (region(STARTS_WITH_A), "topics that start with a"),
        (region(GLOB), "topics like *e?"),
        (
            region(STARTS_WITH_A, within=(GLOB, ("b", RUN))),
            "topics that start with a, which *e? or b* match too",
        ),
        (
            region(GLOB, but=(("x",), ("y",))),
            "topics like *e?, but not x or y",
        ),
        (
            region(GLOB, but=(*(tuple(n) for n in "bcd"), ("e", RUN), ("f",))),
            "topics like *e?, but not those that b, c, d or 2 more match",
        ),
        (region(EVERYTHING, is_exact=False), "some of the topics, for example q"),
        (
            region(STARTS_WITH_A, is_exact=False),
            "some of the topics that start with a, for example q",
        ),
        (region(STARTS_WITH_A, shortest=""), "topics that start with a"),
    ],
)  # fmt: skip
def test_a_region_is_said_in_one_sentence(given: Region, words: str) -> None:
    assert region_words(given, "TOPIC") == words


def test_a_star_that_is_a_letter_is_not_mistaken_for_a_wildcard() -> None:
    words = region_words(region(("b", RUN), but=(("b", "*", RUN),)), "TRANSACTIONAL_ID")
    assert words == (
        "transactional ids that start with b, but not those that b** (with its own *) matches"
    )
    defect = region((ONE_BUT_STAR, RUN))
    assert region_words(defect, "GROUP") == "groups that do not start with *"


def test_the_cluster_has_one_name() -> None:
    assert region_words(region(EVERYTHING, is_exact=False), "CLUSTER") == "the cluster"
