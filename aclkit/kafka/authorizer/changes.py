"""ACLs to create or filters to delete by → the changes, their results, and futures of these.

Source: AclControlManager of Kafka 4.4, with its order of checks, its messages and its limits. One
thread keeps the changes, in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol, TypeVar

from aclkit.errors import AclkitError
from aclkit.kafka.acls.command import command_of, kafka_acls_command
from aclkit.kafka.acls.creation import CreationRules, random_acl_id, refused_host
from aclkit.kafka.acls.options import AclOptions
from aclkit.kafka.authorizer.requests import (
    AclBindingDeleteResult,
    AclCreateResult,
    AclDeleteResult,
    AuthorizerClosedError,
    InvalidRequestError,
    PolicyViolationError,
    ReadOnlyError,
    UnsupportedVersionError,
)
from aclkit.kafka.authorizer.state import AclStore, AuthorizerState
from aclkit.model.acl import Acl
from aclkit.model.enums import AclOperation, CodedEnum, ResourceType
from aclkit.model.filter import AclBindingFilter
from aclkit.model.principal import split_principal
from aclkit.model.semantics import Semantics
from aclkit.rules.decide.index import AclIndex

MAX_RECORDS: Final = 10_000
"""More records than this no single request may make (MAX_RECORDS_PER_USER_OP)."""


@dataclass(frozen=True, slots=True)
class Creation:
    """What a request to create ACLs comes to: the new ACLs, and a result for each entry."""

    adds: tuple[Acl, ...]
    results: tuple[AclCreateResult, ...]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a request to delete ACLs comes to: the ACLs that go, and a result for each filter."""

    removes: tuple[Acl, ...]
    results: tuple[AclDeleteResult, ...]


def plan_creation(
    index: AclIndex, acls: Sequence[Acl], new_id: Callable[[], str], rules: CreationRules
) -> Creation:
    """Check each ACL, and give those that are new an id; their own ids do not count.

    What is already there, or stands in the request twice, succeeds without a record.

    Raises:
        PolicyViolationError: more than 10,000 records, so that nothing is created.
    """
    adds: dict[tuple[str, ...], Acl] = {}
    results = []
    for acl in acls:
        error = invalid_acl(acl, index.semantics) or _invalid_host(acl, rules)
        results.append(AclCreateResult(error))
        if error is None and acl.binding not in adds and not index.holds(acl):
            if len(adds) == MAX_RECORDS:
                raise PolicyViolationError("Unable to perform excessively large batch operation.")
            adds[acl.binding] = replace(acl, acl_id=new_id())
    return Creation(tuple(adds.values()), tuple(results))


def plan_deletion(index: AclIndex, filters: Sequence[AclBindingFilter]) -> Deletion:
    """Select by each filter from the state before the request; an ACL goes once.

    Raises:
        InvalidRequestError: more than 10,000 records, so that nothing is deleted.
    """
    removes: dict[str, Acl] = {}
    results = []
    for binding in filters:
        try:
            selected = _select(index, binding)
        except AclkitError as error:
            results.append(AclDeleteResult(exception=error))
            continue
        removes |= {acl.acl_id: acl for acl in selected}
        results.append(AclDeleteResult(tuple(map(AclBindingDeleteResult, selected))))
    if len(removes) > MAX_RECORDS:
        raise InvalidRequestError(
            f"Cannot remove more than {MAX_RECORDS} acls in a single delete operation."
        )
    return Deletion(tuple(removes.values()), tuple(results))


def invalid_acl(acl: Acl, semantics: Semantics) -> InvalidRequestError | None:
    """Return in Kafka's words what is wrong with a new ACL, by the first check that it fails.

    GLOB is a pattern type where it is read as one. Not checked, as in Kafka: whether the
    operation suits the resource type. The host comes last: see ``aclkit.kafka.acls.creation``.
    """
    patterns = ("LITERAL", "PREFIXED", "GLOB") if semantics.glob_patterns else _KAFKAS_PATTERNS
    message = None
    if not _is_concrete(ResourceType, acl.resource_type):
        message = f"Invalid resourceType {_kafkas(acl.resource_type)}"
    elif acl.pattern_type not in patterns:
        message = f"Invalid patternType {_kafkas(acl.pattern_type)}"
    elif not _is_concrete(AclOperation, acl.operation):
        message = f"Invalid operation {_kafkas(acl.operation)}"
    elif acl.permission_type not in ("DENY", "ALLOW"):
        message = f"Invalid permissionType {_kafkas(acl.permission_type)}"
    elif not acl.resource_name:
        message = "Resource name should not be empty"
    elif split_principal(acl.principal) is None:
        message = (
            f"Could not parse principal from `{acl.principal}` (no colon is present separating "
            "the principal type from the principal name)"
        )
    return None if message is None else InvalidRequestError(message)


def _invalid_host(
    acl: Acl, rules: CreationRules
) -> InvalidRequestError | UnsupportedVersionError | None:
    refusal = refused_host(acl.host, rules)
    if refusal is None:
        return None
    made = UnsupportedVersionError if refusal.is_of_version else InvalidRequestError
    return made(refusal.message)


