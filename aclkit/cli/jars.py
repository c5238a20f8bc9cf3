"""The command jars: names of jars → these, in the folders where they are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from aclkit.cli.output import tell
from aclkit.kafka.verify.jars import JARS_OF, NEWEST
from aclkit.runtime.jars import DELTA, Jars, fetch_jars
from aclkit.runtime.s3_jars import S3

_JARS: Final[dict[str, Jars]] = {
    "delta": DELTA,
    "s3": S3,
    "kafka": JARS_OF[NEWEST],
    **{f"kafka:{version}": jars for version, jars in JARS_OF.items()},
}


@click.command("jars")
@click.argument("names", nargs=-1, metavar="[NAME]…", type=click.Choice(list(_JARS)))
@click.option("--folder", metavar="DIR", type=click.Path(path_type=Path), help="Where to put them.")
def jars(names: tuple[str, ...], folder: Path | None) -> None:
    """Fetch jars that Spark is given, once, so that no later command needs the network.

    \b
    Example:
      aclkit jars
      aclkit jars delta s3
      aclkit jars kafka:4.3.1 --folder /opt/kafka-jars

    delta, without which nothing is read or written: what is fetched where no name is given. s3, for
    Spark on s3:// and s3a://. kafka, or kafka:VERSION, for verify. Each is fetched when it is first
    needed, too; each jar is compared with its digest, and nothing else is ever loaded.
    """
    for name in names or ("delta",):
        wanted = _JARS[name]
        paths = fetch_jars(wanted, folder, tell)
        tell(f"{wanted.name} are in {paths[0].parent}")
