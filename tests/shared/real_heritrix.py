"""Real Heritrix programs on loopback: fetched from the package registry, started, killed, stopped.

python tests/shared/real_heritrix.py DIR     fetches 93 MB, with Maven
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from ports import free_port

from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.errors import HeritrixError
from silocrawl.heritrix.states import HeritrixAction, HeritrixState

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
OLD, NEW = "3.4.0-20220727", "3.13.0"
PACKED = {OLD: "zip", NEW: "tar.gz"}
"""The versions, and how the registry has them."""
AMQP = ("org.archive.heritrix:heritrix-contrib:3.13.0", "com.rabbitmq:amqp-client:5.26.0")
"""What `NEW` needs to talk to a RabbitMQ."""
PROFILE = "org/archive/crawler/restlet/profile-crawler-beans.cxml"
OVERRIDES = """
metadata.operatorContactUrl=http://127.0.0.1/
metadata.jobName=site
seeds.sourceTagSeeds={source_tags}
loggerModule.logExtraInfo={extra_info}
disposition.delayFactor=0
disposition.minDelayMs=0
disposition.respectCrawlDelayUpToSeconds=0
frontier.retryDelaySeconds=1
frontier.maxRetries=4
fetchHttp.soTimeoutMs=5000
fetchHttp.timeoutSeconds=10
actionDirectory.initialDelaySeconds=1
actionDirectory.delaySeconds=1
crawlController.pauseAtStart=false
crawlController.maxToeThreads=4
crawlLimiter.maxTimeSeconds=600
##..more?..##"""
HISTORY = """
 <bean id="persistLoad" class="org.archive.modules.recrawl.PersistLoadProcessor"/>
 <bean id="history" class="org.archive.modules.recrawl.FetchHistoryProcessor"/>
 <bean id="persistStore" class="org.archive.modules.recrawl.PersistStoreProcessor"/>
</beans>"""
"""What makes a second launch of a job know what the first one fetched."""
HISTORY_AFTER = {"preselector": "persistLoad", "fetchHttp": "history", "warcWriter": "persistStore"}


def fetch(directory: Path) -> None:
    """Get the distributions and unpack them, those that are not there yet."""
    directory.mkdir(parents=True, exist_ok=True)
    for version, form in PACKED.items():
        if _home(directory, version).is_dir():
            continue
        artifact = f"org.archive.heritrix:heritrix:{version}:{form}:dist"
        subprocess.run(
            ["mvn", "-B", "-q", f"{PLUGIN}:copy", f"-Dartifact={artifact}",
             f"-DoutputDirectory={directory}", "-Dmdep.stripVersion=true"],
            check=True,
        )  # fmt: skip
        packed, unpacked = directory / f"heritrix-dist.{form}", directory / "unpacking"
        if form == "zip":
            with zipfile.ZipFile(packed) as archive:
                archive.extractall(unpacked)
        else:
            with tarfile.open(packed) as archive:
                archive.extractall(unpacked, filter="data")
        packed.unlink()
        _home(unpacked, version).rename(_home(directory, version))
        shutil.rmtree(unpacked)
    if not _amqp_in(directory).is_dir():
        unpacked = directory / "amqp.new"
        for artifact in AMQP:
            subprocess.run(
                ["mvn", "-B", "-q", f"{PLUGIN}:copy", f"-Dartifact={artifact}",
                 f"-DoutputDirectory={unpacked}"],
                check=True,
            )  # fmt: skip
        unpacked.rename(_amqp_in(directory))


def _amqp_in(directory: Path) -> Path:
    return directory / "amqp"


def amqp_libraries() -> list[Path]:
    """What `NEW` needs to talk to a RabbitMQ; without it, the test is skipped, but in CI fails."""
    found = sorted(_amqp_in(heritrix_files(NEW)).glob("*.jar"))
    if len(found) != len(AMQP):
        reason = "no heritrix-contrib (see tests/shared/real_heritrix.py)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return found


def _home(directory: Path, version: str) -> Path:
    return directory / f"heritrix-{version}"


def heritrix_files(version: str = NEW) -> Path:
    """Where the distributions are; without them or Java, the test is skipped, but in CI fails."""
    files = os.environ.get("HERITRIX_FILES")
    lacking = "" if files else "no HERITRIX_FILES"
    if files and not _home(Path(files), version).is_dir():
        lacking = f"{files} has no Heritrix {version}"
    elif not shutil.which("java"):
        lacking = "there is no java"
    if lacking:
        reason = f"no real Heritrix: {lacking} (see tests/shared/real_heritrix.py)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return Path(files or "")


