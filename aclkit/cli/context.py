"""The options that all commands share, the tables that they open, and how they write answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from aclkit.answer.formats import FORMATS, PROGRAMS, TABLE
from aclkit.cli.options import F, option, together
from aclkit.cli.output import Reader, deliver, layout_of, reader_of, tell, tell_all
from aclkit.errors import UsageError
from aclkit.model.values import dataclass
from aclkit.warehouse.location import Location

if TYPE_CHECKING:
    import duckdb

    from aclkit.answer.document import Answer
    from aclkit.answer.text import Layout
    from aclkit.questions import read_state
    from aclkit.questions.query.decisions import Where
    from aclkit.questions.state import State
    from aclkit.warehouse.job_run import PublishedRun
    from aclkit.warehouse.published import AsOf, Published

_EVERYTHING: Final[Mapping[str, Mapping[str, str]]] = {}


@dataclass(slots=True, kw_only=True)
class Context:
    """The values of the options that commands share.

    Attributes:
        warehouse: folder or URI of the Delta tables.
        cluster: the selected cluster, where one was named.
        verbose: show the output of Spark and Ivy.
        output_format: how an answer is written.
        output: the file that it is written to; stdout if not given.
        wide: tables with all columns, each row on one line.
        no_limit: all rows, on a terminal too.
        columns: the columns of rows that are wanted; all if none is named.
        known_only: a question is answered only if an inventory knows its names.
        is_reached: the warehouse is on an object store, which has answered.
        max_age: an answer from older runs comes with a warning.
        standing: the runs that the answer is based on.
    """

    warehouse: str | None = None
    cluster: str | None = None
    verbose: bool = False
    output_format: str = TABLE
    output: str | None = None
    wide: bool = False
    no_limit: bool = False
    columns: tuple[str, ...] = ()
    known_only: bool = False
    is_reached: bool = False
    max_age: timedelta | None = None
    standing: list[AsOf] = field(default_factory=list)

    def require_warehouse(self, *, to_write: bool = True) -> str:
        """Return the warehouse.

        Raises:
            UsageError: none was named, its URI holds a password, which is not shown, or no run can
                write there.
        """
        if not self.warehouse:
            raise _none_named()
        place = Location(self.warehouse)
        if not place.is_remote:
            return str(Path(self.warehouse).resolve())
        if to_write:
            place.require_writable()
        self.reach(place)
        return place.text

    def asked_warehouse(self) -> str:
        """Return the warehouse that a question is about: named, or found where it is asked.

        Raises:
            UsageError: neither.
        """
        if (warehouse := self.find_warehouse()) is None:
            raise _none_named()
        self.reach(Location(warehouse))
        return warehouse

    def find_warehouse(self) -> str | None:
        """Return the warehouse that was named, or found where it is asked; None if neither."""
        if self.warehouse is not None:
            return self.warehouse
        # Here, for what reads files of settings is not needed where a warehouse is named.
        from aclkit.cli.settings import find
        from aclkit.runtime.storage_settings import storage_said

        if (found := find(click.get_current_context())) is not None:
            click.get_current_context().with_resource(storage_said(found.storage, found.where))
            self.warehouse, self.cluster = found.warehouse, self.cluster or found.cluster
            self.max_age = self.max_age or found.max_age
            tell(found.words)
        return self.warehouse

    def reach(self, place: Location) -> None:
        """Insist once that an object store answers: who reads it would try for minutes."""
        if place.is_remote and not self.is_reached:
            from aclkit.runtime.reachable import require_reachable

            require_reachable(place.text)
            self.is_reached = True

    # What opens tables and what writes answers is imported late: help needs none of it.

    @contextmanager
    def open(self, holding: Mapping[str, Mapping[str, str]] = _EVERYTHING) -> Iterator[Opened]:
        """Open what is published; ``holding``: see ``duck.connect``."""
        from aclkit.warehouse.duck import open_tables
        from aclkit.warehouse.published import resolve_cluster

        with open_tables(self.asked_warehouse(), holding) as (published, connection):
            cluster_id = resolve_cluster(published, self.cluster)
            decided = published.last_materialize(cluster_id)
            self.stand_on(published, decided or published.last_run(cluster_id))
            yield Opened(published, cluster_id, connection)

    def stand_on(self, published: Published, run: PublishedRun) -> None:
        """Note the run that the answer is of; it takes the place of one that was noted before."""
        from aclkit.warehouse.published import as_of

        self.standing = [as_of(published, run)]

    def stand_on_states(self, *states: State) -> None:
        """Note the states that the answer is of."""
        self.standing = [each.as_of for each in states if each.as_of is not None]

    @property
    def layout(self) -> Layout:
        """How tables are laid out."""
        return layout_of(self.output, is_wide=self.wide, has_limit=not self.no_limit)

    def write(self, answer: Answer) -> None:
        """Write an answer in the format that was chosen, to stdout or the file that was.

        Where rows alone are written, what they do not hold goes to stderr.

        Raises:
            UsageError: columns are chosen that the rows have not, or of what has no rows.
        """
        from aclkit.answer.render import Form, is_rows, render

        if is_rows(answer, self.output_format):
            tell_all(answer.beside_rows())
        form = Form(columns=self.columns, layout=self.layout, stamp=self._stamp())
        self.deliver(render(answer, self.output_format, form))

    def deliver(self, lines: Iterable[str], reader: Reader | None = None) -> None:
        """Write lines to stdout, or to the file that was chosen; last the run that they are of.

        They are for whom the format is, unless ``reader`` is named.
        """
        reader = reader or reader_of(self.output_format)
        deliver(lines, self.output, reader, may_page=self.output_format == TABLE)
        self._tell_standing()

    def _stamp(self) -> tuple[object, ...]:
        """Return time and offset of the run that an answer stands on, of several the oldest."""
        known = [each for each in self.standing if each.time is not None] or self.standing
        oldest = min(known, key=lambda each: (each.time is None, each.time), default=None)
        return () if oldest is None else (oldest.time, oldest.offset)

    def _tell_standing(self) -> None:
        """Print the age of an answer on stderr: for people always, for programs if it is old."""
        most = self.max_age or timedelta(days=1)
        for each in dict.fromkeys(self.standing):
            if warning := each.warning(most):
                tell(f"warning: {warning}")
            elif self.output_format not in PROGRAMS:
                tell(str(each))


def _none_named() -> UsageError:
    from aclkit.cli.settings import none_named

    return none_named()


@dataclass(frozen=True, slots=True)
class Opened:
    """A warehouse that was opened for a question about one cluster."""

    published: Published
    cluster_id: str
    tables: duckdb.DuckDBPyConnection

    @property
    def where(self) -> Where:
        """Where a question is asked: its first arguments."""
        from aclkit.questions.query.decisions import Where

        return Where(self.tables, self.published, self.cluster_id)

    @property
    def source(self) -> read_state.Opened:
        """The published decisions, as ``read_state`` takes them."""
        from aclkit.questions.read_state import Opened as Source

        return Source(self.tables, self.published, self.run)

    @property
    def run(self) -> PublishedRun:
        """The run whose decisions are published."""
        from aclkit.warehouse.published import deciding_run

        return deciding_run(self.published, self.cluster_id)


def tell_state(published: Published, run: PublishedRun) -> None:
    """Print on stderr that the log has gone on since a run, or that the run is incomplete."""
    from aclkit.warehouse.published import notes_on_state

    tell_all(notes_on_state(published, run))


def keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    """Keep the value of an option under its name, if there is one; a callback for click."""
    if value is not None:
        setattr(ctx.ensure_object(Context), str(param.name), value)


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def kept(name: str, text: str, *more: str, **settings: object) -> Callable[[F], F]:
    """Declare an option that the context keeps, so that no command takes it."""
    return option(name, *more, help=text, expose_value=False, **{"callback": keep, **settings})


def _keep_format(ctx: click.Context, param: click.Parameter, value: str) -> None:
    """Keep ``--format``; ``-o json`` wins over a default or the environment."""
    context = ctx.ensure_object(Context)
    if (short := ctx.meta.get(_SHORT_FORMAT)) is None:
        context.output_format = value
    elif _is_typed(ctx, param) and value != short:
        raise UsageError(f"Two formats: -o {short} and --format {value}. Pass one.")


def _keep_file_or_format(names: Sequence[str]) -> Callable[..., None]:
    """Return a callback of ``-o``: one of ``names`` is a format, all else a file."""

    def keep_each(ctx: click.Context, _: click.Parameter, values: Sequence[str]) -> None:
        context = ctx.ensure_object(Context)
        for value in values:
            if value in names:
                context.output_format = ctx.meta[_SHORT_FORMAT] = value
            else:
                context.output = value

    return keep_each


def _is_typed(ctx: click.Context, param: click.Parameter) -> bool:
    return ctx.get_parameter_source(str(param.name)) == ParameterSource.COMMANDLINE


_SHORT_FORMAT: Final = "aclkit.cli.context.short_format"


def formats(*names: str, default: str = TABLE, text: str) -> Callable[[F], F]:
    """Return ``--format`` of some formats, and how it is shown; ``Context.write`` follows them."""
    return together(
        # Before --format, whose value depends on it.
        kept(
            "-o",
            f"Format ({', '.join(names)}), or else the file to write.",
            "short_output",
            metavar="FORMAT|FILE",
            multiple=True,
            is_eager=True,
            envvar=None,
            callback=_keep_file_or_format(names),
        ),
        kept(
            "--format",
            text,
            "output_format",
            type=click.Choice(names),
            default=default,
            callback=_keep_format,
        ),
        kept("--wide", "Show all columns, each row on one line.", is_flag=True),
        kept("--no-limit", "Show all rows on a terminal too.", is_flag=True),
        kept(
            "--columns",
            "Show only these columns, named as in --format csv.",
            metavar="NAME,…",
            type=_names,
        ),
        # Not from the environment: there it is where an export goes.
        kept("--output", "File to write. Default: stdout.", metavar="FILE", envvar=None),
    )


format_option = formats(*FORMATS, text="Output format.")
_ENGINES: Final = click.Choice(["duckdb", "spark"])


def _tell_engine_is_ignored(ctx: click.Context, param: click.Parameter, _: str | None) -> None:
    """Name an option of older versions, unless it comes from settings."""
    if _is_typed(ctx, param):
        tell("note: --engine is ignored. DuckDB answers. For Spark see aclkit export views -h.")


retired_engine_option = option(
    "--engine", type=_ENGINES, hidden=True, expose_value=False, callback=_tell_engine_is_ignored
)
