"""Users read the page during a batch edit in another process: no errors."""

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from silocuration.editing.rule_files import RuleSet, save_rules
from silocuration.editing.rules import Replace
from webui import urls
from webui.server import PageServer

RECORDS = 300
READERS = 8
RULES = RuleSet("one spelling", rules=(Replace("type", "Article", "article"),))
CONTENT = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Record {}</dc:title>'
    "<dc:type>Article</dc:type></oai_dc:dc>"
)
NAMES = [f"oai:example.org:{number}" for number in range(RECORDS)]


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    """A Silo of so many harvested records."""
    with Silo(str(tmp_path / "myrepo")) as silo:
        with silo.batch(NAMES) as batch:
            for number, name in enumerate(NAMES):
                edit = batch.edit(name)
                edit.add_version("1", date="2004-06-24T00:00:00", origin=Origin("harvest"))
                edit.put("1", "oai_dc", CONTENT.format(number).encode(), metadata=True)
        yield silo


class Reader:
    """One person, who goes through some pages until told to stop, and notes what is wrong."""

    def __init__(self, port: int, first: int) -> None:
        self.wrong: list[str] = []
        self.rounds = 0
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        self._records = NAMES[first::READERS]

    def read(self, is_over: threading.Event) -> None:
        """Go round at least once."""
        try:
            while not (self.rounds and is_over.is_set()):
                self._look(self._records[self.rounds % len(self._records)])
                self.rounds += 1
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.wrong.append(repr(error))
        finally:
            self._connection.close()

    def _look(self, name: str) -> None:
        for path in ("/search", "/search?q=record&type=Article", "/bulk/jobs", urls.record(name)):
            self._get(path)
        shown = json.loads(self._get(urls.twin(urls.record(name))))
        found = [version["name"] for version in shown["versions"]]
        if found not in (["1"], ["1", "workingcopy"]):
            self.wrong.append(f"{name} has {found}")
        for version in found:
            content = self._get(urls.file(name, version, "oai_dc")).decode()
            spelled = "Article" if version == "1" else "article"
            if f"<dc:type>{spelled}</dc:type>" not in content:
                self.wrong.append(f"{name}, {version}: {content}")

    def _get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            self.wrong.append(f"{path}: {answer.status} {body[:300]!r}")
        return body


def all_at_once(work: Iterable[Callable[[], None]]) -> list[threading.Thread]:
    threads = [threading.Thread(target=one) for one in work]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.long
def test_readers_meet_no_error_and_nothing_torn_while_a_bulk_edit_runs(
    silo: Silo, serve: Callable[[Silo], PageServer]
) -> None:
    save_rules(silo.path, "types", RULES)
    port = serve(silo).port
    readers = [Reader(port, number) for number in range(READERS)]
    is_over = threading.Event()
    threads = all_at_once(lambda one=one: one.read(is_over) for one in readers)  # type: ignore[misc]
    command = [sys.executable, "-c", "from silocuration.commands.edits import rules; rules()"]
    try:
        done = subprocess.run([*command, "apply", silo.path, "types", "-q"], check=False)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert [wrong for one in readers for wrong in one.wrong] == []
    assert done.returncode == 0
    assert all(one.rounds for one in readers)
    assert silo.count(curated=True) == RECORDS
