"""An address goes to a real Heritrix by a real RabbitMQ, and its outcome comes back."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import real_heritrix
from rabbitmq_server import RabbitMQ
from site_of_traps import Site, page
from waiting import wait_until

from recordsilo import Silo
from silocrawl.heritrix.outcomes import Crawled, crawled_of
from silocrawl.heritrix.states import HeritrixState
from silocrawl.launching import inject
from silocrawl.messages import INDEX
from silocrawl.paths import amqp_file
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import MessageState

pytestmark = pytest.mark.long
DOCS = Path(__file__).parents[2] / "docs" / "heritrix-fetching.md"
SILO = [sys.executable, "-c", "from recordsilo.cli import main; main()"]


def add_beans(cxml: Path, url: str) -> None:
    """Add to a job what our documentation says."""
    (beans,) = re.findall(r"```xml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    beans = beans.replace("amqp://heritrix:secret@mq.example.org/crawl", url)
    text = cxml.read_text().replace("</beans>", f"{beans}</beans>")
    last = '<ref bean="disposition"/>'
    assert text.count(last) == 1
    cxml.write_text(text.replace(last, f'{last}<ref bean="outcomesFeed"/>'))


def outcomes(queues: SqliteQueues) -> list[Crawled]:
    found = queues.peek(INDEX, MessageState.WAITING, 100)
    return [crawled_of(one.body) for one in found]


def test_an_address_goes_to_heritrix_and_its_outcome_comes_back(
    silo: Silo, queues: SqliteQueues, rabbitmq: RabbitMQ, site: Site, tmp_path: Path
) -> None:
    for path in ("/", "/a", "/b"):
        site.pages[path] = page("x")
    Path(amqp_file(silo.path)).write_text(f'url = "{rabbitmq.url}"\n')
    Path(amqp_file(silo.path)).chmod(0o600)
    libraries = real_heritrix.amqp_libraries()
    with real_heritrix.running(real_heritrix.NEW, tmp_path / "heritrix", libraries) as real:
        real.make_job(
            "theses", [f"{site.url}/"],
            {"crawlController.runWhileEmpty": "true", "crawlLimiter.maxTimeSeconds": "600"},
            source_tags=True,
        )  # fmt: skip
        add_beans(real.jobs / "theses" / "crawler-beans.cxml", rabbitmq.url)
        bridge = subprocess.Popen([*SILO, "crawl", "bridge", silo.path], env={**os.environ})
        try:
            real.client.launch("theses")
            real.wait_for("theses", HeritrixState.EMPTY)
            inject(queues, [f"{site.url}/a", f"{site.url}/b"], force=False)
            wanted = {f"{site.url}/{one}" for one in ("", "a", "b")}
            wait_until(lambda: wanted <= {one.url for one in outcomes(queues)})
            inject(queues, [f"{site.url}/a"], force=True)
            wait_until(lambda: [one.url for one in outcomes(queues)].count(f"{site.url}/a") == 2)
        finally:
            bridge.terminate()
            assert bridge.wait(60) == 75
    for one in outcomes(queues):
        if one.url in {f"{site.url}/a", f"{site.url}/b"}:
            assert (one.status, one.job, one.seed) == (200, "theses", one.url)
            assert one.is_archived
            assert "receivedFromAMQP" in one.annotations
    assert site.asked["/a"] == 2
    assert queues.sizes()["uris-to-crawl"].alive == 0
