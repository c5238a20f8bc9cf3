"""A Maven coordinate → its jars in the folder where they are looked for, byte for byte.

``aclkit jars`` does it once for Delta, with Spark's own resolver in a throw-away cache, so that no
later session needs the network. To use a mirror, set ``ACLKIT_MAVEN_REPOSITORY`` to its
address; without any network copy the jars into a folder and set ``ACLKIT_JARS`` to it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aclkit.errors import SurroundingsError
from aclkit.runtime.child import SAFE_PATH, bound
from aclkit.runtime.environment import jar_folder, not_installed, require_java
from aclkit.runtime.permissions import FOR_EVERYBODY
from aclkit.runtime.scratch import scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class Jars:
    """Jars that are needed together.

    Attributes:
        name: whose they are.
        coordinate: what Spark's resolver is asked for; with a comma between several.
        foreign: what else it would bring, as ``--exclude-packages`` takes it: Spark has it, or
            nothing that runs here needs it.
        digests: SHA-256 of each jar, by the file name that the resolver gives it.
        megabytes: how much is fetched.
        beside_delta: the name of their folder, next to that of Delta's.
        variable: names another folder for them, in the environment.
        command: what fetches them.
        beside: names of jars that may lie in the same folder: those of other versions.
    """

    name: str
    coordinate: str
    foreign: str
    digests: Mapping[str, str]
    megabytes: int
    beside_delta: str
    variable: str
    command: str
    beside: Collection[str] = ()

    @property
    def version(self) -> str:
        """Whose jars they are, as the coordinate ends."""
        return self.coordinate.rpartition(":")[2]

    def folder(self, env: Mapping[str, str] = os.environ) -> Path:
        """Return where they are looked for."""
        given = env.get(self.variable, "")
        return Path(given) if given else jar_folder(env).parent / self.beside_delta


DELTA_VERSION: Final = "4.4.0"

_OF_EVERY_SPARK: Final = {
    "kernel-api": "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
    "kernel-defaults": "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
    "kernel-unitycatalog": "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
    "storage": "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
}
_OF_ONE_SPARK: Final = {
    "4.1": "75a9400986853c061f5109f012547de2545a5759e5e752e5ef633dabe16a4f10",
    "4.2": "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
}
"""Spark's release → the digest of Delta's jar for it. Maven Central has one for 4.0 too, whose
pyspark lacks ``arrow_udf``."""


def delta_coordinate(spark: str) -> str:
    """Name Delta for a release of Spark, as ``delta.configure_spark_with_delta_pip`` does."""
    return f"io.delta:delta-spark_{spark}_2.13:{DELTA_VERSION}"


def _jar(name: str) -> str:
    return f"io.delta_delta-{name}-{DELTA_VERSION}.jar"


def _delta_of(spark: str, digest: str) -> Jars:
    shared = {_jar(name): of for name, of in _OF_EVERY_SPARK.items()}
    return Jars(
        name="Delta's jars",
        coordinate=delta_coordinate(spark),
        foreign="com.*:*,commons-*:*,io.airlift:*,io.unitycatalog:*,javax.*:*,org.*:*",
        digests={**shared, _jar(f"spark_{spark}_2.13"): digest},
        megabytes=13,
        beside_delta="jars",
        variable="ACLKIT_JARS",
        command="aclkit jars delta",
        beside=[_jar(f"spark_{each}_2.13") for each in _OF_ONE_SPARK],
    )


DELTA_OF: Final = {spark: _delta_of(spark, digest) for spark, digest in _OF_ONE_SPARK.items()}
"""Spark's release → Delta's jars for it."""


HADOOP: Final = "3.5.0"
"""Hadoop's version of the client of Spark 4.2, whose jars for S3 these are."""

COORDINATE: Final = f"org.apache.hadoop:hadoop-aws:{HADOOP}"

