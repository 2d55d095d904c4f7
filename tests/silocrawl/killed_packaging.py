"""Packages a Silo in a child that is killed at random moments: SILO STORE KILLS.

After each kill another crawl has come, and what must hold at any time is checked.
"""

import os
import random
import signal
import sys
import time

from crawled_pages import crawled, warcs_of

import silocrawl.commands.packages  # noqa: F401  # so that no child is killed while it imports
from recordsilo.cli import main
from silocrawl.packages.arks import Arks
from silocrawl.packages.kept import load_packages
from silocrawl.packages.layout import PACKAGES, receipt_name, warc_name
from silocrawl.packages.receipts import receipt_of
from silocrawl.packages.store import open_store
from silocrawl.packages.values import Package, PackageState


def killed(silo: str, store: str, seconds: float) -> float | None:
    """Package in a child, kill it after some seconds; return how long it took, None if killed."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["silo", "crawl", "package", silo, "--store", store, "-q"]
        try:
            main()
        except SystemExit as done:
            os._exit(int(done.code or 0))
    end = began + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            return time.monotonic() - began
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def check(silo: str, store: str, digests: dict[str, str]) -> list[Package]:
    """What holds at any time: no ARK twice; packages complete or absent; nothing lost."""
    packages, damaged = load_packages(silo)
    assert not damaged
    arks = [ark for one in packages for ark in (one.ark, *(warc.ark for warc in one.warcs))]
    assert len(arks) == len(set(arks))
    with Arks(silo, mode="read") as minted:
        for one in packages:
            known = {"": one.ark} | {warc.name: warc.ark for warc in one.warcs}
            assert minted.of(one.id) == known
    names = [warc.name for one in packages for warc in one.warcs]
    assert len(names) == len(set(names))
    place = open_store(store) if os.path.isdir(store) else None
    here = warcs_of(silo)
    for one in packages:
        assert place is not None
        content = place.read(receipt_name(one.id))
        assert (content is not None) or not one.has(PackageState.SUBMITTED)
        if content is not None:
            receipt = receipt_of(content, one.id)
            assert receipt.files.keys() == {
                name.split("/", 2)[2] for name in place.names(f"{PACKAGES}/{one.id}")
            }
            for path, stored in receipt.files.items():
                assert place.stored(f"{PACKAGES}/{one.id}/{path}") == stored
        for warc in one.warcs:
            if warc.name not in here:  # deleted: it was verified
                assert one.has(PackageState.VERIFIED)
                found = place.stored(warc_name(one.id, warc.name))
                assert found is not None
                assert found.sha512 == digests[warc.name]
    unpackaged = digests.keys() - names
    assert unpackaged <= here.keys()
    assert all(digests[name] == here[name] for name in here)
    return packages


def run(silo: str, store: str, kills: int) -> None:
    rng, digests, states = random.Random(kills), dict[str, str](), set[PackageState]()
    for number in range(2):
        crawled(silo, number, 3, 30_000, rotate_at=50_000)
        digests |= warcs_of(silo)
        longest = killed(silo, store, 600.0)  # the second time, everything is known
        assert longest is not None
    done = 0
    while done < kills:
        number += 1
        if number % 2:
            crawled(silo, number, 3, 30_000, rotate_at=50_000)
        digests |= warcs_of(silo)
        done += killed(silo, store, rng.uniform(0.0, longest)) is None
        states |= {one.state for one in check(silo, store, digests)}
    assert killed(silo, store, 600.0) is not None
    packages = check(silo, store, digests)
    assert {warc.name for one in packages for warc in one.warcs} >= digests.keys()
    assert all(one.has(PackageState.VERIFIED) and not one.error for one in packages)
    print(len(packages), len(digests), len(states))


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
