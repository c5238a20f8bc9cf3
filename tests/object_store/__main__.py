"""``python -m tests.object_store``: what takes long, or is looked at by people."""

from __future__ import annotations

import os
import time

import click

from tests.object_store.bench import start_store
from tests.object_store.race import race


@click.group()
def main() -> None:
    """Try a warehouse in a bucket of this machine."""


@main.command("race")
@click.option("--rounds", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
def race_(rounds: int, seed: int) -> None:
    """Let two drivers race for one warehouse, stopped and killed on their way."""
    began = time.monotonic()
    with start_store() as store:
        os.environ.update(store.env)
        told = race(store.bucket("race"), rounds, seed, click.echo)
    kinds = ", ".join(f"{kind} {times}" for kind, times in told.rounds.most_common())
    click.echo(f"{rounds} rounds in {time.monotonic() - began:.0f} s: {kinds}")
    won = ", ".join(f"{name} {times}" for name, times in sorted(told.winners.items()))
    click.echo(f"published: {won}; {len(told.numbers)} turns, {len(told.puts)} versions of tables")
    for message, times in told.messages.most_common():
        click.echo(f"{times:>4} × {message}")
    click.echo("never two writers, nothing lost")


if __name__ == "__main__":
    main()