# S3A names Amazon's SDK as one jar of 690 MB, with every service. These are the modules that S3A
# imports, 13 MB; HTTP clients, Netty, Jackson and logging are Spark's own. No session needs them
# unless it opens s3:// or s3a://. Without KMS's module S3A encrypts nothing on the client.
_SDK: Final = "2.35.4"
"""The version that S3A names."""

_ROOTS: Final = ("apache-client", "netty-nio-client", "s3", "s3-transfer-manager", "sts")

_OF_SDK: Final = {
    "annotations": "6f36bd87155d1dd85d6efbdd29e532e3759a022211feb71affebee1aa34f04b8",
    "apache-client": "6eade21b482724ed0a4613eaa95d20e47e7a81304bd28538ac427fece94a7740",
    "arns": "c63cc29f76a8527e9e10b621703163df541dc5cb315508dc2898518602c75380",
    "auth": "6b601323004833fb4a857ffc95db4795e0e6320eb93e64b1246c655c9ff04994",
    "aws-core": "fdb5fc8f1a48d97fa7d04d3460fb42f6973c7b1bbe1b9d317871ef0162bcb623",
    "aws-query-protocol": "9b4cf9b78977cc9f5b4ceae9c435dedbde6a055a0f8d9e053eaca945715e2a9f",
    "aws-xml-protocol": "4f59176da2522c357b1993e4a890fde529f12f365795ef86269bde4a3984cd0d",
    "checksums": "94464af4374d08ecf33ca06ed4d03e1615529e547726e26b56abacefbeee7948",
    "checksums-spi": "88b5af85ac2d3c862be8856be4e683ab31932e4a5a3c1c45af864d2671ac7cec",
    "crt-core": "2c6aaa17bf9ccbb9d962dded4351e73decb197e3c5519970e0dae17e05d3df62",
    "endpoints-spi": "ef02441bda916959b8341290b49c68cc35538e1ad6f8629b75d8334dc6653e00",
    "http-auth": "3ec933a06e751a05e195eb3589209e23c44e1897263b6fcae34ef4cc63cd4491",
    "http-auth-aws": "c4acb92fdec90bfd9b67bfab8e41b69cd152c03cacc10281a8ab464791856e01",
    "http-auth-aws-eventstream": "709107552f302be3fa9e05969a3779f5c0f07fb809e6fa1fa571a6f0c61326dd",
    "http-auth-spi": "4495463406bb98eb136f2c3f3604ed5f08ec9974ebc3f34f2121b20679f61d5c",
    "http-client-spi": "728be89b2a07b595edb0adee3a2cbbbdd4cb1f4caddde0d08c3979fe2620dedb",
    "identity-spi": "188d73db7d4e2361654bc3c5a1b3eaeb445d0500fb012cc46c5d67975adf97bf",
    "json-utils": "80d67a6bb3e7eb49c7d4b6e4ba4c1463ed7da0192b795158328602dc131c5ecc",
    "metrics-spi": "c2a4ee90a21081317e2e6eba0c414d05d3d518aed2f86b1c1710a7367b450487",
    "netty-nio-client": "b82f8b33e5c85273a47da45ede884d7ccb31c9c2f69e6910a76c5c48fa1275dc",
    "profiles": "0f4ef7ca72ccd80dd49ebeaf7f3ce60a7d7a00da59a91aeeae6e91052bbacbd8",
    "protocol-core": "f2532eca6ba2142fe4821d5decb03c83a3e15dc8bfae2240e7f2efa75f9868b5",
    "regions": "77eae87b34ce96ecdf916a9bc06684dbeafcb6d38ef0513285fa5d5d6d41f5ca",
    "retries": "f99fb2f8c66d7e859955b3542d3af8f9de8f23a21d5e3250f0f2c5f18487e469",
    "retries-spi": "668638751d059c527ddd41ffa4dcebe36a7c14860ed56776df09b861c14dc7dd",
    "s3": "f23532c5223be9b0bfec0d72837ed09ed34dbdf8022818ba145b20076a78b4bc",
    "s3-transfer-manager": "0eec78870b3d0abc509a847072cf963cb2ae6e360dc6161a9449b3398c470476",
    "sdk-core": "fa559a4ce598852f3519c8f3b36250f583b0858a7611eedc4a81997778c617f4",
    "sts": "8d0f7816d3f96e3f00249f5d054d926e939a104bcf9ef57676ee0b16c59684d2",
    "third-party-jackson-core": "32f4252c6c2df8f3a4aff885e6dc77024ad6b4cb48455d07b461ec30c41643ea",
    "utils": "642aeef536a071668f0b772f05f9d21573abf6955e7b6fb5fdb893760cca10e8",
    "utils-lite": "e004806def5e22ec98edc48a133ff3317166255e1ba29d93d129e9fdfa64a7be",
}
_OTHERS: Final = {
    "org.apache.hadoop_hadoop-aws-3.5.0.jar": (
        "66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa"
    ),
    "org.reactivestreams_reactive-streams-1.0.4.jar": (
        "f75ca597789b3dac58f61857b9ac2e1034a68fa672db35055a8fb4509e325f28"
    ),
    "software.amazon.eventstream_eventstream-1.0.1.jar": (
        "0c37d8e696117f02c302191b8110b0d0eb20fa412fce34c3a269ec73c16ce822"
    ),
    "software.amazon.s3.analyticsaccelerator_analyticsaccelerator-s3-1.3.1.jar": (
        "4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e"
    ),
}

