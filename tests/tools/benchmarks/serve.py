"""How long ``aclkit serve`` takes under load: ``python -m tests.tools.benchmarks.serve WAREHOUSE``.

A process of its own serves, as for a user. So many questions a second are sent at their times,
whether those before are answered or not, each about names drawn anew. What is measured is the time
from when a question was due until its last byte.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import click

from aclkit.audit.serve.snapshot import LatestSnapshot
from tests.audit.serve.running import Client

MIX = ("who-can",) * 4 + ("what-can",) * 2 + ("why",) * 5 + ("history",) * 2 + (
    "search",) * 4 + ("findings", "changes", "home")  # fmt: skip


@dataclass(frozen=True)
class Question:
    kind: str
    path: str
    given: dict[str, str]


def questions(warehouse: str, number: int, seed: int) -> list[Question]:
    """Draw questions about the names of a warehouse."""
    tables = LatestSnapshot(warehouse).snapshot().connection
    people = [name for (name,) in tables.execute("SELECT principal FROM principal").fetchall()]
    topics = [
        f"topic:{name}"
        for (name,) in tables.execute(
            "SELECT resource_name FROM resource WHERE resource_type = 'TOPIC'"
        ).fetchall()
    ]
    rng = random.Random(seed)
    return [
        _question(rng.choice(MIX), rng.choice(people), rng.choice(topics), rng)
        for _ in range(number)
    ]


def _question(kind: str, who: str, what: str, rng: random.Random) -> Question:
    access = {"principal": who, "resource": what, "operation": rng.choice(("READ", "WRITE"))}
    path, given = {
        "who-can": ("/who-can", {"resource": what}),
        "what-can": ("/what-can", {"principal": who}),
        "why": ("/why", access),
        "history": ("/history", access),
        "search": ("/search", {"q": what[8:14]}),
        "findings": ("/findings", {"words": who}),
        "changes": ("/changes", {}),
        "home": ("/", {}),
    }[kind]
    return Question(kind, path, given)


def ask(client: Client, question: Question, due: float) -> tuple[str, int, float]:
    """Ask one question; return its kind, the status, and the seconds since it was due."""
    status = client.ask(question.path, **question.given).status
    return question.kind, status, time.perf_counter() - due


@click.command()
@click.argument("warehouse")
@click.option("--rate", default=20.0, show_default=True)
@click.option("--seconds", default=60.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(warehouse: str, rate: float, seconds: float, seed: int) -> None:
    """Serve a warehouse, ask it, and print what it took."""
    asked = questions(warehouse, int(rate * seconds), seed)
    program = "from aclkit.cli import cli; cli()"
    words = [sys.executable, "-c", program, "--warehouse", warehouse, "serve", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stderr is not None
        server.stderr.readline()
        client = Client(server.stderr.readline().strip()).enter()
        with ThreadPoolExecutor(64) as pool:
            pool.submit(server.stderr.read)
            used, own = cpu_seconds(server.pid), time.process_time()
            begin = time.perf_counter() + 0.5
            waiting = []
            for number, question in enumerate(asked):
                due = begin + number / rate
                time.sleep(max(0.0, due - time.perf_counter()))
                waiting.append(pool.submit(ask, client, question, due))
            told = [each.result() for each in waiting]
            used, own = cpu_seconds(server.pid) - used, time.process_time() - own
            server.terminate()
    _print(told)
    click.echo(f"CPU a question: the server {1000 * used / len(told):.1f} ms, "
               f"this client {1000 * own / len(told):.1f} ms")  # fmt: skip


def cpu_seconds(pid: int) -> float:
    """Return what a process has used of the processors, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _print(told: list[tuple[str, int, float]]) -> None:
    click.echo(f"status {dict(Counter(status for _, status, _ in told))}")
    for kind in ("all", *dict.fromkeys(MIX)):
        times = [1000 * took for name, _, took in told if kind in ("all", name)]
        if len(times) > 1:
            p95 = quantiles(times, n=20)[-1]
            click.echo(f"{kind:10} {len(times):5} questions, median {median(times):5.0f} ms, "
                  f"p95 {p95:5.0f} ms, most {max(times):5.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
