"""Kafka's Authorizer: requests and actions → ALLOWED or DENIED; ACLs to create or delete → results.

Sources: KIP-504 (the interface), KIP-801 (loading), StandardAuthorizer and
ClusterMetadataAuthorizer of Kafka 4.1. The rules are those of ``decide``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, Self

from aclkit.errors import UsageError
from aclkit.kafka.authorizer.audit import Wording, write_audit_line
from aclkit.kafka.authorizer.changes import Mutator
from aclkit.kafka.authorizer.requests import (
    AclCreateResult,
    AclDeleteResult,
    Action,
    AuthorizationResult,
    AuthorizerClosedError,
    Endpoint,
    InvalidRequestError,
    RequestContext,
    ServerInfo,
)
from aclkit.kafka.authorizer.state import (
    AclSource,
    AclStore,
    AuthorizerState,
    Config,
    MemoryStore,
    parse_config,
)
from aclkit.model.acl import Acl, Request, TypeRequest
from aclkit.model.filter import AclBindingFilter
from aclkit.model.resource import Resource
from aclkit.model.semantics import KAFKA, AskedReading, BrokerSettings, Semantics
from aclkit.rules.decide.any_of_type import (
    HARDCODED_NAME,
    authorize_any,
    check_concrete,
    reads_as_kafka,
)
from aclkit.rules.decide.index import AclIndex
from aclkit.rules.decide.order import standard_acl_key
from aclkit.rules.decide.rules import ALLOWED, Ruling

log = logging.getLogger(__name__)


class Authorizer:
    """Answers requests by ACLs, as a broker does, and takes changes of the ACLs.

    The ACLs come from a list (``over_acls``), from a warehouse (``over_warehouse``), or from code
    that replays a log and calls ``load_snapshot``, ``add_acl``, ``remove_acl`` and, at the high
    watermark, ``complete_initial_load``.

    All methods may be called from any thread. A reader has one state from beginning to end; a
    writer makes the next one and puts it in place at once. Writers wait for each other.
    """

    def __init__(
        self,
        source: AclSource | None = None,
        *,
        store: AclStore | None = None,
        semantics: Semantics | None = None,
        wording: Wording = Wording.SINCE_4_2,
        poll_seconds: float = 1.0,
    ) -> None:
        """Make an authorizer that has no ACLs yet.

        Args:
            source: where ``start`` gets the ACLs from.
            store: where created and deleted ACLs are kept; without one they are refused.
            semantics: how ACLs are read; by default as in the source, else as in Kafka.
            wording: how the audit log writes ACLs.
            poll_seconds: how long to wait before the source is asked again, while it has not
                replayed to its high watermark.
        """
        self._source = source
        self._semantics = semantics
        self._wording = wording
        self._poll_seconds = poll_seconds
        self._state = AuthorizerState(
            index=AclIndex.of((), semantics or KAFKA), config=Config(), known=BrokerSettings()
        )
        self._writing = threading.RLock()
        self._loaded: Future[None] = Future()
        self._loaded.set_running_or_notify_cancel()  # all endpoints share it: none can cancel it
        self._is_told = False
        self._loader: threading.Thread | None = None
        self._closed = threading.Event()
        self._mutator = Mutator(self, store)

    @classmethod
    def over_acls(
        cls,
        acls: Iterable[Acl] = (),
        *,
        semantics: Semantics | None = None,
        store: AclStore | None = None,
        wording: Wording = Wording.SINCE_4_2,
    ) -> Authorizer:
        """Make an authorizer over a list of ACLs: it is whole, so it is ready at once.

        By default ACLs are read as Kafka does, and by KIP-1042 where one of them is a GLOB.
        """
        known = list(acls)
        read = semantics or _auto_semantics(known)
        made = cls(store=store or MemoryStore(), semantics=read, wording=wording)
        made.load_snapshot(known)
        made.complete_initial_load()
        return made

    # What a broker calls (KIP-504).

    def configure(self, configs: Mapping[str, object]) -> None:
        """Take super.users, allow.everyone.if.no.acl.found, early.start.listeners and node.id.

        May be called again at any time: the next answer follows it. Over a warehouse a setting
        that is not passed has the value under which the warehouse was decided.

        Raises:
            UsageError: a super user without a colon; the configuration stays as it was.
        """
        config = parse_config(configs)
        with self._writing:
            self._state = replace(self._state, config=config)
        settings = self._state.settings
        log.info(
            "[StandardAuthorizer %s] set super.users=%s, default result=%s",
            config.node_id,
            ",".join(sorted(settings.super_users)),
            "ALLOWED" if settings.allow_everyone else "DENIED",
        )

    def start(self, server_info: ServerInfo) -> dict[Endpoint, Future[None]]:
        """Begin to load, and return for each endpoint what is done when it may open.

        Early-start listeners may open at once; all others when the ACLs are replayed to the high
        watermark (KIP-801).
        """
        early = server_info.early_start_listeners | self._state.config.early_start_listeners
        opened: Future[None] = Future()
        opened.set_result(None)
        with self._writing:
            if self._source is not None and self._loader is None and not self._closed.is_set():
                self._loader = threading.Thread(
                    target=self._load, args=(self._source,), name="aclkit-authorizer", daemon=True
                )
                self._loader.start()
        return {
            endpoint: opened if endpoint.listener_name in early else self._loaded
            for endpoint in server_info.endpoints
        }

    def authorize(
        self, context: RequestContext, actions: Sequence[Action]
    ) -> list[AuthorizationResult]:
        """Answer each action, in their order, by one state of the ACLs; log each answer.

        Raises:
            AuthorizerNotReadyError: the ACLs are not loaded and this is no super user.
            UsageError: an action is about another pattern type than LITERAL.
        """
        state = self._state
        return [AuthorizationResult(self._answer(state, context, one).decision) for one in actions]

    def authorize_by_resource_type(
        self, context: RequestContext, operation: str, resource_type: str
    ) -> AuthorizationResult:
        """Whether some resource of a type is open to the requester.

        Under ``kafka`` as Kafka does, with its log line about the resource ``hardcode``; where
        ACLs are read otherwise, as KIP-1042 wants it (``decide.any_of_type``).

        Raises:
            AuthorizerNotReadyError: the ACLs are not loaded and this is no super user.
            UsageError: operation or resource type is ANY or unknown.
            BadAclPrincipalError: under ``kafka``, see ``decide.any_of_type``.
            TooHardError: otherwise, see ``decide.any_of_type``: a caller refuses then.
        """
        check_concrete(operation, resource_type)
        state = self._state
        action = Action(
            operation=operation,
            resource_type=resource_type,
            resource_name=HARDCODED_NAME,
            resource_reference_count=0,
            log_if_denied=False,
        )
        who = str(context.principal)
        request = TypeRequest(who, context.client_address, operation, resource_type)
        semantics = state.index.semantics
        if not reads_as_kafka(semantics):
            state.check_loaded(who)
        elif self._answer(state, context, action).decision == ALLOWED:
            return AuthorizationResult.ALLOWED
        acls = state.index.of_type(resource_type)
        return AuthorizationResult(authorize_any(acls, request, state.settings, semantics))

    def create_acls(
        self, context: RequestContext | None, acls: Sequence[Acl]
    ) -> list[Future[AclCreateResult]]:
        """Create ACLs; their ids do not count, each new one gets an id of its own.

        Each entry has a result, with Kafka's message where it is refused. The valid ones take
        effect together, in one commit of the store; more than 10,000 fail as a whole. Without a
        store the futures themselves fail, with ``ReadOnlyError``.
        """
        return self._mutator.create(acls)

    def delete_acls(
        self, context: RequestContext | None, filters: Sequence[AclBindingFilter]
    ) -> list[Future[AclDeleteResult]]:
        """Delete the ACLs that each filter selects of those that were there before the request.

        Results, limits and failures are as in ``create_acls``.
        """
        return self._mutator.delete(filters)

    def acls(self, binding: AclBindingFilter | None = None) -> list[Acl]:
        """Return the ACLs that a filter selects, or all, in StandardAcl's order.

        Raises:
            InvalidRequestError: the filter holds UNKNOWN.
            UnsupportedPatternTypeError: a MATCH filter met a pattern type that it cannot read.
        """
        index = self._state.index
        if binding is None:
            return sorted(index.by_id.values(), key=standard_acl_key)
        if binding.is_unknown:
            raise InvalidRequestError("The AclBindingFilter must not contain UNKNOWN elements.")
        selected = (acl for acl in index.by_id.values() if binding.matches(acl, index.semantics))
        return sorted(selected, key=standard_acl_key)

    def acl_count(self) -> int:
        """Return how many ACLs there are: Kafka's metric AclCount."""
        return len(self._state.index.by_id)

    def close(self) -> None:
        """End loading and writing; who still waits for the initial load gets an error."""
        self._closed.set()
        self.complete_initial_load(
            AuthorizerClosedError(
                "The authorizer was closed before the initial load could complete."
            )
        )
        self._mutator.close()
        if self._loader not in (None, threading.current_thread()):
            self._loader.join(_PATIENCE)

    def __enter__(self) -> Self:
        """Return the authorizer; it is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # What a replayer of the log calls (ClusterMetadataAuthorizer).

    def load_snapshot(self, acls: Iterable[Acl]) -> None:
        """Put a whole state in the place of what was known, at once or not at all.

        Raises:
            AclIdError: two have the same id; the state before stays.
        """
        index = AclIndex.of(acls, self._semantics or self._state.index.semantics)
        with self._writing:
            self._state = replace(self._state, index=index)

    def add_acl(self, acl: Acl) -> None:
        """Add one ACL of the log; the next request is answered with it.

        Raises:
            AclIdError: its id is there already.
        """
        self.change(add=[acl])

    def remove_acl(self, acl_id: str) -> None:
        """Remove one ACL, as a record of the log does.

        Raises:
            AclIdError: there is none with this id.
        """
        self.change(remove=[acl_id])

    def complete_initial_load(self, error: BaseException | None = None) -> None:
        """Take note that the ACLs are replayed to the high watermark, or never will be."""
        with self._writing:
            is_first, self._is_told = not self._is_told, True
            if error is None:
                self._state = replace(self._state, is_loaded=True)
        if is_first and error is None:
            log.info("Completed initial ACL load process.")
            self._loaded.set_result(None)
        elif is_first:
            self._loaded.set_exception(error)

    # What this authorizer has beyond Kafka's.

    def decide(self, request: Request) -> Ruling:
        """Decide a request with its rule and deciding ACL, and log nothing.

        Raises:
            AuthorizerNotReadyError: the ACLs are not loaded and this is no super user.
        """
        return self._state.decide(request)

    def refresh(self) -> int | None:
        """Load the newest state of the source, and return its offset.

        Raises:
            UsageError: there is no source.
        """
        if self._source is None:
            raise UsageError("Expected an authorizer with a source of ACLs, this one has none")
        return self._take(self._source)

    @contextmanager
    def writing(self) -> Iterator[AuthorizerState]:
        """Hold back all other writers, and give the state.

        Raises:
            AuthorizerNotReadyError: they are not loaded.
        """
        with self._writing:
            self._state.check_loaded("a change of ACLs")
            yield self._state

    def change(self, add: Sequence[Acl] = (), remove: Sequence[str] = ()) -> None:
        """Remove ACLs by id and add others, at once or not at all.

        Raises:
            AclIdError: an id to remove is not there, or one to add is.
        """
        with self._writing:
            index = self._state.index.changed(add=add, remove=remove)
            self._state = replace(self._state, index=index)

    def _answer(self, state: AuthorizerState, context: RequestContext, action: Action) -> Ruling:
        if action.pattern_type != "LITERAL":
            raise UsageError(f"Only literal resources are supported. Got: {action.pattern_type}")
        ruling = state.decide(_request(context, action))
        knows_globs = state.index.semantics.glob_patterns
        write_audit_line(context, action, ruling, self._wording, knows_globs=knows_globs)
        return ruling

    def _load(self, source: AclSource) -> None:
        """Load until the source has replayed to its high watermark."""
        try:
            while not self._closed.is_set():
                self._take(source)
                if self._state.is_loaded:
                    return
                self._closed.wait(self._poll_seconds)
        except Exception as error:  # noqa: BLE001 - it belongs to who waits for the futures
            log.error("Failed to complete initial ACL load process: %s", error)
            self.complete_initial_load(error)

    def _take(self, source: AclSource) -> int | None:
        with self._writing:
            loaded = source.load()
            semantics = self._semantics or loaded.semantics or _auto_semantics(loaded.acls)
            index = AclIndex.of(loaded.acls, semantics)
            self._state = replace(
                self._state, index=index, known=loaded.settings, level=loaded.level
            )
        if loaded.is_caught_up:
            self.complete_initial_load()
        return loaded.offset


_PATIENCE: Final = 5.0
"""Seconds to wait for the loading thread when the authorizer is closed."""


def _auto_semantics(acls: Iterable[Acl]) -> Semantics:
    return AskedReading().taken(has_glob=any(acl.pattern_type == "GLOB" for acl in acls))


def _request(context: RequestContext, action: Action) -> Request:
    resource = Resource(action.resource_type, action.resource_name)
    return Request.of(str(context.principal), context.client_address, action.operation, resource)