S3: Final = Jars(
    name="the jars for S3",
    coordinate=",".join(
        [*(f"software.amazon.awssdk:{module}:{_SDK}" for module in _ROOTS), COORDINATE]
    ),
    foreign=(
        "commons-*:*,io.netty:*,org.apache.httpcomponents:*,org.slf4j:*,org.wildfly.openssl:*,"
        "software.amazon.awssdk:bundle"
    ),
    digests={
        **{f"software.amazon.awssdk_{name}-{_SDK}.jar": of for name, of in _OF_SDK.items()},
        **_OTHERS,
    },
    megabytes=13,
    beside_delta="s3-jars",
    variable="ACLKIT_S3_JARS",
    command="aclkit jars s3",
)

_SECONDS = 600
_MISSING: Final = "missing"
_LAST_LINES = 15
_PASSWORD: Final = re.compile(r"//[^/\s]*@")


def fetch_jars(
    jars: Jars, folder: Path | None = None, say: Callable[[str], None] | None = None
) -> tuple[Path, ...]:
    """Put jars into ``folder``; nothing is done where they already are.

    Args:
        jars: which.
        folder: where to; without it where they are looked for.
        say: called with every step that takes time.

    Raises:
        SurroundingsError: No Java, no network, no place, or a jar is not the expected one.
    """
    folder = folder or jars.folder()
    if wrong_jars(jars, folder):
        require_java()
        with tempfile.TemporaryDirectory(prefix="ivy-", dir=scratch()) as cache:
            if say is not None:
                size = f"{jars.megabytes} MB, about a minute"
                say(f"Downloading {jars.name} with Spark's resolver ({size})")
            _resolve(jars, Path(cache))
            _install(jars, Path(cache) / "jars", folder)
    return _paths(jars, folder)


def _paths(jars: Jars, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in jars.digests)


def checked_jars(jars: Jars, say: Callable[[str], None] | None = None) -> tuple[Path, ...]:
    """Return jars that are about to be loaded, each byte for byte the expected one.

    They are read for that every time, some milliseconds: a note of an earlier look could be forged
    by any user who can change a jar. Where they are missing they are fetched. What else lies in the
    folder is not loaded, as the jars of an older release do after an update.

    Raises:
        SurroundingsError: one is another, or they cannot be fetched.
    """
    folder = jars.folder().resolve()
    missing = missing_jars(jars, folder)
    known = {*jars.digests, *jars.beside}
    others = sorted({path.name for path in folder.glob("*.jar")} - known)
    if others and say is not None:
        say(f"{folder} contains jars that are not loaded: {', '.join(others)}")
    return fetch_jars(jars, folder, say) if missing else _paths(jars, folder)


