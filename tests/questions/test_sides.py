"""Rules of the settings under which each side of a proof is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aclkit.errors import DataError, UsageError
from aclkit.model.broker_settings import ALLOW_EVERYONE, SUPER_USERS, GivenSettings
from aclkit.model.semantics import KAFKA, KIP_1042, BrokerSettings
from aclkit.questions.sides import GivenReading, first_glob_notes, read_alike
from aclkit.questions.state import LISTING, State
from aclkit.questions.state_words import settings_words, side_facts
from tests.factories import acl

SUPER = BrokerSettings(super_users=frozenset({"User:admin"}))
NOTHING = GivenReading()
BOTH = frozenset({SUPER_USERS, ALLOW_EVERYONE})
NOBODY_KNOWS = BrokerSettings(unknown=BOTH)


def file(*acls) -> State:
    return State(place="a.txt", form=LISTING).with_only(acls)


def warehouse(settings=SUPER, semantics=KAFKA) -> State:
    own = "run 1 of the warehouse"
    return State(place="w", settings=settings, semantics=semantics, read_by=own)


def test_ranges_of_files_alone_are_read_as_the_options_say_and_not_by_a_guess():
    sides = [file(), file(acl(host="10.0.0.0/8"))]
    with pytest.raises(DataError, match=r"10\.0\.0\.0/8\. .*--cidr-hosts on"):
        read_alike(sides, NOTHING)
    for decide in (False, True):
        for read in read_alike(sides, GivenReading(own={"cidr_hosts": decide})):
            assert read.rules.semantics.cidr_hosts == decide
    _, read = read_alike([warehouse(), file(acl(host="10.0.0.0/8"))], NOTHING)
    assert read.rules.semantics == KAFKA


GLOB = acl("a?", pattern_type="GLOB")


@pytest.mark.parametrize(
    ("acls", "semantics"), [([(), ()], KAFKA), ([(), (GLOB,)], KIP_1042), ([(GLOB,), ()], KIP_1042)]
)
def test_two_files_are_read_alike_by_kip_1042_where_one_has_a_glob_else_as_kafka_does(
    acls, semantics
):
    for read in read_alike([file(*each) for each in acls], NOTHING):
        assert (read.rules.settings, read.rules.semantics) == (BrokerSettings(), semantics)
        assert read.read_by == "the defaults"


@pytest.mark.parametrize("semantics", [KAFKA, KIP_1042])
def test_a_side_that_brings_the_first_glob_is_warned_of_and_both_are_read_as_the_warehouse_is(
    semantics,
):
    sides = [warehouse(semantics=semantics), file(GLOB)]
    read = read_alike(sides, NOTHING)
    assert {each.rules.semantics for each in read} == {semantics}
    (note,) = first_glob_notes(read)
    assert note.startswith("warning: B brings the first GLOB ACL: ALLOW READ on topic a? (glob)")
    assert not first_glob_notes(read_alike(sides[:1] * 2, NOTHING))
    assert not first_glob_notes(read_alike(sides[1:] * 2, NOTHING))


def test_what_is_given_holds_for_two_files_and_the_rest_is_default():
    given = GivenReading(
        settings=GivenSettings(allow_everyone=True), preset="kafka", own={"glob_patterns": True}
    )
    for read in read_alike([file(), file()], given):
        assert read.rules.settings == BrokerSettings(allow_everyone=True)
        assert read.rules.semantics.glob_patterns
        assert not read.rules.semantics.identity_globs
        assert read.read_by == "the options"


@pytest.mark.parametrize("sides", [[warehouse(), file()], [file(), warehouse()]])
def test_a_file_is_read_as_the_warehouse_beside_it(sides):
    a, b = read_alike(sides, NOTHING)
    assert a.rules == b.rules
    assert a.rules.settings == SUPER


def test_two_warehouses_with_other_settings_are_refused_and_what_differs_is_named():
    with pytest.raises(UsageError, match="--compare-settings") as refused:
        read_alike([warehouse(), warehouse(BrokerSettings(), KIP_1042)], NOTHING)
    assert "super.users: A has 'User:admin', B has 'none'" in str(refused.value)
    assert "identity_globs: A has 'false', B has 'true'" in str(refused.value)
    assert "allow.everyone" not in str(refused.value)


def test_each_side_keeps_its_own_settings_where_that_is_asked_for():
    a, b = read_alike([warehouse(), warehouse(BrokerSettings())], NOTHING, each_own=True)
    assert (a.rules.settings, b.rules.settings) == (SUPER, BrokerSettings())


def test_options_cannot_take_the_place_of_what_a_warehouse_says():
    given = GivenReading(settings=GivenSettings(super_users=frozenset({"User:me"})))
    with pytest.raises(UsageError, match=r"super\.users: A has 'User:admin', B has 'User:me'"):
        read_alike([warehouse(), file()], given)
    with pytest.raises(
        UsageError, match=r"super\.users: A has 'User:admin', but 'User:me' was passed"
    ):
        read_alike([warehouse(), warehouse()], given)
    with pytest.raises(UsageError, match="was passed") as refused:
        read_alike([warehouse()], given)
    assert "--compare-settings" not in str(refused.value)


def test_options_that_say_what_the_warehouse_says_are_welcome():
    given = GivenReading(settings=GivenSettings(super_users=SUPER.super_users), preset="kafka")
    assert len(read_alike([warehouse(), file()], given)) == 2


def test_a_file_beside_a_warehouse_may_be_read_otherwise_where_that_is_asked_for():
    given = GivenReading(settings=GivenSettings(super_users=frozenset()))
    a, b = read_alike([warehouse(), file()], given, each_own=True)
    assert (a.rules.settings, b.rules.settings) == (SUPER, BrokerSettings())
    assert b.rules.semantics == KAFKA


def test_ranges_are_a_setting_in_which_sides_can_differ():
    newer = replace(KAFKA, cidr_hosts=True)
    with pytest.raises(UsageError, match="cidr_hosts: A has 'false', B has 'true'"):
        read_alike([warehouse(), warehouse(semantics=newer)], GivenReading())
    read = read_alike([warehouse(), warehouse(semantics=newer)], GivenReading(), each_own=True)
    assert [each.rules.semantics.cidr_hosts for each in read] == [False, True]
    given = GivenReading(preset="kafka", own={"cidr_hosts": True})
    for each in read_alike([file(), file()], given):
        assert each.rules.semantics == newer
        assert "semantics kafka; cidr_hosts true" in settings_words(each)


def test_of_files_alone_the_settings_are_unknown_but_for_what_options_give():
    for read in read_alike([file(), file()], NOTHING):
        assert read.settings.unknown == BOTH
        assert settings_words(read).startswith(
            "super.users unknown, taken as none; "
            "allow.everyone.if.no.acl.found unknown, taken as false; "
        )
    given = GivenReading(settings=GivenSettings(super_users=frozenset({"User:admin"})))
    for read in read_alike([file(), file()], given):
        assert read.settings.unknown == {ALLOW_EVERYONE}
        assert settings_words(read).startswith("super.users User:admin; ")


def test_a_value_with_a_placeholder_is_given_and_stays_unknown():
    given = GivenReading(settings=GivenSettings(unresolved=BOTH))
    assert given.over(State()).settings.unknown == BOTH
    some = GivenReading(settings=GivenSettings(super_users=frozenset({"User:${env:ME}"})))
    assert some.over(State(settings=SUPER)).settings.unknown == {SUPER_USERS}


def test_a_file_beside_a_warehouse_lacks_what_the_warehouse_lacks():
    for read in read_alike([warehouse(NOBODY_KNOWS), file()], NOTHING):
        assert read.settings.unknown == BOTH


def test_what_is_unknown_on_one_side_is_no_difference_from_its_default_and_is_said():
    read = read_alike([warehouse(NOBODY_KNOWS), warehouse(BrokerSettings())], NOTHING)
    said = dict(side_facts(read))
    assert "super.users unknown, taken as none" in said["settings of A"]
    assert "super.users none" in said["settings of B"]


def test_what_options_say_as_a_warehouse_took_it_is_unknown_no_more():
    given = GivenReading(settings=GivenSettings(super_users=frozenset()))
    (read,) = read_alike([warehouse(NOBODY_KNOWS)], given)
    assert read.settings.unknown == {ALLOW_EVERYONE}
    assert read.read_by == "run 1 of the warehouse"
    other = GivenReading(settings=GivenSettings(super_users=frozenset({"User:me"})))
    with pytest.raises(UsageError, match=r"super\.users: A has 'none', but 'User:me' was passed"):
        read_alike([warehouse(NOBODY_KNOWS)], other)
    a, b = read_alike([warehouse(NOBODY_KNOWS), file()], other, each_own=True)
    assert (a.settings.unknown, b.settings.unknown) == (BOTH, {ALLOW_EVERYONE})
