"""A warehouse and an address → a server of its pages, each of one published run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import duckdb
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from aclkit.audit.serve.answers import PAGES, Answers, Handler
from aclkit.audit.serve.auth import LARGEST_POST, Auth
from aclkit.audit.serve.clusters import cluster_rows
from aclkit.audit.serve.listening import Prepared, Serving, listen
from aclkit.audit.serve.middleware import DECIDER, SESSION, SIGN_OUT, AuthMiddleware
from aclkit.audit.serve.page import Given, Page, assets, href, render
from aclkit.audit.serve.reviews import DECIDE, REVIEW, REVIEWS, ReviewDesk
from aclkit.audit.serve.snapshot import LatestSnapshot, Reading, Snapshot, open_latest
from aclkit.audit.serve.workers import Limits, Workers
from aclkit.errors import AclkitError, SurroundingsError, UsageError
from aclkit.warehouse.published import as_of, notes_on_state

LONGEST_FIELD: Final = 4_096
MOST_FIELDS: Final = 20


def make_app(
    latest: LatestSnapshot,
    door: Auth,
    answers: Answers,
    cluster: str | None,
    limits: Limits,
    desk: ReviewDesk | None = None,
) -> ASGIApp:
    """Return the application.

    Args:
        latest: the warehouse.
        door: who may come in.
        answers: the pages.
        cluster: the only one that is served, where it is named.
        limits: of one request.
        desk: takes decisions of reviews; without it no page writes.
    """
    site = _Site(latest, answers, cluster, limits, desk)
    routes = [Route(path, partial(site.answer, handler)) for path, handler in PAGES.items()]
    routes.append(Route("/preview", partial(site.post, Answers.outcome), methods=["POST"]))
    paths = [*PAGES, *assets(), SIGN_OUT]
    if desk is not None:
        routes += _desk_routes(site, desk)
        paths += [REVIEWS, REVIEW, DECIDE]
    routes += [Route(path, partial(_asset, *asset)) for path, asset in assets().items()]
    app = Starlette(routes=routes, exception_handlers={404: _lost})
    return AuthMiddleware(app, door, frozenset(paths))


def _desk_routes(site: _Site, desk: ReviewDesk) -> list[Route]:
    """Return the pages of reviews; only the last one writes, and only by POST."""

    async def review(request: Request) -> Response:
        return await site.answer(partial(_for_user, desk.review, request), request)

    async def decide(request: Request) -> Response:
        return await site.post(partial(_for_user, desk.decide, request), request)

    return [
        Route(REVIEWS, partial(site.answer, _of_desk(desk.reviews))),
        Route(REVIEW, review),
        Route(DECIDE, decide, methods=["POST"]),
    ]


def _of_desk(make: Callable[[Reading], Page]) -> Handler:
    return lambda _answers, reading, _given: make(reading)


def _for_user(
    make: Callable[[Reading, Given, str | None], Page],
    request: Request,
    _: Answers,
    reading: Reading,
    given: Given,
) -> Page:
    """Make a page for the user whom the proxy names."""
    return make(reading, given, request.scope.get(DECIDER))


class _Site:
    """What all pages share."""

    def __init__(
        self,
        latest: LatestSnapshot,
        answers: Answers,
        cluster: str | None,
        limits: Limits,
        desk: ReviewDesk | None,
    ) -> None:
        self._latest, self._answers, self._cluster = latest, answers, cluster
        self._has_reviews = desk is not None
        self._names = {
            latest.warehouse: "this warehouse",
            str(latest.snapshot().published.place): "this warehouse",
            **({} if desk is None else {str(desk.root): "the folder of reviews"}),
        }
        self._workers = Workers(limits)

    async def answer(self, handler: Handler, request: Request) -> Response:
        """Answer a question of an address."""
        return await self._make(request, handler, request.scope["query_string"])

    async def post(self, handler: Handler, request: Request) -> Response:
        """Answer a form; a body that is longer than it said is not read."""
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_POST:
                    return HTMLResponse("", 413)
        except ClientDisconnect:
            return HTMLResponse("", 400)
        return await self._make(request, handler, body)

    async def _make(self, request: Request, handler: Handler, given: bytes) -> Response:
        path = request.url.path
        sign_out = SIGN_OUT if request.scope.get(SESSION) else ""
        work = partial(self._work, path, handler, given, sign_out)
        try:
            return await self._workers.run(self._latest.snapshot, work)
        except AclkitError as error:
            status = 503 if isinstance(error, SurroundingsError) else 400
            return HTMLResponse(_error_page(path, self._words(error)), status)

    def _words(self, error: AclkitError) -> str:
        """Return an error for users, whom the places of this machine do not concern."""
        found = str(error)
        for place, name in self._names.items():
            found = found.replace(place, name)
        return found

    def _work(
        self,
        path: str,
        handler: Handler,
        given: bytes,
        sign_out: str,
        snapshot: Snapshot,
        tables: duckdb.DuckDBPyConnection,
    ) -> Response:
        """Ask and render, in a thread of its own: all of it is of one run."""
        reading: Reading | None = None
        status, asked = 200, dict[str, str]()
        try:
            asked = _fields(given)
            wanted = asked.get("cluster") or self._cluster
            if self._cluster is not None and (asked.get("with") or wanted) != self._cluster:
                # Of others nothing is told where one is served.
                raise UsageError(f"This server has only cluster {self._cluster}.")
            if path == "/" and wanted is None and len(snapshot.published.clusters) > 1:
                return self._all_clusters(snapshot, tables)
            reading = Reading.chosen(snapshot, tables, wanted, self._cluster)
            page = handler(self._answers, reading, asked)
        except UsageError as error:
            several = self._cluster is None and len(snapshot.published.clusters) > 1
            clusters = snapshot.published.clusters if several and reading is None else ()
            page, status = Page("error", {"message": self._words(error), "offered": clusters}), 400
        if reading is None:
            return HTMLResponse(_error_page(path, **page.holds), status)
        link = partial(_link, reading, is_only=self._cluster is not None)
        if place := page.leads_to:
            cluster = link("").replace("?", "&" if "?" in place else "?")
            return RedirectResponse(place + cluster, 303)
        head = self._head(reading) | {"link": link, "path": path, "q": asked.get("q", "")}
        head["sign_out"] = sign_out
        return HTMLResponse(render(page.name, **head, **page.holds), status)

    def _all_clusters(self, snapshot: Snapshot, tables: duckdb.DuckDBPyConnection) -> Response:
        """Return the first page of a warehouse of several clusters: a row for each."""
        rows = cluster_rows(
            snapshot,
            tables,
            self._answers.summary,
            lambda state: state.is_older(self._answers.max_age),
        )
        return HTMLResponse(render("clusters", rows=list(rows), **_NO_RUN, path="/"))

    def _head(self, reading: Reading) -> dict[str, Any]:
        """Return what stands at the top of every page: which run it is of, and what it misses."""
        summary, run = self._answers.summary(reading), reading.run
        stands_on = as_of(reading.published, run)
        return {
            "cluster": reading.cluster_id,
            "clusters": reading.published.clusters if self._cluster is None else (),
            "run": run,
            "as_of": str(stands_on),
            "is_old": stands_on.is_older(self._answers.max_age),
            "state_notes": tuple(notes_on_state(reading.published, run)),
            "finding_count": len(summary.findings),
            "change_count": summary.access_changes,
            "has_reviews": self._has_reviews,
        }


def _link(reading: Reading, path: str, *, is_only: bool, **given: str | int | None) -> str:
    """Return the address of a page of the same cluster; it is named where there are several."""
    several = not is_only and len(reading.published.clusters) > 1
    return href(path, **given, **({"cluster": reading.cluster_id} if several else {}))


def _fields(given: bytes) -> dict[str, str]:
    """Read the fields of an address or a form.

    Raises:
        UsageError: there are too many, one is too long, or it is no UTF-8.
    """
    try:
        pairs = parse_qsl(
            given.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError as error:
        raise UsageError(
            f"Invalid address or form: {error}. Fields are UTF-8, at most {MOST_FIELDS}."
        ) from None
    for name, value in pairs:
        if len(value) > LONGEST_FIELD or "\0" in value:
            raise UsageError(
                f"Invalid {name[:40]!r}: at most {LONGEST_FIELD:,} characters and no NUL."
            )
    return dict(pairs)


def _error_page(path: str, message: str, offered: tuple[str, ...] = ()) -> str:
    """Return a page that is of no run."""
    return render("error", message=message, offered=offered, **_NO_RUN, path=path)


_NO_RUN: Final[dict[str, Any]] = {
    "clusters": (), "cluster": None, "run": None, "state_notes": (), "link": href, "q": "",
    "sign_out": "",
}  # fmt: skip
"""The head of a page that is of no run."""


def _asset(kind: str, text: str, _: Request) -> Response:
    return Response(text, media_type=kind)


def _lost(_: Request, __: Exception) -> Response:
    return HTMLResponse(_error_page("", "This page does not exist."), 404)


def prepare(serving: Serving, answers: Answers, limits: Limits) -> Prepared:
    """Open the warehouse and take the address.

    Raises:
        UsageError: an option makes no sense, or nothing is published.
        SurroundingsError: the address is taken, or the warehouse cannot be read.
    """
    latest = open_latest(serving.warehouse, serving.cluster)
    folder = None if serving.reviews is None else _folder(serving.reviews)

    def behind(door: Auth) -> ASGIApp:
        desk = None if folder is None else ReviewDesk(folder, door)
        return make_app(latest, door, answers, serving.cluster, limits, desk)

    return listen(serving, behind)


def _folder(path: str) -> Path:
    """Return the folder of reviews.

    Raises:
        UsageError: there is none.
    """
    if not Path(path).is_dir():
        raise UsageError(
            f"--reviews {path}: this folder does not exist. Next: aclkit review start --by NAME"
        )
    return Path(path)
