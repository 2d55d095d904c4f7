"""What the tests of batch edits share: a rule, and waiting for what it does."""

import time
from contextlib import suppress
from typing import Any

from recordsilo import Silo
from silocuration.batch.job import held, job_report
from silocuration.errors import JobBusy
from silowork.ledger import JobLedger

PLAIN = "oai:example.org:1"
HTML = "text/html"
NOTHING = "is selected, so there is nothing to"
RULE = {
    "search": "q=Record",
    "changes": "1",
    "change-0-do": "replace pattern",
    "change-0-field": "title",
    "change-0-pattern": "^Record",
    "change-0-by": "Item",
}


def content(silo: Silo, identifier: str, version: str | None = None) -> str:
    with silo[identifier].get_stream("oai_dc", version) as file:
        return str(file.read().decode())


def finished(silo: Silo, job_id: str, *, undone: bool = False) -> Any:
    """The report of a job, once it has come to its end and nobody is at it any more."""
    deadline = time.monotonic() + 90
    while True:
        report = job_report(silo, job_id)
        is_over = report.is_finished and not JobLedger(silo.path).active()
        if is_over and (not undone or not report.counts.get("done")):
            with suppress(JobBusy), held(silo, job_id):
                return report
        assert time.monotonic() < deadline, report.counts
        time.sleep(0.02)


def looked_at(client: Any, answer: Any) -> str:
    """The address of a planned change, once all that it would do was counted."""
    assert answer.status == 202, answer.text
    for _ in range(3000):
        job = client.json(answer.headers["Location"])
        if job["state"] not in {"queued", "running"}:
            assert (job["kind"], job["state"]) == ("preview", "done"), job["sentence"]
            return str(answer.json["url"])
        time.sleep(0.02)
    raise AssertionError(job)


def previewed_url(client: Any, fields: dict[str, str]) -> str:
    answer = client.post("/bulk", fields | {"do": "preview"}, accept=HTML)
    assert answer.status == 303, answer.text
    return str(answer.headers["Location"])
