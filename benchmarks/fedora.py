"""Deposits in a second, beside a bare loop of the same requests to the same Fedora.

    .venv/bin/python benchmarks/fedora.py http://127.0.0.1:8080/rest --records 200 --jobs 4

The bare loop sends, record by record, the requests that an export of it takes, with
bodies made beforehand; both are run in turns, so that the server's mood counts for both.
"""

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from recordsilo import Origin, Silo
from siloexport import Export, Selection
from siloexport.targets.fedora import FedoraClient, FedoraTarget
from siloexport.targets.fedora.client import ARCHIVAL_GROUP, BINARY, NT, joined

METADATA = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">'
    '<dc:title xml:lang="en">Record {0}</dc:title><dc:creator>Adeyemi, T.</dc:creator>'
    "<dc:description>{1}</dc:description></oai_dc:dc></metadata>"
)


def fill(silo: Silo, records: int) -> list[str]:
    identifiers = [f"oai:example.org:{number}" for number in range(records)]
    with silo.batch(identifiers) as batch:
        for identifier in identifiers:
            edit = batch.edit(identifier)
            edit.add_version("1", date="2024-05-01T00:00:00", origin=Origin("harvest"))
            content = METADATA.format(identifier, "word " * 150).encode()
            edit.put("1", "oai_dc", content, metadata=True)
    return identifiers


def bare(client: FedoraClient, root: str, base: str, identifier: str) -> None:
    """What an export of one new record sends, without thinking."""
    uri = joined(base, identifier.replace(":", "+"))
    content = METADATA.format(identifier, "word " * 150).encode()
    transaction = client.send("POST", f"{root}/fcr:tx").headers["Location"]
    within = {"Atomic-ID": transaction}
    group = {"Link": f'<{ARCHIVAL_GROUP}>;rel="type"', "Content-Type": "text/turtle"}
    client.send("PUT", uri, {**within, **group})
    file = {
        "Link": f'<{BINARY}>;rel="type"',
        "Content-Type": "application/xml",
        "Digest": f"sha-512={hashlib.sha512(content).hexdigest()}",
    }
    for name in ("oai_dc", "oai_dc.xml"):
        client.send("PUT", f"{uri}/{name}", {**within, **file}, content)
    description = "".join(
        f'<{uri}> <http://purl.org/dc/terms/subject> "subject {number}" .\n' for number in range(16)
    )
    client.send("PUT", uri, {**within, "Content-Type": NT}, description.encode())
    client.send("PUT", transaction)
    client.send("GET", f"{uri}/fcr:versions", {"Accept": "application/link-format"})


def timed(work: Callable[[], object], records: int) -> tuple[float, float]:
    """(records in a second, CPU milliseconds of ours for each)."""
    began, cpu = time.perf_counter(), time.process_time()
    work()
    cpu = time.process_time() - cpu
    return records / (time.perf_counter() - began), 1000 * cpu / records


def run_bare(client: FedoraClient, root: str, base: str, part: list[str], jobs: int) -> None:
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda identifier: bare(client, root, base, identifier), part))


def run_export(silo: Silo, target: FedoraTarget, part: list[str], jobs: int) -> None:
    report = Export(silo, target).run(Selection(identifiers=tuple(part)), jobs=jobs)
    assert report.whole, report.problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root")
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    user = os.environ.get("FEDORA_USER", "fedoraAdmin").encode()
    password = os.environ.get("FEDORA_PASSWORD", "fedoraAdmin").encode()
    root, name = given.root.rstrip("/"), f"bench{int(time.time())}"
    ratios = []
    with (
        tempfile.TemporaryDirectory() as directory,
        Silo(f"{directory}/silo", "http://example.org/oai") as silo,
        FedoraClient(root, (user, password)) as client,
    ):
        identifiers = fill(silo, given.records)
        size = given.records // given.turns
        jobs = given.jobs
        loop_base = f"{root}/{name}/bare"
        FedoraTarget(loop_base, client).prepare()
        target = FedoraTarget(f"{root}/{name}/export", client)
        target.prepare()
        warm = [f"warm:{number}" for number in range(size)]
        run_bare(client, root, loop_base, warm, jobs)
        for turn in range(given.turns):
            part = identifiers[turn * size : (turn + 1) * size]
            loop, its = timed(partial(run_bare, client, root, loop_base, part, jobs), size)
            ours, cpu = timed(partial(run_export, silo, target, part, jobs), size)
            ratios.append(ours / loop)
            print(
                f"{size} records, {jobs} jobs: bare {loop:.1f}/s ({its:.0f} ms of CPU each), "
                f"export {ours:.1f}/s ({cpu:.0f} ms), ratio {ours / loop:.2f}"
            )
    print(f"median ratio {statistics.median(ratios):.2f} (at least 0.80 is the aim)")


if __name__ == "__main__":
    main()