_KAFKAS_PATTERNS: Final = ("LITERAL", "PREFIXED")


def _select(index: AclIndex, binding: AclBindingFilter) -> list[Acl]:
    if binding.pattern.is_unknown:
        raise InvalidRequestError("Unknown patternFilter.")
    if binding.entry.is_unknown:
        raise InvalidRequestError("Unknown entryFilter.")
    return [acl for acl in index.by_id.values() if binding.matches(acl, index.semantics)]


def _is_concrete(enum: type[CodedEnum], name: str) -> bool:
    return enum.is_known(name) and name != "ANY"


def _kafkas(name: str) -> str:
    """Return a name as a broker knows it: a code that no release has is UNKNOWN."""
    return name if name in ("ANY", "MATCH") else "UNKNOWN"


E = TypeVar("E")
R = TypeVar("R", AclCreateResult, AclDeleteResult)


class Changeable(Protocol):
    """The state that is changed."""

    def writing(self) -> AbstractContextManager[AuthorizerState]:
        """Hold back all other writers, and give the state.

        Raises:
            AuthorizerNotReadyError: they are not loaded.
        """

    def change(self, add: Sequence[Acl] = (), remove: Sequence[str] = ()) -> None:
        """Put the next state in place."""


class Mutator:
    """Carries out the requests of one authorizer, one after the other."""

    def __init__(self, target: Changeable, store: AclStore | None) -> None:
        """Take the state to change and where changes are kept; None refuses them all."""
        self._target = target
        self._store = store
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="aclkit-acl-mutator")

    def create(self, acls: Sequence[Acl]) -> list[Future[AclCreateResult]]:
        """Create ACLs: see ``Authorizer.create_acls``."""
        if self._store is None:
            # kafka-acls cannot express every ACL: then the command has only its first words.
            short = command_of("add", AclOptions())
            return [_failed(_read_only(kafka_acls_command(acl) or short)) for acl in acls]
        return self._submit(partial(self._create, self._store), acls, AclCreateResult)

    def delete(self, filters: Sequence[AclBindingFilter]) -> list[Future[AclDeleteResult]]:
        """Delete ACLs: see ``Authorizer.delete_acls``."""
        if self._store is None:
            command = command_of("remove", AclOptions())
            return [_failed(_read_only(command)) for _ in filters]
        return self._submit(
            partial(self._delete, self._store),
            filters,
            lambda error: AclDeleteResult(exception=error),
        )

    def close(self) -> None:
        """Carry out what was asked for, and take no more."""
        self._worker.shutdown(wait=True)

    def _submit(
        self,
        work: Callable[[Sequence[E]], Sequence[R]],
        entries: Sequence[E],
        failure: Callable[[Exception], R],
    ) -> list[Future[R]]:
        asked = list(entries)
        futures: list[Future[R]] = [_pending() for _ in asked]
        try:
            self._worker.submit(_carry_out, work, asked, futures, failure)
        except RuntimeError:
            return [_failed(AuthorizerClosedError("The authorizer is closed.")) for _ in asked]
        return futures

    def _create(self, store: AclStore, acls: Sequence[Acl]) -> Sequence[AclCreateResult]:
        with self._target.writing() as state:
            creation = plan_creation(state.index, acls, random_acl_id, state.creation_rules)
            if creation.adds:
                store.commit(creation.adds, ())
                self._target.change(add=creation.adds)
        return creation.results

    def _delete(
        self, store: AclStore, filters: Sequence[AclBindingFilter]
    ) -> Sequence[AclDeleteResult]:
        with self._target.writing() as state:
            deletion = plan_deletion(state.index, filters)
            if deletion.removes:
                store.commit((), deletion.removes)
                self._target.change(remove=[acl.acl_id for acl in deletion.removes])
        return deletion.results


def _carry_out(
    work: Callable[[Sequence[E]], Sequence[R]],
    entries: Sequence[E],
    futures: Sequence[Future[R]],
    failure: Callable[[Exception], R],
) -> None:
    """Give each future its result; what fails as a whole is the result of every one.

    So it is where the store fails: nothing of the request is kept then (ClusterMetadataAuthorizer).
    """
    try:
        results = work(entries)
    except Exception as error:  # noqa: BLE001 - it belongs to who waits for the futures
        results = [failure(error)] * len(entries)
    for future, result in zip(futures, results, strict=True):
        future.set_result(result)


def _pending() -> Future[R]:
    """Return a future that cannot be cancelled: others may wait for the same change."""
    future: Future[R] = Future()
    future.set_running_or_notify_cancel()
    return future


def _failed(error: Exception) -> Future[R]:
    future: Future[R] = Future()
    future.set_exception(error)
    return future


def _read_only(command: str) -> ReadOnlyError:
    return ReadOnlyError(
        "These ACLs belong to a cluster, and aclkit never writes to a cluster. Change them "
        f"there, then replay: {command}"
    )
