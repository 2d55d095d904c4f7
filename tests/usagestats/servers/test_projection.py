"""The keys of 2010 agree with the log, by plain sets; nobody else's keys are touched."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from day_items import item_figures
from made_up import GONE, ONE, TWO, count, make_silo

from recordsilo import Origin, Silo
from recordsilo.cli import silo_command
from usagestats.entities.bundles import assert_same
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.projection import NotOurs, project
from usagestats.store import queries
from usagestats.store.counts import Period, UsageCounts

pytestmark = pytest.mark.long
DC = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title>{}</oai_dc:dc>"""
BEN = "n:092f2ba9f39fbc2876e64d12cd662f72"
ANNA = "n:" + hashlib.md5(b"Anna").hexdigest()
FOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def silo_path(new_silo: Callable[[str], str]) -> str:
    path = new_silo("")
    with Silo(path, create=False) as silo:
        for number, creators in ((1, ("Ben", "Anna")), (2, ("Ben",))):
            identifier = f"oai:example.org:{number}"
            with silo.batch([identifier]) as batch:
                edit = batch.edit(identifier)
                edit.add_version("1", date="2024-05-01T00:00:00", origin=Origin("harvest"))
                text = DC.format("".join(f"<dc:creator>{one}</dc:creator>" for one in creators))
                edit.put("1", "oai_dc", text.encode(), metadata=True)
    return path


def run(path: str, url: str) -> Result:
    return CliRunner().invoke(silo_command, ["usage", "redis", path, "--redis", url])


def log(path: Path, days: range) -> set[tuple[str, str, str, str]]:
    """Write a log; the day, record, kind and address of each use in it."""
    lines, uses = [], set()
    for day in days:
        for number in range(40):
            item, address = number % 3 + 1, f"203.0.113.{number % 7}"
            target, letter = [(f"/{item}/", "v"), (f"/{item}/1/a.pdf", "d")][number % 2]
            moment = datetime(2026, 10, day, number % 24, number % 60, tzinfo=UTC)
            agent = FOX if number % 10 else "Googlebot/2.1"
            lines.append(f'{address} - - [{moment:%d/%b/%Y:%H:%M:%S +0000}] "GET {target} HTTP/1.1"'
                         f' 200 9 "-" "{agent}"\n')  # fmt: skip
            if number % 10:
                name = f"oai:example.org:{item}" if item < 3 else "3"
                uses.add((f"2026-10-{day:02}", name, letter, address))
    path.write_text("".join(lines))
    return uses


def check(client: Any, uses: set[tuple[str, str, str, str]]) -> None:
    clients, dates, totals = defaultdict(set), defaultdict(set), defaultdict(int)
    names = {"v": "views", "d": "dls"}
    creators = {"oai:example.org:1": (BEN, ANNA), "oai:example.org:2": (BEN,)}
    for day, item, letter, address in uses:
        clients[f"{day}:{item}:{letter}"].add(address)
        dates[f"d{letter}:{item}"].add(day)
        for key in (item, *creators.get(item, ())):
            totals[f"t:{names[letter]}:{key}"] += 1
    assert {key: client.scard(key) for key in client.scan_iter("2026-*")} == {
        key: len(some) for key, some in clients.items()
    }
    assert {key: client.smembers(key) for key in client.scan_iter("d[vdo]:*")} == dates
    assert {key: int(client.get(key)) for key in client.scan_iter("t:*")} == totals
    items = {item for _, item, _, _ in uses}
    assert client.smembers("objectitems") == client.smembers("objectids") == items
    assert client.smembers("names") == {BEN, ANNA}
    assert (client.get(BEN), client.get(ANNA)) == ("Ben", "Anna")
    assert client.smembers(f"e:{BEN}") == {"oai:example.org:1", "oai:example.org:2"}
    assert client.smembers("e:oai:example.org:1") == {BEN, ANNA}


def test_the_keys_of_2010(silo_path: str, redis_url: str, database: Any, tmp_path: Path) -> None:
    uses = log(tmp_path / "a.log", range(10, 13))
    import_logs(silo_path, ImportRequest([str(tmp_path / "a.log")]))
    database.set("mine", "1")
    done = run(silo_path, redis_url)
    assert (done.exit_code, done.output.endswith(" keys\n")) == (0, True)
    check(database, uses)
    assert database.get("v:stamp") == "2026-10-12T22:22:00Z"
    tokens = database.smembers("2026-10-10:3:v")
    assert all(len(one) == 16 for one in tokens)
    assert not tokens & database.smembers("2026-10-11:3:v")

    more = log(tmp_path / "b.log", range(14, 15))
    import_logs(silo_path, ImportRequest([str(tmp_path / "b.log")]))
    bundle = assert_same(silo_path, [BEN, ANNA], "a", "2026-10-01T00:00:00Z")
    assert run(silo_path, redis_url).exit_code == 0
    check(database, uses | more)
    assert database.smembers(bundle) == {BEN, ANNA}
    assert database.get("mine") == "1"

    # The clients of frozen days are gone; dates and totals stay.
    later = datetime.now(UTC) + timedelta(days=100)
    import_logs(silo_path, ImportRequest([]), now=later)
    assert "deleted" in run(silo_path, redis_url).output
    assert list(database.scan_iter("2026-*")) == []
    assert database.smembers("dv:3") == {day for day, item, letter, _ in uses | more
                                         if (item, letter) == ("3", "v")}  # fmt: skip


def test_countries_and_the_most_downloaded(redis_url: str, database: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "silo")
    with make_silo(path) as silo:
        count(path, days=40)
        assert project(silo, redis_url).keys == project(silo, redis_url).keys
    with UsageCounts(path) as counts:
        for item in (ONE, TWO, GONE):
            uses = {code: uses for code, uses, _ in queries.countries(counts, Period(), [item])}
            assert Counter(database.lrange(f"g:{item}", 0, -1)) == uses
        period = Period("2026-01-09", "2026-02-07")
        figures = item_figures(counts, period)
    found = json.loads(database.get("analysis:current"))
    assert (found["now"], found["days"], found["size"]) == ("2026-02-07", 30, 20)
    assert {item: number for number, item, _ in found["results"]} == {
        item: some.downloads_2010 for item, some in figures.items() if some.downloads_2010
    }
    assert found["results"][0][1:] == [ONE, "Solar cells"]
    assert not [*database.scan_iter("t:ip:*"), *database.scan_iter("ua:*")]


def test_keys_of_others_are_refused(silo_path: str, redis_url: str, database: Any) -> None:
    database.sadd("objectids", "uuid:1")
    done = run(silo_path, redis_url)
    assert (done.exit_code, "name another one" in done.output) == (2, True)
    database.flushall()
    database.set("silo:projection", "/elsewhere")
    with Silo(silo_path, create=False) as silo, pytest.raises(NotOurs, match="/elsewhere"):
        project(silo, redis_url)
    assert database.dbsize() == 1


def test_a_redis_that_is_away_is_named(silo_path: str) -> None:
    done = run(silo_path, "redis://127.0.0.1:1/0")
    assert (done.exit_code, "Redis cannot be used" in done.output) == (3, True)
