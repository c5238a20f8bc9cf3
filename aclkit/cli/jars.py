"""The command jars: names of jars → these, in the folders where they are looked for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from aclkit.cli.help import command
from aclkit.cli.output import tell
from aclkit.kafka.verify.jars import JARS_OF, NEWEST
from aclkit.runtime.jars import DELTA, S3, Jars, fetch_jars

_JARS: Final[dict[str, Jars]] = {
    "delta": DELTA,
    "s3": S3,
    "kafka": JARS_OF[NEWEST],
    **{f"kafka:{version}": jars for version, jars in JARS_OF.items()},
}


@command("jars")
@click.argument("names", nargs=-1, metavar="[NAME]…", type=click.Choice(list(_JARS)))
@click.option("--folder", metavar="DIR", type=click.Path(path_type=Path), help="Target folder.")
def jars(names: tuple[str, ...], folder: Path | None) -> None:
    """Download the jars that Spark needs.

    \b
    Example:
      aclkit jars
      aclkit jars delta s3
      aclkit jars kafka:4.3.1 --folder /opt/kafka-jars

    After that, no command needs the network. delta (the default) is required to read and write
    tables; s3 is for Spark on s3:// and s3a://; kafka or kafka:VERSION is for verify. aclkit also
    downloads jars when they are first needed. Each jar is compared with its digest; no other jar is
    loaded.
    """
    for name in names or ("delta",):
        wanted = _JARS[name]
        paths = fetch_jars(wanted, folder, tell)
        tell(f"{wanted.name} are in {paths[0].parent}.")
