"""ACLs to create, filters to delete by → futures; one thread keeps the changes, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Protocol, TypeVar

from aclkit.kafka.acls.command import command_of, kafka_acls_command
from aclkit.kafka.acls.new import random_acl_id
from aclkit.kafka.acls.options import AclOptions
from aclkit.kafka.authorizer.changes import plan_creation, plan_deletion
from aclkit.kafka.authorizer.errors import AuthorizerClosedError, ReadOnlyError
from aclkit.kafka.authorizer.requests import AclCreateResult, AclDeleteResult
from aclkit.kafka.authorizer.state import AuthorizerState
from aclkit.kafka.authorizer.store import AclStore
from aclkit.model.acl import Acl
from aclkit.model.filter import AclBindingFilter

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
