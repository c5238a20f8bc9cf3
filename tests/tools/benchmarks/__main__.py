"""``python -m tests.tools.benchmarks B1 …``: decide clusters of given sizes and print what it took.

Progress goes to stderr; stdout has a table and a line of JSON of each. Ratios are of one run on
one machine.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from pyspark.sql import SparkSession

from aclkit.model.semantics import KIP_1042
from aclkit.runtime.spark import build_session
from tests.tools.benchmarks import measure, replay
from tests.tools.benchmarks.authorizer_benchmark import B3, B3_WIDE
from tests.tools.benchmarks.clusters import SKEWS, build
from tests.tools.benchmarks.shapes import B1, B2, B2G, S10, S30, S100, Cluster, Shape
from tests.tools.benchmarks.warehouse import options_for, write_acls
from tests.tools.benchmarks.watching import Peaks, held

Row = dict[str, Any]
SHAPES = {shape.name: shape for shape in (B1, B2, B2G, B3, B3_WIDE, S10, S30, S100)}
QUICK = ("B1",)
FULL = ("B1", "dense", "again", "B2", "B2g", "B3", "B3-wide", "R1", "growth", "skew", "ranges")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--principals", type=int, help="Another number of principals.")
@click.option("--resources", type=int, help="Another number of topics.")
@click.option("--acls", type=int, help="Another number of ACLs.")
@click.option("--hosts", type=int, help="Another number of hosts.")
@click.option("--ranges", type=int, default=500, show_default=True, help="For `ranges`.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--seconds", type=float, default=10.0, show_default=True, help="For Kafka's loop.")
@click.option("--records", type=int, default=5_000_000, show_default=True, help="Of R1.")
@click.option("--warm", type=int, help="Runs before the measured one; 8 for B1, 1 for others.")
@click.option("--quick", is_flag=True, help="What `make bench` runs.")
@click.option("--full", is_flag=True, help="What `make bench-full` runs.")
@click.option("--json", "only_json", is_flag=True, help="JSON lines only, no tables.")
def main(names: tuple[str, ...], *, quick: bool, full: bool, only_json: bool, **given: Any) -> None:
    """Run benchmarks: B1 B2 B2g B3 B3-wide S10 S30 S100 dense again R1 growth skew ranges."""
    chosen = names or (FULL if full else QUICK if quick else ())
    if not chosen:
        raise click.UsageError(f"name some of {', '.join(FULL)}, or say --quick or --full")
    for name in chosen:
        for row in run(name, given):
            _print(row, only_json=only_json)


def run(name: str, given: Row) -> Iterator[Row]:
    """Run one benchmark and yield what it measured."""
    folder = Path(tempfile.mkdtemp(prefix="aclkit-bench-"))
    try:
        spark = build_session("aclkit-bench")
        yield from _BENCHMARKS.get(name, _decide)(spark, folder, name, given)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _shape(name: str, given: Row) -> Shape:
    wanted = {k: given[k] for k in ("principals", "resources", "acls", "hosts") if given[k]}
    return replace(SHAPES[name], seed=given["seed"], **wanted)


def _decide(spark: SparkSession, folder: Path, name: str, given: Row) -> Iterator[Row]:
    """Decide a shape, warm, and ask Kafka's loop and plain SQL for a part of the same."""
    shape = _shape(name, given)
    with Peaks(partial(held, os.getpid())) as peaks:
        seconds = _warm(spark, folder, build(shape), _warm_runs(name, given))
    decisions, cluster = shape.decisions, build(shape)
    loop = measure.loop_rate(cluster, given["seconds"])
    row = {
        "benchmark": name,
        "decisions": decisions,
        "acls": len(cluster.acls),
        "seconds_first": round(seconds[0], 1),
        "seconds": round(seconds[-1], 1),
        "decisions_per_second": round(decisions / seconds[-1]),
        "kafka_loop_per_second": round(loop),
        "times_kafka_loop": round(decisions / seconds[-1] / loop),
        "peak_memory_gib": round(peaks.most["memory"] / 2**30, 2),
    }
    if name == "B1":
        plain = measure.plain_sql_rate(spark, cluster)
        row["plain_sql_per_second"] = round(plain)
        row["times_plain_sql"] = round(decisions / seconds[-1] / plain)
    yield row


def _warm_runs(name: str, given: Row) -> int:
    if given["warm"] is not None:
        return int(given["warm"])
    return 8 if name == "B1" else 1


def _warm(spark: SparkSession, folder: Path, cluster: Cluster, warm: int) -> list[float]:
    """Decide a cluster, each time in a new copy of its warehouse; return the seconds.

    The caller keeps no reference to the cluster, so that its ACLs count in no peak of memory.
    """
    written = folder / cluster.shape.name
    write_acls(spark, str(written), cluster.acls)
    cluster = replace(cluster, acls=[])
    seconds = []
    for number in range(warm + 1):
        warehouse = folder / f"{cluster.shape.name}-{number}"
        shutil.copytree(written, warehouse)
        seconds.append(measure.decide_again(spark, warehouse, options_for(cluster))[0])
        click.echo(f"{cluster.shape.name}: {seconds[-1]:.1f} s", err=True)
        shutil.rmtree(warehouse)
    shutil.rmtree(written)
    return seconds


