"""A real Heritrix 3.4.0 on loopback: fetched from the package registry, started, stopped.

python tests/crawlmatch/real_heritrix.py DIR     fetches 49 MB, with Maven
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import requests
from requests.auth import HTTPDigestAuth

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
ARTIFACT = "org.archive.heritrix:heritrix:3.4.0-20220727:zip:dist"
PROFILE = "org/archive/crawler/restlet/profile-crawler-beans.cxml"
USER = ("silo", "silo")
OVERRIDES = """
metadata.operatorContactUrl=http://127.0.0.1/
metadata.jobName=site
seeds.sourceTagSeeds={source_tags}
loggerModule.logExtraInfo={extra_info}
disposition.delayFactor=0
disposition.minDelayMs=0
disposition.respectCrawlDelayUpToSeconds=0
frontier.retryDelaySeconds=1
frontier.maxRetries=2
fetchHttp.soTimeoutMs=5000
fetchHttp.timeoutSeconds=10
crawlController.pauseAtStart=false
crawlController.maxToeThreads=4
crawlLimiter.maxTimeSeconds=60
##..more?..##"""
HISTORY = """
 <bean id="persistLoad" class="org.archive.modules.recrawl.PersistLoadProcessor"/>
 <bean id="history" class="org.archive.modules.recrawl.FetchHistoryProcessor"/>
 <bean id="persistStore" class="org.archive.modules.recrawl.PersistStoreProcessor"/>
</beans>"""
"""What makes a second launch of a job know what the first one fetched."""
HISTORY_AFTER = {"preselector": "persistLoad", "fetchHttp": "history", "warcWriter": "persistStore"}


def fetch(directory: Path) -> None:
    """Get the distribution and unpack it, if it is not there yet."""
    directory.mkdir(parents=True, exist_ok=True)
    if _home(directory) is not None:
        return
    subprocess.run(
        ["mvn", "-B", "-q", f"{PLUGIN}:copy", f"-Dartifact={ARTIFACT}",
         f"-DoutputDirectory={directory}", "-Dmdep.stripVersion=true"],
        check=True,
    )  # fmt: skip
    with zipfile.ZipFile(directory / "heritrix-dist.zip") as packed:
        packed.extractall(directory / "unpacking")
    (directory / "heritrix-dist.zip").unlink()
    for made in (directory / "unpacking").iterdir():
        made.rename(directory / made.name)
    (directory / "unpacking").rmdir()


def _home(directory: Path) -> Path | None:
    return next(directory.glob("heritrix-3*"), None)


def lacks(directory: Path) -> str:
    """Why none can be started here; "" if it can."""
    if _home(directory) is None:
        return f"{directory} has no Heritrix"
    return "" if shutil.which("java") else "there is no java"


class Heritrix:
    """A running one; `crawl` launches a job and waits for its end."""

    def __init__(self, files: Path, work: Path, port: int) -> None:
        self._files, self._work = files, work
        self._root = f"https://127.0.0.1:{port}/engine"
        self._session = requests.Session()
        self._session.auth = HTTPDigestAuth(*USER)
        self._session.trust_env = False  # else REQUESTS_CA_BUNDLE goes before the next line
        self._session.verify = False  # it makes a certificate of its own
        self._session.headers["Accept"] = "application/xml"

    def ask(self, path: str = "", **form: str) -> ElementTree.Element:
        """Post a form, or get what there is."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = self._session.request(
                "POST" if form else "GET", f"{self._root}{path}", data=form or None, timeout=30
            )
        answer.raise_for_status()
        return ElementTree.fromstring(answer.content)

    def make_job(
        self, name: str, seeds: Sequence[str], *, source_tags: bool = False, extra_info: bool = True
    ) -> None:
        """Make a job that fetches seeds and what lies below them, with a fetch history."""
        home = _home(self._files)
        assert home is not None
        engine = next((home / "lib").glob("heritrix-engine-*.jar"))
        with zipfile.ZipFile(engine) as jar:
            text = jar.read(PROFILE).decode()
        begin = text.index("metadata.operatorContactUrl=")
        end = text.index("##..more?..##") + len("##..more?..##")
        told = OVERRIDES.format(
            source_tags=str(source_tags).lower(), extra_info=str(extra_info).lower()
        )
        text = text[:begin] + told + text[end:]
        listed = "\n".join(seeds).replace("&", "&amp;")
        text = text.replace("http://example.example/example", listed)
        for known, added in HISTORY_AFTER.items():
            reference = f'<ref bean="{known}"/>'
            text = text.replace(reference, f'{reference}<ref bean="{added}"/>')
        directory = self._work / "jobs" / name
        directory.mkdir(parents=True)
        (directory / "crawler-beans.cxml").write_text(text.replace("</beans>", HISTORY))
        self.ask(action="rescan")

    def crawl(self, name: str) -> Path:
        """Launch a job, wait for its end, and tear it down: where its logs and WARCs are."""
        job = f"/job/{name}"
        before = set((self._work / "jobs" / name).glob("2*"))
        self.ask(job, action="build")
        self.ask(job, action="launch")
        until = time.monotonic() + 100
        while time.monotonic() < until:
            found = self.ask(job)
            if found.findtext("crawlControllerState") == "FINISHED":
                break
            time.sleep(0.3)
        else:
            raise RuntimeError(f"the crawl {name} did not end")
        self.ask(job, action="teardown")
        (made,) = {path.resolve() for path in (self._work / "jobs" / name).glob("2*")} - {
            path.resolve() for path in before
        }
        return made


@contextmanager
def running(files: Path, work: Path) -> Iterator[Heritrix]:
    """Start one, wait until it answers, and stop it in the end."""
    home = _home(files)
    work.mkdir(parents=True, exist_ok=True)
    (work / "jobs").mkdir()
    port = free_port()
    with open(work / "log", "wb") as log:
        process = subprocess.Popen(
            ["java", "-Xmx400m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
             f"-Dheritrix.home={home}", f"-Dheritrix.out={work / 'out'}",
             "-cp", f"{home}/lib/*", "org.archive.crawler.Heritrix", "-a", ":".join(USER),
             "-p", str(port), "-b", "127.0.0.1", "-j", str(work / "jobs")],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=work,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    try:
        found = Heritrix(files, work, port)
        until = time.monotonic() + 120
        while True:
            try:
                found.ask()
                break
            except (requests.RequestException, ElementTree.ParseError):
                if time.monotonic() > until or process.poll() is not None:
                    told = (work / "log").read_text(errors="replace")[-2000:]
                    raise RuntimeError(f"Heritrix did not start: {told}") from None
                time.sleep(0.3)
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    fetch(parser.parse_args().directory)


if __name__ == "__main__":
    sys.exit(main())
