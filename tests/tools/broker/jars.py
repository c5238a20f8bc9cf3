"""A version of Kafka → the class path of a broker, or of Kafka's own tools.

There is no distribution of Kafka on Maven Central, but all that is in one. Scala and the logging
come from Spark's folder. ``ACLKIT_BROKER_JARS`` names another folder for what is fetched, and
``python -m tests.tools.broker.jars [VERSION]`` fetches it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from aclkit.kafka.verify.jars import JARS_OF
from aclkit.runtime.jars import Jars, fetch_jars, spark_home

TOOLS: Final = "4.3.1"
"""The newest version of which Maven Central has Kafka's own tools; they speak to newer brokers."""

_OF_ALL: Final = {
    "com.dynatrace.hash4j_hash4j-0.22.0.jar": (
        "23028a3fd006e530bf495f551083208187cafd8f80624d048eba56442f16a50e"
    ),
    "com.fasterxml.jackson.core_jackson-annotations-2.21.jar": (
        "53ca085f4a150f703f49e1aabd935bd03b43e1ea3d55d135438292af22cef56b"
    ),
    "com.github.ben-manes.caffeine_caffeine-3.2.0.jar": (
        "ec411dfdf0c03f25218648ce89861630b71680e5858a9a7278ebac8e55cab3d7"
    ),
    "com.google.re2j_re2j-1.8.jar": (
        "7b52c72156dd7f98b3237a5b35c1d34fba381b21048c89208913ad80a45dfbd7"
    ),
    "com.typesafe.scala-logging_scala-logging_2.13-3.9.6.jar": (
        "0ad0c3f4d89d538b3b6c300158555e266aa69cf1b5f6522aba8b5bad238eb994"
    ),
    "com.yammer.metrics_metrics-core-2.2.0.jar": (
        "6b7a14a6f34c10f8683f7b5e2f39df0f07b58c7dff0e468ebbc713905c46979c"
    ),
    "commons-logging_commons-logging-1.3.5.jar": (
        "6d7a744e4027649fbb50895df9497d109f98c766a637062fe8d2eabbb3140ba4"
    ),
    "commons-validator_commons-validator-1.10.1.jar": (
        "ed74711a78d793ca37f6075e4a1e93d107233dfd20d0bb17e32bad88d38e56aa"
    ),
    "net.sf.jopt-simple_jopt-simple-5.0.4.jar": (
        "df26cc58f235f477db07f753ba5a3ab243ebe5789d9f89ecf68dd62ea9a66c28"
    ),
    "net.sourceforge.argparse4j_argparse4j-0.7.0.jar": (
        "65ceb669d88f63306c680f8088bbf765bbca72d288a61a03703000076c3d3f56"
    ),
    "org.bitbucket.b_c_jose4j-0.9.6.jar": (
        "7314af50cde9c99e8eaf43eee617a23edcc6bb43036221064355094999d837ef"
    ),
    "org.hdrhistogram_HdrHistogram-2.2.2.jar": (
        "22d1d4316c4ec13a68b559e98c8256d69071593731da96136640f864fa14fad8"
    ),
    "org.jspecify_jspecify-1.0.0.jar": (
        "1fad6e6be7557781e4d33729d49ae1cdc8fdda6fe477bb0cc68ce351eafdfbab"
    ),
    "org.xerial.snappy_snappy-java-1.1.10.7.jar": (
        "4c766cb3f855415ee734b2392949a0b6f12a60879334a74518deaf6270d32e36"
    ),
}
_OWN: Final = {
    "4.3.1": {
        "at.yawk.lz4_lz4-java-1.10.2.jar": (
            "252dabd586d22149a31661a8afc1a50747714eb1a298bd4a6e780c8c91a13866"
        ),
        "com.fasterxml.jackson.core_jackson-core-2.21.2.jar": (
            "12e8655b100267b44d0f14d01b1f5082a5105e616174dc4307be1a761e92407b"
        ),
        "com.fasterxml.jackson.core_jackson-databind-2.21.2.jar": (
            "8c982f01f148d805f0aaac2339011244757e0df7c6ff8951f2fa3f433b8ed849"
        ),
        "com.fasterxml.jackson.dataformat_jackson-dataformat-csv-2.21.2.jar": (
            "682f8c7977e02a42748426bf54946e32e52e2f80b84b6642801ab12bd541368a"
        ),
        "com.fasterxml.jackson.dataformat_jackson-dataformat-yaml-2.21.2.jar": (
            "d25551812fa0c14f37cabaa9401e63eadcea42ce36311183af5622d5bc8a1bc7"
        ),
        "com.fasterxml.jackson.datatype_jackson-datatype-jdk8-2.21.2.jar": (
            "e581bbf3fc5622d16b57366dd41e10fc56921fb202879de2ef487f87dd9b30e7"
        ),
        "com.github.luben_zstd-jni-1.5.6-10.jar": (
            "b6c3237e24b8252a5a9c3a0e1ae30ef8f323412e74bd358548b7a9e527d676df"
        ),
        "org.apache.kafka_kafka-coordinator-common-4.3.1.jar": (
            "66a86b8c89718216ffa72fe4e44b9d1bdf3472e4cb9200c36a0742a25febbdba"
        ),
        "org.apache.kafka_kafka-group-coordinator-4.3.1.jar": (
            "4ab56d002e1624185c874199e9e0ffb243dbeb9f68b4d0cadf48ce2f617a1126"
        ),
        "org.apache.kafka_kafka-group-coordinator-api-4.3.1.jar": (
            "d81bc1a3739ff6c9b21815baae00022306342a16d3d94e6a2621201b9980a30d"
        ),
        "org.apache.kafka_kafka-raft-4.3.1.jar": (
            "46abbf89806dd22d848e997cdfb1431524cab4ec88e38a7d2806e20b24a70609"
        ),
        "org.apache.kafka_kafka-server-4.3.1.jar": (
            "01d736599ec3b0cdbb0480c15219170b28cdae189785e7f0c6f1f26e528eaebc"
        ),
        "org.apache.kafka_kafka-share-coordinator-4.3.1.jar": (
            "8ceeed7346127e652ea5c650b217890aaff14919f967d27fadce420745bd3066"
        ),
        "org.apache.kafka_kafka-storage-4.3.1.jar": (
            "97e3facddd2914a58f28ec91ef35f8da69963eab3651196e97f487924f6dac98"
        ),
        "org.apache.kafka_kafka-storage-api-4.3.1.jar": (
            "bc2b22639fa554494461d101d599e01bae840d97c4f46e18fdf3d2fe41a47098"
        ),
        "org.apache.kafka_kafka-tools-4.3.1.jar": (
            "62f3c5dd7aa3442d4c5bc6a95f86e2502178ea09de8e27f74d9563bf955e253c"
        ),
        "org.apache.kafka_kafka-tools-api-4.3.1.jar": (
            "dcf6785742e0c8ab11a0fc09c62f1192e11e997dc629669a8db82aa40d933c31"
        ),
        "org.apache.kafka_kafka-transaction-coordinator-4.3.1.jar": (
            "c64aaa2a88d8fd382c4800204872917686e542043c7916c9e8797d939d8eb313"
        ),
        "org.apache.kafka_kafka_2.13-4.3.1.jar": (
            "b098abef5ff878e76f60cd6c559b9baa5663ccb1b55f2837558b22c329d32423"
        ),
    },
    "4.4.0": {
        "at.yawk.lz4_lz4-java-1.11.2.jar": (
            "8a7458657938e9b692224db83aac458c13abd7a59ab75c3d3b08bd2233a646a2"
        ),
        "com.fasterxml.jackson.core_jackson-core-2.21.7.jar": (
            "8c5623b98f32d5f7e1287ff61ed50e08ab7b11381e991fff89327faabba42261"
        ),
        "com.fasterxml.jackson.core_jackson-databind-2.21.7.jar": (
            "1290c2795e93e8a6861a6c4d9ff0d844d32f5ea178362cb2721edf5561e828b1"
        ),
        "com.fasterxml.jackson.dataformat_jackson-dataformat-yaml-2.21.7.jar": (
            "df2b3e6a194181dc067b7211d750926b4ae9e4f3c892a0005b8219a9b59be681"
        ),
        "com.fasterxml.jackson.datatype_jackson-datatype-jdk8-2.21.7.jar": (
            "b8f62f98363ed9aa259b3a479a64fcbe7e081158a8bec6733972e900d12f4e47"
        ),
        "com.github.luben_zstd-jni-1.5.7-17.jar": (
            "c9043e2da8a16c13b6cd7661a5cb56685a573c3546ef4bd0ead67b0b67c2e107"
        ),
        "org.apache.kafka_kafka-coordinator-common-4.4.0.jar": (
            "e380267a17981edbadaa2e2e785f18dc1b5671abf2d1084eb7da06a765c71d0c"
        ),
        "org.apache.kafka_kafka-group-coordinator-4.4.0.jar": (
            "3fc830ace54f6a13f9f536bc0564bf39a68797365a4c4b194bd7db4fb893b2bc"
        ),
        "org.apache.kafka_kafka-group-coordinator-api-4.4.0.jar": (
            "bf11d7586c7363ba72a16ac5ef80c65365de9166469f7f6fc4ac5d2e0a98213a"
        ),
        "org.apache.kafka_kafka-raft-4.4.0.jar": (
            "687f278ce5d82b7f53644643e21e1a7452530f202826108990f0fe4f3d334d4f"
        ),
        "org.apache.kafka_kafka-server-4.4.0.jar": (
            "5f5456c2976203525080220212639f7033274b94458ceabf44197f4800bd615c"
        ),
        "org.apache.kafka_kafka-share-coordinator-4.4.0.jar": (
            "6969a7961ca98d37a039bbe0af0fe761d6b0dd07ca9666802f47821167afbb6e"
        ),
        "org.apache.kafka_kafka-storage-4.4.0.jar": (
            "9eaa4dafacc251080ece0efa8511283da5de6931e843457f6af87f02f9b50039"
        ),
        "org.apache.kafka_kafka-storage-api-4.4.0.jar": (
            "edd47a86cdce283fc15d033090417a5dec29642eb807713f2e807e3c46b5ca46"
        ),
        "org.apache.kafka_kafka-tools-api-4.4.0.jar": (
            "348b63a7d22739703ad34613a1154702568d462c3a8adb1dd655482251f4e529"
        ),
        "org.apache.kafka_kafka-transaction-coordinator-4.4.0.jar": (
            "1d5324d59776d6b7f324cfdc87647b1e88f9823332201c0324e7ae9f210d915d"
        ),
        "org.apache.kafka_kafka_2.13-4.4.0.jar": (
            "76d3314f873571677ff98620ab9a431e508e3687f921a3df4f70d692a970475e"
        ),
    },
}
"""SHA-256 of the jars that are of one version, the newest version last."""