def _dense(spark: SparkSession, folder: Path, _: str, given: Row) -> Iterator[Row]:
    """Write the dense table, and compare with reading it and writing it again."""
    cluster = build(_shape("B1", given))
    warehouse = folder / "dense"
    factored = _warm(spark, folder, build(cluster.shape), 1)[-1]
    with_dense, _counts = measure.factored_seconds(spark, warehouse, cluster, dense="always")
    floor = measure.floor_seconds(spark, warehouse, 3)
    yield {
        "benchmark": "dense",
        "rows": cluster.shape.decisions,
        "seconds_with_dense": round(with_dense, 1),
        "seconds_factored": round(factored, 1),
        "seconds_dense": round(with_dense - factored, 1),
        "seconds_floor": round(floor, 1),
        "times_floor": round((with_dense - factored) / floor, 2),
    }


def _again(spark: SparkSession, folder: Path, _: str, given: Row) -> Iterator[Row]:
    """Decide B1 and B2 again after 20 new ACLs, and anew."""
    for name in ("B1", "B2"):
        cluster = build(_shape(name, given))
        warehouse = folder / f"again-{name}"
        measure.factored_seconds(spark, warehouse, cluster)
        again = []
        for number in range(_NIGHTS):
            more = build(replace(cluster.shape, seed=100 + number, acls=40)).acls[20:]
            cluster.acls += [replace(a, acl_id=f"night{number}-{a.acl_id}") for a in more]
            write_acls(spark, str(warehouse), cluster.acls)
            options = options_for(cluster)
            again.append(measure.decide_again(spark, warehouse, options)[0])
        anew, _counts = measure.decide_again(spark, warehouse, replace(options, full=True))
        shutil.rmtree(warehouse)
        yield {
            "benchmark": f"{name} after 20 new ACLs",
            "seconds_of_the_nights": " ".join(f"{seconds:.1f}" for seconds in again),
            "seconds": round(again[-1], 1),
            "seconds_anew": round(anew, 1),
            "part_of_anew": round(again[-1] / anew, 2),
        }


_NIGHTS = 3


def _growth(spark: SparkSession, folder: Path, _: str, given: Row) -> Iterator[Row]:
    """Make one size ten times as large, and say how many times the seconds that takes."""
    base = _shape("B1", given)
    small = _warm(spark, folder, build(base), 3)[-1]
    for size in ("principals", "resources", "acls"):
        large = build(replace(base, **{size: 10 * getattr(base, size)}))
        if size == "principals":  # ten times the principals, and no ACL more for any of them
            large.acls = build(base).acls
        seconds = _warm(spark, folder, large, 3)[-1]
        yield {
            "benchmark": f"10 x {size}",
            "seconds": round(seconds, 1),
            "seconds_before": round(small, 1),
            "times": round(seconds / small, 2),
        }


def _skew(spark: SparkSession, folder: Path, _: str, given: Row) -> Iterator[Row]:
    """Decide the hard cases of B2."""
    for skew in SKEWS:
        cluster = build(replace(_shape("B2", given), skew=skew, name=f"B2 {skew}"))
        seconds = _warm(spark, folder, cluster, 1)[-1]
        yield {"benchmark": cluster.shape.name, "seconds": round(seconds, 1)}


def _ranges(spark: SparkSession, folder: Path, _: str, given: Row) -> Iterator[Row]:
    """Decide B1, B1 with as many addresses and B1 with ranges in turn, three times when warm."""
    base, count = _shape("B1", given), given["ranges"]
    shapes_of = {
        "B1": base,
        f"B1, {count} addresses": replace(base, addresses=count),
        f"B1, {count} ranges": replace(base, ranges=count),
    }
    options = {}
    for number, (name, shape) in enumerate(shapes_of.items()):
        cluster = build(shape)
        write_acls(spark, str(folder / str(number)), cluster.acls)
        semantics = replace(KIP_1042, cidr_hosts=bool(shape.ranges))
        options[name] = options_for(replace(cluster, acls=[]), semantics)
    seconds: dict[str, list[float]] = {name: [] for name in shapes_of}
    rows: dict[str, Row] = {}
    for turn in range(_TURNS + _WARM_TURNS):
        for number, name in enumerate(shapes_of):
            warehouse = folder / f"{number}-{turn}"
            shutil.copytree(folder / str(number), warehouse)
            took, counts = measure.decide_again(spark, warehouse, options[name])
            rows[name] = {of: counts[of] for of in ("host", "ruleset", "explain_ruling")}
            click.echo(f"{name}: {took:.1f} s", err=True)
            shutil.rmtree(warehouse)
            seconds[name] += [took] if turn >= _WARM_TURNS else []
    for name in shapes_of:
        times = [of / plain for of, plain in zip(seconds[name], seconds["B1"], strict=True)]
        yield {
            "benchmark": name,
            "seconds": " ".join(f"{each:.1f}" for each in seconds[name]),
            "times_b1": " ".join(f"{each:.2f}" for each in times),
            **rows[name],
        }


_TURNS, _WARM_TURNS = 3, 2


def _replay(spark: SparkSession, folder: Path, _: str, given: Row) -> Iterator[Row]:
    """Replay a long log."""
    yield replay.measure_replay(spark, folder, given["records"])


_BENCHMARKS: dict[str, Callable[[SparkSession, Path, str, Row], Iterator[Row]]] = {
    "dense": _dense,
    "again": _again,
    "growth": _growth,
    "skew": _skew,
    "ranges": _ranges,
    "R1": _replay,
}


def _print(row: Row, *, only_json: bool) -> None:
    if not only_json:
        for key, value in row.items():
            click.echo(f"{key:24} {value:,}" if isinstance(value, int) else f"{key:24} {value}")
    click.echo(json.dumps(row))


if __name__ == "__main__":
    main(standalone_mode=True)
    sys.exit(0)
