"""The command jars: names of jars → these, in the folders where they are looked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from aclkit.cli.help import command
from aclkit.cli.output import tell
from aclkit.kafka.verify.jars import JARS_OF, NEWEST
from aclkit.runtime.jars import Jars, fetch_jars
from aclkit.runtime.spark_release import delta_jars, s3_jars

_OF_SPARK: Final[dict[str, Callable[[], Jars]]] = {"delta": delta_jars, "s3": s3_jars}
"""Those that depend on the Spark that is installed."""

_OF_KAFKA: Final[dict[str, Jars]] = {
    "kafka": JARS_OF[NEWEST],
    **{f"kafka:{version}": jars for version, jars in JARS_OF.items()},
}


@command("jars")
@click.argument("names", nargs=-1, metavar="[NAME]…", type=click.Choice([*_OF_SPARK, *_OF_KAFKA]))
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
        wanted = _OF_SPARK[name]() if name in _OF_SPARK else _OF_KAFKA[name]
        paths = fetch_jars(wanted, folder, tell)
        tell(f"{wanted.name} are in {paths[0].parent}.")
