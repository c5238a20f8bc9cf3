"""Whether ranges decide, as the registered brokers' binaries say."""

from __future__ import annotations

import pytest

from aclkit.errors import DataError
from aclkit.model.brokers import (
    DIFFER,
    NOT_TOLD,
    UNKNOWN,
    Broker,
    level_name,
    note_on_ranges,
    ranges_by_broker,
    require_known_reading,
)
from aclkit.model.semantics import OFF, ON

HOSTS = "hosts such as 10.0.0.0/8"


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
            "compare H as text: brokers 1, 2, 3 support metadata.version up to 29 (4.2-IV1)",
        ),
        ((33,), (), ON, "read H as address ranges: broker 1 supports metadata.version up to 33 "
         "(4.4-IV2)"),
        (
            (33, 40),
            (),
            ON,
            "read H as address ranges: broker 1 supports metadata.version up to 33 (4.4-IV2), "
            "broker 2 supports metadata.version up to 40",
        ),
        (
            (33, 30, 33),
            (),
            DIFFER,
            "read H differently, as address ranges: brokers 1, 3 support metadata.version up to "
            "33 (4.4-IV2); "
            "as text: broker 2 supports metadata.version up to 30 (4.3-IV0)",
        ),
        ((31, None), (), OFF, "compare H as text: broker 1 supports metadata.version up to 31 "
         "(4.4-IV0), "
         "broker 2 reports no metadata.version"),
        ((32, 31), (2,), ON, "read H as address ranges: broker 1 supports metadata.version up to "
         "32 (4.4-IV1)"),
        ((33, NOT_TOLD), (), ON, "read H as address ranges: broker 1 supports metadata.version "
         "up to 33 (4.4-IV2); "
         "broker 2 does not report the metadata.version that it supports"),
        ((33, NOT_TOLD, 31), (), DIFFER, "read H differently, as address ranges: broker 1 supports "
         "metadata.version up to 33 (4.4-IV2); as text: broker 3 supports metadata.version up to "
         "31 (4.4-IV0); broker 2 does not report the metadata.version that it supports"),
        ((31, NOT_TOLD), (2,), OFF, "compare H as text: broker 1 supports metadata.version up to "
         "31 (4.4-IV0)"),
    ],
)  # fmt: skip
def test_ranges_decide_where_all_registered_brokers_read_them(levels, unregistered, state, words):
    found = ranges_by_broker(reversed(brokers(*levels, unregistered=unregistered)))
    assert (found.state, found.words) == (state, f"Brokers {words.replace('H', HOSTS)}")


@pytest.mark.parametrize("known", [[], brokers(33, unregistered=(1,))])
def test_without_a_registered_broker_it_is_unknown(known):
    found = ranges_by_broker(known)
    assert (found.state, found.with_ranges, found.without) == (UNKNOWN, (), ())
    assert found.words.startswith(f"It is unknown how brokers read {HOSTS}, because no registered")


@pytest.mark.parametrize("known", [(NOT_TOLD,), (31, None, NOT_TOLD)])
def test_where_a_broker_may_be_newer_than_those_that_do_not_read_ranges_it_is_unknown(known):
    found = ranges_by_broker(brokers(*known))
    assert (found.state, found.newest_decides) == (UNKNOWN, False)
    number = len(known)
    assert found.words == (
        f"It is unknown how brokers read {HOSTS}, because broker {number} does not report the "
        "metadata.version that it supports"
    )


@pytest.mark.parametrize("levels", [(), (NOT_TOLD,), (31, NOT_TOLD)])
@pytest.mark.parametrize("host", ["10.0.0.0/8", "2001:db8::/32", "fe80::%bond0/10"])
def test_a_range_that_nobody_says_how_to_read_is_an_error_that_names_the_option(levels, host):
    with pytest.raises(DataError, match=r"--cidr-hosts on .* --cidr-hosts off") as raised:
        require_known_reading(ranges_by_broker(brokers(*levels)), ["*", host])
    assert host in str(raised.value)


@pytest.mark.parametrize(
    ("levels", "host"),
    [
        ((), "*"),
        ((), "10.0.0.0"),
        # Nobody reads it as a range, so it matches no client either way.
        ((NOT_TOLD,), "10.0.0.0/33"),
        ((33,), "10.0.0.0/8"),
        ((31,), "10.0.0.0/8"),
        ((31, 33, NOT_TOLD), "10.0.0.0/8"),
    ],
)
def test_it_is_no_error_where_the_brokers_say_it_or_nothing_depends_on_it(levels, host):
    require_known_reading(ranges_by_broker(brokers(*levels)), [host])


def test_of_many_ranges_three_are_shown():
    hosts = [f"10.{n}.0.0/16" for n in range(5)]
    with pytest.raises(DataError, match=r"10\.0\.0\.0/16, 10\.1\.0\.0/16, 10\.2\.0\.0/16, …\. "):
        require_known_reading(ranges_by_broker(()), hosts)


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
        ((), False, True, f"It is unknown how brokers read {HOSTS}, because no registered"),
        ((30,), False, True, f"Brokers compare {HOSTS} as text: broker 1 supports"),
        ((30, 33), True, True, f"Brokers read {HOSTS} differently, as address ranges: broker 2"),
        ((), True, False, "Hosts such as 10.0.0.0/8 match as address ranges (--cidr-hosts on)"),
        ((33,), True, False, "Hosts such as 10.0.0.0/8 match as address ranges (--cidr-hosts on)"),
        (
            (30, 33),
            True,
            False,
            "Hosts such as 10.0.0.0/8 match as address ranges (--cidr-hosts on). This differs from "
            f"the brokers. Brokers read {HOSTS} differently",
        ),
        (
            (33,),
            False,
            False,
            "Hosts such as 10.0.0.0/8 are compared as text (--cidr-hosts off). This differs from "
            f"the brokers. Brokers read {HOSTS} as address ranges: broker 1",
        ),
    ],
)
def test_a_run_notes_whether_ranges_decide_and_who_says_so(levels, decide, is_auto, words):
    known = ranges_by_broker(brokers(*levels))
    assert note_on_ranges(known, decide=decide, is_auto=is_auto).startswith(words)
