"""Kafka's coordinate → the class path on which its StandardAuthorizer runs.

Kafka's own jars are fetched when they are first needed, or with
``python -m aclkit.kafka.verify.jars``; the compiler and the logging interface lie in Spark's
folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError
from aclkit.runtime.jars import Jars, checked_jars, fetch_command, spark_home
from aclkit.runtime.surroundings import jar_folder

VERSION: Final = "4.1.0"
"""The Kafka that is asked."""

_VARIABLE: Final = "ACLKIT_KAFKA_JARS"


def kafka_jar_folder(env: Mapping[str, str] | None = None) -> Path:
    """Name the folder of Kafka's jars: ``ACLKIT_KAFKA_JARS``, else one beside Delta's."""
    env = os.environ if env is None else env
    given = env.get(_VARIABLE, "")
    # Not in Delta's own: whatever lies there, Spark sessions load.
    return Path(given) if given else jar_folder(env).parent / "kafka-jars"


KAFKA: Final = Jars(
    name="Kafka's jars",
    coordinate=f"org.apache.kafka:kafka-metadata:{VERSION}",
    foreign="com.*:*,net.*:*,org.apache.kafka:kafka-raft,org.lz4:*,org.slf4j:*,org.xerial.*:*",
    digests={
        "org.apache.kafka_kafka-clients-4.1.0.jar": (
            "eb74709dc3be35e06208827860c87a94872e8a4b00f466880670785c85a20627"
        ),
        "org.apache.kafka_kafka-metadata-4.1.0.jar": (
            "d11d14a04391776f0d52dcebcdc4cc7438495984cd5213b62c0e70dc8b81e2fc"
        ),
        "org.apache.kafka_kafka-server-common-4.1.0.jar": (
            "73b8b467597429cc0f3c959b0bb1181556071aaab13a6240b9877a37a8c312d0"
        ),
        "org.pcollections_pcollections-4.0.2.jar": (
            "2bbeef5797a241300c4f7513cd546239629ed7deda4fc0c31df90bb95f5f13ef"
        ),
    },
    megabytes=11,
    folder=kafka_jar_folder,
    variable=_VARIABLE,
    module="aclkit.kafka.verify.jars",
)

_OF_SPARK: Final = ("janino", "commons-compiler", "slf4j-api")


def class_path(say: Callable[[str], None] | None = None) -> tuple[Path, ...]:
    """Return all jars that the JVM needs; Kafka's are fetched where they are missing.

    Raises:
        SurroundingsError: one is another than expected, they cannot be fetched, or this Spark has
            no Janino.
    """
    of_spark = spark_home() / "jars"  # first: without Spark there is nothing to fetch with
    return (*checked_jars(KAFKA, say), *_jars_of_spark(of_spark))


def _jars_of_spark(folder: Path) -> list[Path]:
    found = []
    for name in _OF_SPARK:
        jars = sorted(folder.glob(f"{name}-[0-9]*.jar"))
        if not jars:
            raise SurroundingsError(f"expected Spark's {name} jar in {folder}, found none")
        found.append(jars[-1])
    return found


if __name__ == "__main__":
    fetch_command(KAFKA)()
