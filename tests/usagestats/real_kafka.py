"""A real Kafka 3.9.1 on loopback, one process in KRaft mode: fetched, started, stopped.

python tests/usagestats/real_kafka.py DIR     fetches 46 MB, with Maven
"""

import argparse
import base64
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
BROKER = "org.apache.kafka:kafka_2.13:3.9.1"
LOGGER = "org.slf4j:slf4j-simple:1.7.36"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>broker</artifactId><version>1</version>
  <dependencies>{}</dependencies>
</project>"""
# Small intervals, so that a killed consumer is missed within a second.
SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{inner}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{inner}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=3
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
transaction.abort.timed.out.transaction.cleanup.interval.ms=300
auto.create.topics.enable=false
"""


def fetch(directory: Path) -> None:
    """Get the broker and what it needs, if it is not there yet."""
    if _jars(directory).exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    names = (one.split(":") for one in (BROKER, LOGGER))
    (directory / "pom.xml").write_text(
        POM.format(
            "".join(
                f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
                f"<version>{version}</version></dependency>"
                for group, name, version in names
            )
        )
    )
    subprocess.run(
        ["mvn", "-B", "-q", "-f", str(directory / "pom.xml"), f"{PLUGIN}:copy-dependencies",
         f"-DoutputDirectory={directory / 'fetching'}", "-DincludeScope=runtime"],
        check=True,
    )  # fmt: skip
    (directory / "fetching").rename(_jars(directory))


def _jars(directory: Path) -> Path:
    return directory / "jars"


def lacks(directory: Path) -> str:
    """Why none can be started here; "" if it can."""
    if not _jars(directory).exists():
        return f"{directory} has no Kafka"
    return "" if shutil.which("java") else "there is no java"


@contextmanager
def running(files: Path, work: Path) -> Iterator[str]:
    """Start one, wait until it answers, and stop it in the end; its address."""
    from ports import free_port  # noqa: PLC0415  # of the tests; not there when this fetches

    work.mkdir(parents=True, exist_ok=True)
    port, inner = free_port(), free_port()
    settings = work / "server.properties"
    settings.write_text(SETTINGS.format(port=port, inner=inner, data=work / "data"))
    java = ["java", "-Xmx400m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp", f"{_jars(files)}/*"]  # fmt: skip
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    with open(work / "log", "wb") as log:
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", "-t", f"a{cluster[1:]}",
             "-c", str(settings)],
            check=True, stdout=log, stderr=log,
        )  # fmt: skip
        process = subprocess.Popen(
            [*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
    try:
        _wait(process, f"127.0.0.1:{port}", work / "log")
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", address: str, log: Path) -> None:
    until = time.monotonic() + 200
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    while time.monotonic() < until and process.poll() is None:
        try:
            client.list_topics(timeout=1)
            return
        except KafkaException:
            time.sleep(0.2)
    raise RuntimeError(f"Kafka did not start: {log.read_text(errors='replace')[-2000:]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    fetch(parser.parse_args().directory)


if __name__ == "__main__":
    sys.exit(main())
