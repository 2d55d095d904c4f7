"""A Silo with some records, and made-up counts of their usage."""

from collections.abc import Sequence
from datetime import date, timedelta

from day_items import DayItem, replace_day

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_directory
from usagestats.store.counts import UsageCounts
from usagestats.store.paths import place
from usagestats.values import Figures

THESIS = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Solar cells</dc:title>
 <dc:creator>Ben</dc:creator><dc:creator>Swan, Eve</dc:creator><dc:subject>Energy</dc:subject>
 <dc:publisher>University of Wexcombe</dc:publisher><dc:type>Thesis</dc:type>
 <dc:date>2016-05-04</dc:date><dc:language>en</dc:language>
 <dc:identifier>https://doi.org/10.5555/wex.1</dc:identifier></oai_dc:dc>"""
ARTICLE = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>=Wind, and rain</dc:title>
 <dc:creator>Ben</dc:creator><dc:creator>B. Swan</dc:creator><dc:subject>Weather</dc:subject>
 <dc:type>Article</dc:type><dc:date>2018</dc:date>
 <dc:source>Journal of Weather, ISSN 1234-567X</dc:source>
 <dc:identifier>http://eprints.example.org/2/</dc:identifier></oai_dc:dc>"""
ONE, TWO, GONE = "oai:x:1", "oai:x:2", "oai:x:gone"
FIRST = date(2025, 12, 30)


def make_silo(path: str) -> Silo:
    """Make the Silo, without counts."""
    silo = Silo(path, identifier_uri_prefix="oai:x:")
    for identifier, text in ((ONE, THESIS), (TWO, ARTICLE)):
        record = silo.get_item(identifier)
        record.put_stream("oai_dc", text.encode(), metadata=True)
        record.metadata["setSpec"] = ["all"]
        record.sync()
    return silo


def figures(views: int, downloads: int, others: int = 0) -> Figures:
    """Figures of so many uses."""
    uses = views + downloads
    return Figures(
        uses, downloads, max(uses - 1, 1), downloads, others, views, downloads, others, uses
    )


def count(path: str, days: int = 70, items: Sequence[str] = (ONE, TWO, GONE)) -> None:
    """Write counts of some days from `FIRST` on; the first record is used most."""
    make_directory(place(path))
    with UsageCounts(path, "create") as counts, counts.changing() as change:
        for number in range(days):
            day = str(FIRST + timedelta(number))
            moment = 1_767_052_800 + number * 86_400
            rows = [
                DayItem(
                    item, False, figures(6 - 2 * rank, 1 + number % 2, number % 3), moment,
                    moment + 60, (("GB", 5 - rank, 1), ("DE", 1, number % 2)),
                )
                for rank, item in enumerate(items)
                if (number + rank) % (rank + 1) == 0
            ]  # fmt: skip
            rows.append(DayItem(items[0], True, figures(1, 1), moment, moment))
            replace_day(change, day, rows)
