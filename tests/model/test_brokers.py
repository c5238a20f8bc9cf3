"""Whether ranges decide, as the registered brokers' binaries say."""

from __future__ import annotations

import pytest

from aclkit.model.brokers import (
    DIFFER,
    UNKNOWN,
    Broker,
    level_name,
    note_on_ranges,
    ranges_by_broker,
)
from aclkit.model.semantics import OFF, ON


def brokers(*levels, unregistered=()):
    """Brokers 1, 2, … that support metadata.version up to these levels."""
    return [
        Broker(
            broker_id=number,
            is_registered=number not in unregistered,
            min_level=7,
            max_level=level,
            since_offset=number,
        )
        for number, level in enumerate(levels, start=1)
    ]


@pytest.mark.parametrize(
    ("levels", "unregistered", "state", "words"),
    [
        (
            (29, 29, 29),
            (),
            OFF,
            "no, brokers 1, 2, 3 support metadata.version up to 29 (4.2-IV1)",
        ),
        ((33,), (), ON, "yes, broker 1 supports metadata.version up to 33 (4.4-IV2)"),
        (
            (33, 40),
            (),
            ON,
            "yes, broker 1 supports metadata.version up to 33 (4.4-IV2), "
            "broker 2 supports metadata.version up to 40",
        ),
        (
            (33, 30, 33),
            (),
            DIFFER,
            "the brokers differ, yes: brokers 1, 3 support metadata.version up to 33 (4.4-IV2); "
            "no: broker 2 supports metadata.version up to 30 (4.3-IV0)",
        ),
        ((31, None), (), OFF, "no, broker 1 supports metadata.version up to 31 (4.4-IV0), "
         "broker 2 names no metadata.version"),
        ((32, 31), (2,), ON, "yes, broker 1 supports metadata.version up to 32 (4.4-IV1)"),
    ],
)  # fmt: skip
def test_ranges_decide_where_all_registered_brokers_read_them(levels, unregistered, state, words):
    found = ranges_by_broker(reversed(brokers(*levels, unregistered=unregistered)))
    assert (found.state, found.words) == (state, f"ranges (CIDR) decide: {words}")


@pytest.mark.parametrize("known", [[], brokers(33, unregistered=(1,))])
def test_without_a_registered_broker_it_is_unknown(known):
    found = ranges_by_broker(known)
    assert (found.state, found.with_ranges, found.without) == (UNKNOWN, (), ())
    assert found.words.startswith("whether ranges (CIDR) decide is unknown, for no registered")


def test_which_brokers_read_ranges_is_told_apart():
    found = ranges_by_broker(brokers(33, 30, None, 32, 33, unregistered=(5,)))
    assert (found.with_ranges, found.without) == ((1, 4), (2, 3))


def test_of_many_brokers_some_are_named():
    assert "20 and 5 more support" in ranges_by_broker(brokers(*[29] * 25)).words


def test_levels_have_kafkas_names_where_these_are_known():
    assert [level_name(n) for n in (27, 32, 34)] == ["27 (4.1-IV1)", "32 (4.4-IV1)", "34"]


@pytest.mark.parametrize(("levels", "decides"), [((), False), ((30,), False), ((30, 33), True)])
def test_by_itself_ranges_decide_as_on_the_newest_broker(levels, decides):
    assert ranges_by_broker(brokers(*levels)).newest_decides == decides


@pytest.mark.parametrize(
    ("levels", "decide", "is_auto", "words"),
    [
        ((), False, True, "ranges (CIDR) are compared as text, for no registered broker is known"),
        ((30,), False, True, "ranges (CIDR) decide: no, broker 1 supports"),
        ((30, 33), True, True, "ranges (CIDR) decide: the brokers differ, yes: broker 2"),
        ((), True, False, "ranges (CIDR) decide, as --cidr-hosts says"),
        ((33,), True, False, "ranges (CIDR) decide, as --cidr-hosts says"),
        (
            (30, 33),
            True,
            False,
            "ranges (CIDR) decide, as --cidr-hosts says, although ranges (CIDR) decide: the",
        ),
        (
            (33,),
            False,
            False,
            "ranges (CIDR) are compared as text, as --cidr-hosts says, although ranges (CIDR) "
            "decide: yes, broker 1",
        ),
    ],
)
def test_a_run_notes_whether_ranges_decide_and_who_says_so(levels, decide, is_auto, words):
    known = ranges_by_broker(brokers(*levels))
    assert note_on_ranges(known, decide=decide, is_auto=is_auto).startswith(words)
