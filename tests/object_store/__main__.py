"""``python -m tests.object_store``: what takes long, or is looked at by people."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import click

from tests.object_store import questions
from tests.object_store.bench import start_store
from tests.object_store.copies import put_folder
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


@main.command("questions")
@click.option(
    "--warehouse",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A local warehouse of B1; one is made first without it.",
)
def questions_(warehouse: Path | None) -> None:
    """Put B1's warehouse in a bucket, and ask it from cold shells without Java."""
    with tempfile.TemporaryDirectory(prefix="aclkit-questions-") as name:
        folder = Path(name)
        # Before the store is started: what is measured waits for all children of this process.
        made = warehouse or questions.decide_b1(folder / "made")
        size = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
        no_java = folder / "no-java"
        no_java.mkdir()
        with start_store() as store:
            os.environ.update(store.env)
            bucket = store.bucket("questions")
            uri = put_folder(made, bucket, "acls")
            click.echo(f"a warehouse of {size / 1e6:.1f} MB; no Java\n\n{questions.HEAD}")
            for asked in questions.ask(bucket, uri, no_java):
                click.echo(str(asked))


if __name__ == "__main__":
    main()
