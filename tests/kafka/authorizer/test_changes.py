"""create_acls and delete_acls: Kafka's checks, a result for each entry, one commit for all."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from aclkit.kafka.authorizer import changes as planned
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import (
    AclCreateResult,
    AuthorizerClosedError,
    AuthorizerNotReadyError,
    InvalidRequestError,
    PolicyViolationError,
    ReadOnlyError,
)
from aclkit.kafka.authorizer.state import Loaded, MemoryStore
from aclkit.model.filter import (
    AccessControlEntryFilter,
    AclBindingFilter,
    ResourcePatternFilter,
    UnsupportedPatternTypeError,
)
from aclkit.model.semantics import KAFKA, KIP_1042
from tests.factories import acl
from tests.kafka.acls.test_creation import creation_cases
from tests.kafka.authorizer.asking import answer, context, results


class Recording:
    """A store that remembers what it was asked to keep."""

    def __init__(self, error=None):
        self.commits, self.error = [], error

    def commit(self, adds, removes):
        if self.error:
            raise self.error
        self.commits.append((tuple(adds), tuple(removes)))


@pytest.fixture
def store():
    return Recording()


@pytest.fixture
def authorizer(store):
    with Authorizer.over_acls(store=store) as made:
        yield made


def by_name(name, pattern_type="LITERAL", **fields):
    return AclBindingFilter(
        pattern=ResourcePatternFilter(resource_name=name, pattern_type=pattern_type, **fields)
    )


def created(authorizer, *acls):
    return results(authorizer.create_acls(context(), acls))


def deleted(authorizer, *filters):
    return results(authorizer.delete_acls(context(), filters))


def test_created_acls_answer_and_deleted_ones_do_not(authorizer):
    assert created(authorizer, acl()) == [AclCreateResult()]
    assert answer(authorizer) == "ALLOWED"
    (result,) = deleted(authorizer, by_name("orders"))
    assert [each.acl.resource_name for each in result.deleted] == ["orders"]
    assert (answer(authorizer), authorizer.acl_count()) == ("DENIED", 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"resource_type": "UNKNOWN"}, "Invalid resourceType UNKNOWN"),
        ({"resource_type": "ANY"}, "Invalid resourceType ANY"),
        ({"pattern_type": "UNKNOWN(9)"}, "Invalid patternType UNKNOWN"),
        ({"pattern_type": "MATCH"}, "Invalid patternType MATCH"),
        ({"operation": "UNKNOWN"}, "Invalid operation UNKNOWN"),
        ({"operation": "ANY"}, "Invalid operation ANY"),
        ({"permission_type": "UNKNOWN(7)"}, "Invalid permissionType UNKNOWN"),
        ({"permission_type": "ANY"}, "Invalid permissionType ANY"),
        ({"resource_name": ""}, "Resource name should not be empty"),
        (
            {"principal": "a"},
            "Could not parse principal from `a` (no colon is present separating the principal "
            "type from the principal name)",
        ),
        ({"resource_name": "", "operation": "ANY"}, "Invalid operation ANY"),
    ],
)
def test_a_bad_acl_is_refused_in_kafkas_words(authorizer, store, fields, message):
    (result,) = created(authorizer, replace(acl(), **fields))
    assert isinstance(result.exception, InvalidRequestError)
    assert str(result.exception) == message
    assert (authorizer.acl_count(), store.commits) == (0, [])


def test_what_kafka_does_not_check_is_created(authorizer):
    odd = [acl(operation="CREATE_TOKENS"), acl(host="not a host"), acl(principal=":")]
    assert created(authorizer, *odd) == [AclCreateResult()] * 3


@pytest.mark.parametrize(
    ("level", "cidr_hosts", "column"),
    [(32, False, 1), (33, True, 1), (31, True, 2), (None, True, 1), (None, False, 2)],
)
def test_hosts_are_created_or_refused_as_by_kafkas_controller(level, cidr_hosts, column):
    empty = Loaded(acls=(), semantics=replace(KAFKA, cidr_hosts=cidr_hosts), level=level)
    source = SimpleNamespace(load=lambda: empty)
    rows = creation_cases()
    assert len(rows) == 17
    with Authorizer(source, store=MemoryStore()) as authorizer:
        authorizer.refresh()
        found = created(authorizer, *(acl(host=row[0]) for row in rows))
    said = [_as_kafka_names(each.exception) for each in found]
    assert said == [row[column] for row in rows]


def _as_kafka_names(error):
    names = {"INVALID_REQUEST": "InvalidRequest", "UNSUPPORTED_VERSION": "UnsupportedVersion"}
    return "ok" if error is None else f"{names[error.kafka_error]}Exception: {error}"


def test_the_host_is_what_a_controller_looks_at_last(authorizer):
    (result,) = created(authorizer, acl(host="", principal="a"))
    assert "Could not parse principal" in str(result.exception)


def test_a_glob_is_a_pattern_type_where_it_is_read_as_one():
    glob = acl("a*", pattern_type="GLOB")
    found = []
    for read in (KAFKA, KIP_1042, None):
        with Authorizer.over_acls(semantics=read) as authorizer:
            found += [str(each.exception) for each in created(authorizer, glob)]
    with Authorizer.over_acls([acl("b*", pattern_type="GLOB")]) as authorizer:
        found += [str(each.exception) for each in created(authorizer, glob)]
    unknown = "Invalid patternType UNKNOWN"
    assert found == [unknown, "None", unknown, "None"]


def test_valid_acls_land_together_in_one_commit_beside_refused_ones(authorizer, store):
    found = created(authorizer, acl("a"), acl("b", operation="ANY"), acl("c"), acl("d"))
    assert [each.exception is None for each in found] == [True, False, True, True]
    ((adds, removes),) = store.commits
    assert ([each.resource_name for each in adds], removes) == (["a", "c", "d"], ())
    assert authorizer.acl_count() == 3


def test_new_acls_get_ids_of_their_own(authorizer, store):
    created(authorizer, acl("a", acl_id="mine"), acl("b", acl_id="mine"))
    ((adds, _),) = store.commits
    ids = {each.acl_id for each in adds}
    assert len(ids) == 2
    assert "mine" not in ids
    assert {len(each) for each in ids} == {22}


def test_what_is_there_already_succeeds_without_a_record(authorizer, store):
    assert created(authorizer, acl(), acl()) == [AclCreateResult()] * 2
    assert created(authorizer, acl()) == [AclCreateResult()]
    assert [len(adds) for adds, _ in store.commits] == [1]
    assert authorizer.acl_count() == 1


def test_ten_thousand_records_pass_and_one_more_fails_whole(monkeypatch, authorizer, store):
    assert planned.MAX_RECORDS == 10_000
    monkeypatch.setattr(planned, "MAX_RECORDS", 3)
    names = [acl(name) for name in ("a", "b", "c")]
    extra = [acl("a"), acl("x", operation="ANY")]
    refused = created(authorizer, *names, *extra, acl("d"))
    assert {str(each.exception) for each in refused} == {
        "Unable to perform excessively large batch operation."
    }
    assert isinstance(refused[0].exception, PolicyViolationError)
    assert (authorizer.acl_count(), store.commits) == (0, [])
    passed = created(authorizer, *names, *extra)
    assert [each.exception is None for each in passed] == [True, True, True, True, False]


def test_more_than_ten_thousand_deletions_fail_whole(monkeypatch, authorizer, store):
    created(authorizer, acl("a"), acl("b"))
    monkeypatch.setattr(planned, "MAX_RECORDS", 1)
    found = deleted(authorizer, by_name("a"), by_name("b"), by_name("none"))
    assert {str(each.exception) for each in found} == {
        "Cannot remove more than 1 acls in a single delete operation."
    }
    assert (authorizer.acl_count(), len(store.commits)) == (2, 1)


def test_overlapping_filters_each_list_the_acl_and_it_is_removed_once(authorizer, store):
    created(authorizer, acl("a"), acl("b"))
    one, all_of_it, none = deleted(authorizer, by_name("a"), by_name(None, "ANY"), by_name("x"))
    assert [each.acl.resource_name for each in one.deleted] == ["a"]
    assert sorted(each.acl.resource_name for each in all_of_it.deleted) == ["a", "b"]
    assert (none.deleted, none.exception) == ((), None)
    _, (adds, removes) = store.commits
    assert (adds, len(removes)) == ((), 2)


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (by_name("a", resource_type="UNKNOWN"), "Unknown patternFilter."),
        (by_name("a", "UNKNOWN"), "Unknown patternFilter."),
        (
            AclBindingFilter(entry=AccessControlEntryFilter(operation="UNKNOWN")),
            "Unknown entryFilter.",
        ),
        (
            AclBindingFilter(entry=AccessControlEntryFilter(permission_type="UNKNOWN")),
            "Unknown entryFilter.",
        ),
    ],
)
def test_an_unknown_filter_is_refused_and_the_others_delete(authorizer, binding, message):
    created(authorizer, acl("a"))
    refused, done = deleted(authorizer, binding, by_name("a"))
    assert (str(refused.exception), refused.deleted) == (message, ())
    assert len(done.deleted) == 1
    assert authorizer.acl_count() == 0


def test_a_match_filter_that_meets_an_unknown_pattern_says_so():
    with Authorizer.over_acls([acl("a", pattern_type="UNKNOWN(9)")]) as authorizer:
        (found,) = deleted(authorizer, by_name("ab", "MATCH"))
    assert isinstance(found.exception, UnsupportedPatternTypeError)


def test_cases_of_kafkas_delete_by_filter():
    """AclsFilter cases of the guide: {3, 4}, {1}, {3}, {}."""
    acls = [
        acl("foo-u", acl_id="1"),
        acl("foo-u", acl_id="2", operation="WRITE"),
        acl("bar-u", acl_id="3"),
        acl("bar-", acl_id="4", pattern_type="PREFIXED"),
    ]
    exact = AclBindingFilter(
        pattern=ResourcePatternFilter(
            resource_type="TOPIC", resource_name="foo-u", pattern_type="LITERAL"
        ),
        entry=AccessControlEntryFilter(
            principal="User:a", host="*", operation="READ", permission_type="ALLOW"
        ),
    )
    with Authorizer.over_acls(acls) as authorizer:
        found = deleted(
            authorizer, by_name("bar-u", "MATCH"), exact, by_name("bar-u"), by_name("baz", "ANY")
        )
        left = [each.acl_id for each in authorizer.acls()]
    ids = [sorted(each.acl.acl_id for each in result.deleted) for result in found]
    assert (ids, left) == ([["3", "4"], ["1"], ["3"], []], ["2"])


def test_a_commit_that_fails_changes_nothing_and_is_the_result_of_every_entry():
    full = OSError("disk full")
    store = Recording(full)
    with Authorizer.over_acls([acl("old")], store=store) as authorizer:
        made = created(authorizer, acl("a"), acl("b", operation="ANY"))
        gone = deleted(authorizer, by_name("old"), by_name("none"))
        assert [each.exception for each in made + gone] == [full] * 4
        assert [each.resource_name for each in authorizer.acls()] == ["old"]


def test_acls_of_a_cluster_are_read_only_and_the_error_names_the_command():
    authorizer = Authorizer()
    authorizer.complete_initial_load()
    (future,) = authorizer.create_acls(None, [acl("it's", pattern_type="PREFIXED")])
    with pytest.raises(ReadOnlyError) as refused:
        future.result(timeout=10)
    assert refused.value.exit_code == 2
    assert (
        "kafka-acls --bootstrap-server HOST:PORT --add --topic 'it'\"'\"'s' "
        "--resource-pattern-type prefixed --allow-principal User:a --operation Read"
    ) in str(refused.value)
    (future,) = authorizer.delete_acls(None, [by_name("a")])
    with pytest.raises(ReadOnlyError, match="kafka-acls --bootstrap-server HOST:PORT --remove"):
        future.result(timeout=10)


def test_before_the_acls_are_loaded_none_is_changed():
    with Authorizer(store=Recording()) as authorizer:
        (found,) = created(authorizer, acl())
    assert isinstance(found.exception, AuthorizerNotReadyError)


def test_a_closed_authorizer_takes_no_changes(authorizer):
    authorizer.close()
    (future,) = authorizer.create_acls(context(), [acl()])
    with pytest.raises(AuthorizerClosedError):
        future.result(timeout=10)


def test_no_entries_have_no_results(authorizer):
    assert authorizer.create_acls(context(), []) == []
    assert authorizer.delete_acls(context(), []) == []


def test_a_filter_with_unknown_lists_nothing(authorizer):
    with pytest.raises(InvalidRequestError, match="must not contain UNKNOWN"):
        authorizer.acls(by_name("a", "UNKNOWN"))