VERSIONS: Final = tuple(_OWN)
NEWEST: Final = VERSIONS[-1]


def _jars(version: str) -> Jars:
    coordinate = f"org.apache.kafka:kafka_2.13:{version}"
    if version == TOOLS:
        coordinate += f",org.apache.kafka:kafka-tools:{version}"
    return Jars(
        name=f"the jars of a broker of Kafka {version}",
        coordinate=coordinate,
        foreign=(
            # Kafka Connect and what it serves REST with; mail, XML and annotations; Spark's own.
            "org.apache.kafka:connect-*,org.eclipse.*:*,org.glassfish.*:*,org.javassist:*,"
            "com.fasterxml.jackson.jakarta.rs:*,com.fasterxml.jackson.module:*,"
            "com.sun.*:*,jakarta.*:*,javax.*:*,commons-beanutils:*,commons-collections:*,"
            "commons-digester:*,io.*:*,org.apache.maven:*,org.codehaus.*:*,org.yaml:*,"
            "org.apache.logging.*:*,org.scala-lang:*,org.slf4j:*"
        ),
        digests={**JARS_OF[version].digests, **_OF_ALL, **_OWN[version]},
        megabytes=32,
        beside_delta="broker-jars",
        variable="ACLKIT_BROKER_JARS",
        command=f"python -m tests.tools.broker.jars {version}",
    )


BROKERS: Final = {version: _jars(version) for version in VERSIONS}

_OF_SPARK: Final = (
    "scala-library", "slf4j-api", "log4j-api", "log4j-core", "log4j-slf4j2-impl", "janino",
    "commons-compiler",
)  # fmt: skip


def class_path(version: str) -> str:
    """The class path of a broker, or of ``TOOLS``; jars that are missing are fetched."""
    jars = [*fetch_jars(BROKERS[version]), *_jars_of_spark()]
    return os.pathsep.join(map(str, jars))


def _jars_of_spark() -> list[Path]:
    folder = spark_home() / "jars"
    return [sorted(folder.glob(f"{name}-[0-9]*.jar"))[-1] for name in _OF_SPARK]


@click.command(help=f"Fetch a broker's jars once; without a version those of {NEWEST}.")
@click.argument("version", type=click.Choice(list(BROKERS)), default=NEWEST)
def main(version: str) -> None:
    fetch_jars(BROKERS[version], say=lambda text: click.echo(text, err=True))


if __name__ == "__main__":
    main()
