"""Which Kafka is asked, and the class path on which its StandardAuthorizer runs.

Kafka's own jars are fetched when they are first needed, or with ``aclkit jars kafka``, the newest,
and ``aclkit jars kafka:VERSION``; the compiler and the logging interface lie in Spark's folder.
Kafka 4.4 reads a host that holds a ``/`` as a range of addresses (KIP-1276), whatever the cluster's
metadata.version is; before, no client's address is equal to such a text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError
from aclkit.model.acl import Acl
from aclkit.runtime.jars import Jars, checked_jars, spark_home

_DIGESTS: Final = {
    "4.1.0": {
        "clients": "eb74709dc3be35e06208827860c87a94872e8a4b00f466880670785c85a20627",
        "metadata": "d11d14a04391776f0d52dcebcdc4cc7438495984cd5213b62c0e70dc8b81e2fc",
        "server-common": "73b8b467597429cc0f3c959b0bb1181556071aaab13a6240b9877a37a8c312d0",
    },
    "4.2.0": {
        "clients": "bcf39f152c5553c2501a491fc4a73c5b0330741e8eed96a481323b8ee89738af",
        "metadata": "55fd69178bd1679ae484226e76d78556445e8d8668c03b511f351cf154bec845",
        "server-common": "e99890e8e09784e4d84f9295db4012c73cde6c2cddba0a4e104cb102e18e4aa0",
    },
    "4.3.1": {
        "clients": "52501b7b47510c66f898871adaf6d2968ab7246561d44ced43643a8a587f0b36",
        "metadata": "4d73a96c6474a4ebdd67a1cee14da1a94cfd6bb9e6e252685ba5667d8ab7f898",
        "server-common": "d7c719f749579a399011f0df7414de8a78f10f074a6122caa550fdb141351575",
    },
    "4.4.0": {
        "clients": "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9",
        "metadata": "6c52de74ecd670332e1e1324f5d40311275ac49b22699b6722e5fb07dd266fcb",
        "server-common": "e50931831a27a2f3eb6cf74e8d63cc325b4e98656f30e94f8829297951ca5080",
    },
}
"""SHA-256 of Kafka's own jars, by version, the newest last."""

_PCOLLECTIONS: Final = {
    "org.pcollections_pcollections-4.0.2.jar": (
        "2bbeef5797a241300c4f7513cd546239629ed7deda4fc0c31df90bb95f5f13ef"
    )
}
"""StandardAuthorizer keeps its ACLs in them; all versions take the same."""


def _own(version: str) -> dict[str, str]:
    digests = _DIGESTS[version]
    return {f"org.apache.kafka_kafka-{of}-{version}.jar": digests[of] for of in digests}


def _jars(version: str) -> Jars:
    return Jars(
        name=f"the jars of Kafka {version}",
        coordinate=f"org.apache.kafka:kafka-metadata:{version}",
        foreign=(
            "at.yawk.lz4:*,com.*:*,net.*:*,org.apache.kafka:kafka-raft,org.lz4:*,org.slf4j:*,"
            "org.xerial.*:*"
        ),
        digests=_own(version) | _PCOLLECTIONS,
        megabytes=12,
        beside_delta="kafka-jars",
        variable="ACLKIT_KAFKA_JARS",
        command=f"aclkit jars kafka:{version}",
        beside=[name for each in _DIGESTS for name in _own(each)],
    )


VERSIONS: Final = tuple(_DIGESTS)
"""Each Kafka that can be asked, the newest last."""

NEWEST: Final = VERSIONS[-1]
JARS_OF: Final = {version: _jars(version) for version in VERSIONS}

_OF_SPARK: Final = ("janino", "commons-compiler", "slf4j-api")


def class_path(version: str = NEWEST, say: Callable[[str], None] | None = None) -> tuple[Path, ...]:
    """Return all jars that the JVM needs; Kafka's are fetched where they are missing.

    Args:
        version: one of ``VERSIONS``.
        say: called with every step that takes time.

    Raises:
        SurroundingsError: one is another than expected, they cannot be fetched, or this Spark has
            no Janino.
    """
    of_spark = spark_home() / "jars"  # first: without Spark there is nothing to fetch with
    return (*checked_jars(JARS_OF[version], say), *_jars_of_spark(of_spark))


def _jars_of_spark(folder: Path) -> list[Path]:
    found = []
    for name in _OF_SPARK:
        jars = sorted(folder.glob(f"{name}-[0-9]*.jar"))
        if not jars:
            raise SurroundingsError(f"Expected Spark's {name} jar in {folder}, found none")
        found.append(jars[-1])
    return found


RANGES_SINCE: Final = "4.4.0"
"""The first version that reads ranges."""


def choose_version(
    given: str | None, acls: Iterable[Acl], *, reads_ranges: bool
) -> tuple[str, str | None]:
    """Return the version that is asked, and a sentence where ranges matter for that.

    It is the newest that reads the hosts of these ACLs as the run does, or the one that is given.

    Args:
        given: the version that a person named, one of those known.
        acls: all that Kafka will have.
        reads_ranges: whether the run reads ranges too.
    """
    host = next((acl.host for acl in acls if "/" in acl.host), None)
    if host is None:
        return given or NEWEST, None
    since = VERSIONS.index(RANGES_SINCE)
    alike = VERSIONS[since:] if reads_ranges else VERSIONS[:since]
    version = given or alike[-1]
    kafkas, ours = ("text", "ranges") if reads_ranges else ("ranges", "text")
    if version not in alike:
        return version, (
            f"Kafka {version} reads hosts such as {host} as {kafkas}, but the run as {ours}. "
            "Decisions that depend on it differ."
        )
    if given or version == NEWEST:
        return version, None
    return version, (
        f"Kafka {version} is compared, because {NEWEST} reads hosts such as {host} as "
        f"{kafkas}, but the run as {ours}."
    )