def missing_jars(jars: Jars, folder: Path) -> list[str]:
    """Return the jars that are missing from a folder.

    Raises:
        SurroundingsError: one that is there is not the expected one.
    """
    wrong = wrong_jars(jars, folder)
    for name, what in wrong.items():
        if what != _MISSING:
            raise SurroundingsError(
                f"{folder / name} is not the expected jar ({what}). Nothing was loaded. To "
                f"download it again: {jars.command}"
            )
    return [*wrong]


def wrong_jars(jars: Jars, folder: Path) -> dict[str, str]:
    """Return the jars that are missing from a folder, or are not the expected ones, and how."""
    wrong = {}
    for name, digest in jars.digests.items():
        path = folder / name
        if not path.is_file():
            wrong[name] = _MISSING
        elif (found := _digest(path)) != digest:
            wrong[name] = f"sha-256 {found}, expected {digest}"
    return wrong


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SurroundingsError(f"Cannot read {path}: {error.strerror or error}") from error


def spark_home() -> Path:
    """Return where Spark is: ``SPARK_HOME``, else the folder of the package.

    Raises:
        SurroundingsError: there is none.
    """
    given = os.environ.get("SPARK_HOME", "")
    if given:
        return Path(given)
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise not_installed("starting Java", "pyspark")
    return Path(found.origin).parent


def _resolve(jars: Jars, cache: Path) -> None:
    """Run an empty program with ``spark-submit``, which asks for the packages."""
    program = cache / "nothing.py"
    program.write_text("", encoding="utf-8")
    home = spark_home()
    environ = {
        **os.environ,
        **SAFE_PATH,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [str(home / "bin" / "spark-submit"), *_arguments(jars, cache), str(program)]
    try:
        done = subprocess.run(  # noqa: S603 - Spark's own launcher, arguments made here
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
            preexec_fn=bound(),
        )
    except OSError as error:
        raise SurroundingsError(f"Cannot start Spark's resolver: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise SurroundingsError(
            f"{jars.name} were not downloaded within {_SECONDS} seconds. {_advice(jars)}"
        ) from error
    if done.returncode:
        raise SurroundingsError(f"{_tail(done.stdout)}\n{jars.name}: {_advice(jars)}")


def _arguments(jars: Jars, cache: Path) -> list[str]:
    arguments = ["--master", "local[1]", "--packages", jars.coordinate]
    arguments += ["--exclude-packages", jars.foreign, "--conf", f"spark.jars.ivy={cache}"]
    repository = os.environ.get("ACLKIT_MAVEN_REPOSITORY", "")
    return [*arguments, "--repositories", repository] if repository else arguments


def _install(jars: Jars, fetched: Path, folder: Path) -> None:
    wrong = wrong_jars(jars, fetched)
    if wrong:
        found = "; ".join(f"{name}: {what}" for name, what in wrong.items())
        raise SurroundingsError(f"The resolver did not download the expected jars: {found}")
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True)
            folder.chmod(0o755)
        for name in jars.digests:
            # A copy under another name first: who is killed half way leaves no half jar.
            part = folder / f".{name}.part"
            shutil.copyfile(fetched / name, part)
            part.chmod(FOR_EVERYBODY)  # as the package itself, whose users may be several
            part.replace(folder / name)
    except OSError as error:
        raise SurroundingsError(f"Cannot copy {jars.name} to {folder}: {error}") from error


def _tail(output: bytes) -> str:
    """Return the last lines, without the password that a mirror's address may hold."""
    lines = _PASSWORD.sub("//***@", output.decode(errors="replace")).splitlines()
    return "\n".join(lines[-_LAST_LINES:])


def _advice(jars: Jars) -> str:
    return (
        "Spark's resolver needs the network once. Behind a mirror, set "
        "ACLKIT_MAVEN_REPOSITORY to its address. Without a network, copy the jars to a folder "
        f"and set {jars.variable} to that folder."
    )
