"""What a search over all Silos costs: nodes with an index each, and a few Silos asked themselves.

    .venv/bin/python benchmarks/fleet_search.py --silos 1000 --records 300 --nodes 3

The Silos have made-up descriptions in their indexes, without records behind them. Each node
is a process of `silo serve`; the searches are those of `benchmarks/search.py`, with the facets
of the page, and one record of ten is in several Silos.
"""

import argparse
import contextlib
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace

from search import World

from recordsilo import Granary, Silo
from recordsilo.index import Entry, ManifestStamp
from recordsilo.index.catalogue import Catalogue
from silofleet.search.everywhere import Everywhere
from silofleet.search.feeding import feed
from silofleet.search.index import place_of
from silofleet.search.silos import search_silos
from silofleet.search.values import AllSearch

PORT = 8960
SHARED = 10
"""One record in so many has a DOI that records of other Silos have, too."""


def entry(world: World, number: int) -> Entry:
    found = world.entry(number)
    if number % SHARED:
        return found
    doi = f" doi:10.5555/{world.random.randrange(20_000)}"
    return replace(found, text=replace(found.text, identifiers=found.text.identifiers + doi))


def fill(path: str, world: World, records: int) -> None:
    with Silo(path) as silo:
        stamp = ManifestStamp(0, 0, 0)
        found = [(entry(world, world.random.randrange(10**9)), stamp) for _ in range(records)]
        silo._catalogue._index.settle(found)


def bytes_of(path: str) -> int:
    return sum(one.stat().st_size for one in os.scandir(path))


def timed_searches(number: int, world: World, search: Everywhere | Granary) -> str:
    times, cpu = [], time.process_time()
    for _ in range(number):
        words, filters = world.query()
        begun = time.perf_counter()
        wanted = AllSearch(words, filters)
        if isinstance(search, Granary):
            found = search_silos(search, wanted)
        else:
            found = search.search(wanted)
        times.append(1000 * (time.perf_counter() - begun))
        assert not found.missing, found.missing
    cpu = 1000 * (time.process_time() - cpu) / number
    times.sort()
    return (
        f"p50 {statistics.median(times):.1f} ms, p95 {times[int(number * 0.95)]:.1f} ms, "
        f"worst {times[-1]:.1f} ms; {cpu:.1f} ms CPU in this process"
    )


@contextlib.contextmanager
def served(paths: list[str]) -> Iterator[list[str]]:
    """Serve each directory by a process of its own; yields the addresses."""
    command = [sys.executable, "-c", "from recordsilo.cli import main; main()", "serve"]
    with contextlib.ExitStack() as ends:
        addresses = []
        for number, path in enumerate(paths):
            port = PORT + number
            process = subprocess.Popen(
                [*command, path, "--port", str(port)], stdout=subprocess.DEVNULL
            )
            ends.callback(process.wait)
            ends.callback(process.terminate)
            addresses.append(f"http://127.0.0.1:{port}")
        for address in addresses:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(address + "/static/silo.css", timeout=5).close()
                    break
                time.sleep(0.2)
        yield addresses


def measure(directory: str, silos: int, records: int, nodes: int, searches: int) -> None:
    Catalogue._catch_up = lambda _self, _rows: False  # type: ignore[method-assign] # no records
    world = World()
    paths = [f"{directory}/node{number}" for number in range(nodes)]
    for number in range(silos):
        path = paths[number % nodes]
        os.makedirs(path, exist_ok=True)
        fill(f"{path}/silo{number:05}", world, records)
    load = os.getloadavg()
    print(
        f"{silos:,} Silos of {records:,} records on {nodes} nodes; load {load[0]:.1f} at the start"
    )
    for path in paths:
        cpu, wall = time.process_time(), time.perf_counter()
        fed = feed(Granary(path, create=False))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        size = bytes_of(place_of(path)) / fed.written
        print(f"feeding {fed.written:,} records: {1e6 * cpu / fed.written:.0f} µs CPU, "
              f"{1e6 * wall / fed.written:.0f} µs wall and {size:.0f} bytes a record")  # fmt: skip
    cpu = time.process_time()
    fed = feed(Granary(paths[0], create=False))
    cpu = time.process_time() - cpu
    print(f"feeding again, nothing changed: {1000 * cpu / fed.silos:.1f} ms CPU a Silo")
    one = Everywhere(Granary(paths[0], create=False))
    one.search(AllSearch("w1"))
    print(f"one node: {timed_searches(searches, world, one)}")
    few = [f"{paths[0]}/{name}" for name in sorted(os.listdir(paths[0])) if name[:4] == "silo"][:50]
    os.mkdir(f"{directory}/few")
    for path in few:
        shutil.copytree(path, f"{directory}/few/{os.path.basename(path)}")
    granary = Granary(f"{directory}/few", create=False)
    timed_searches(3, world, granary)
    print(f"{len(few)} Silos asked, no index: {timed_searches(searches // 4, world, granary)}")
    with served(paths[1:]) as addresses:
        os.makedirs(f"{paths[0]}/fleet", exist_ok=True)
        with open(f"{paths[0]}/fleet/endpoints.toml", "w", encoding="utf-8") as file:
            for number, address in enumerate(addresses, 1):
                file.write(f'[nodes.n{number}]\nsearch = "{address}"\n')
        everywhere = Everywhere(Granary(paths[0], create=False))
        timed_searches(5, world, everywhere)
        print(f"{nodes} nodes: {timed_searches(searches, world, everywhere)}")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--silos", type=int, default=1000)
    options.add_argument("--records", type=int, default=300)
    options.add_argument("--nodes", type=int, default=3)
    options.add_argument("--searches", type=int, default=200)
    options.add_argument("--directory", help="where to make the Silos; by default a temporary one")
    given = options.parse_args()
    random.seed(7)
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        measure(directory, given.silos, given.records, given.nodes, given.searches)


if __name__ == "__main__":
    main()