class RealHeritrix:
    """A program with a port and a directory of jobs of its own, which outlive it.

    Args:
        version: `OLD` or `NEW`.
        work: A directory; made anew.
        libraries: More jars, for beans that the distribution has not.

    Attributes:
        client: Asks it.
        url: Where it is, also when it is started again.
        jobs: The directory of its jobs.
    """

    user, password = "silo", "silo"

    def __init__(self, version: str, work: Path, libraries: Sequence[Path] = ()) -> None:
        self._home = _home(heritrix_files(version), version)
        self._work, self._libraries = work, libraries
        self.jobs = work / "jobs"
        self.jobs.mkdir(parents=True)
        self._port = free_port()
        self.url = f"https://127.0.0.1:{self._port}"
        self.client = Heritrix(self.url, self.user, self.password)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers; it goes on with the same jobs."""
        classpath = ":".join([f"{self._home}/lib/*", *map(str, self._libraries)])
        with open(self._work / "log", "ab") as log:
            self._process = subprocess.Popen(
                ["java", "-Xmx400m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                 f"-Dheritrix.home={self._home}", f"-Dheritrix.out={self._work / 'out'}",
                 "-cp", classpath, "org.archive.crawler.Heritrix",
                 "-a", f"{self.user}:{self.password}",
                 "-p", str(self._port), "-b", "127.0.0.1", "-j", str(self.jobs)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._work,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )  # fmt: skip
        until = time.monotonic() + 240
        while True:
            try:
                self.client.engine()
                return
            except HeritrixError:
                if time.monotonic() > until or self._process.poll() is not None:
                    told = (self._work / "log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"Heritrix did not start: {told}") from None
                time.sleep(0.3)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it."""
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        if (process := self._process) is None:
            return
        process.send_signal(by)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._process = None

    def make_job(
        self,
        name: str,
        seeds: Sequence[str],
        settings: Mapping[str, str] | None = None,
        *,
        source_tags: bool = False,
        extra_info: bool = True,
    ) -> None:
        """Make a job that fetches seeds and what lies below them, with a fetch history.

        Args:
            name: Its name.
            seeds: Addresses.
            settings: More lines, such as ``{"crawlController.maxToeThreads": "1"}``.
            source_tags: Whether the log names the seed of each address.
            extra_info: Whether it has a 13th field.
        """
        engine = next((self._home / "lib").glob("heritrix-engine-*.jar"))
        with zipfile.ZipFile(engine) as jar:
            text = jar.read(PROFILE).decode()
        begin = text.index("metadata.operatorContactUrl=")
        end = text.index("##..more?..##") + len("##..more?..##")
        told = OVERRIDES.format(
            source_tags=str(source_tags).lower(), extra_info=str(extra_info).lower()
        )
        more = "".join(f"\n{key}={value}" for key, value in (settings or {}).items())
        text = text[:begin] + told + more + text[end:]
        listed = "\n".join(seeds).replace("&", "&amp;")
        text = text.replace("http://example.example/example", listed)
        for known, added in HISTORY_AFTER.items():
            reference = f'<ref bean="{known}"/>'
            text = text.replace(reference, f'{reference}<ref bean="{added}"/>')
        directory = self.jobs / name
        directory.mkdir()
        (directory / "crawler-beans.cxml").write_text(text.replace("</beans>", HISTORY))
        self.client.rescan()

    def crawl(self, name: str) -> Path:
        """Launch a job, wait for its end, and tear it down: where its logs and WARCs are."""
        before = set((self.jobs / name).glob("2*"))
        self.client.launch(name)
        self.wait_for(name, HeritrixState.FINISHED)
        self.client.act(name, HeritrixAction.TEARDOWN)
        (made,) = set((self.jobs / name).glob("2*")) - before
        return made.resolve()

    def wait_for(self, name: str, state: HeritrixState, seconds: float = 240.0) -> None:
        """Wait until a job has a state."""
        until = time.monotonic() + seconds
        while (job := self.client.job(name)).state is not state:
            assert time.monotonic() < until, f"{name} is {job.state}: {job.log}"
            time.sleep(0.2)


@contextmanager
def running(version: str, work: Path, libraries: Sequence[Path] = ()) -> Iterator[RealHeritrix]:
    """Start one, and stop it in the end; see `RealHeritrix`."""
    found = RealHeritrix(version, work, libraries)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    fetch(parser.parse_args().directory)


if __name__ == "__main__":
    sys.exit(main())
