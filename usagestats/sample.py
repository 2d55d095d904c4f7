"""A made-up access log of a year of the sample repository, for `silo demo --usage`.

The same days give the same lines. Addresses are of the blocks for examples and benchmarks (RFC
2544, RFC 3849); the list of countries for them is made up, too.
"""

import random
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_parents, make_within, replace_file
from usagestats.importing.importing import ImportRequest, Progress, import_logs
from usagestats.importing.receipt import ImportReceipt
from usagestats.rules.settings import choose_profile, has_settings
from usagestats.store.ledger import UsageLedger
from usagestats.store.paths import place, settings_path

DAYS = 365
_COUNTRIES = (
    "GB", "GB", "GB", "GB", "US", "US", "US", "DE", "DE", "FR", "IN", "IN", "CN", "NL", "IT", "ES",
    "AU", "CA", "BR", "JP", "NG", "ZA", "KE", "MX", "TR", "PL", "SE", "GR", "EG", "ID", "NZ", "SG",
)  # fmt: skip
_FIRST_ADDRESS = (198 << 24) + (18 << 16)
_OF_COUNTRY = (1 << 17) // len(_COUNTRIES)
COUNTRIES_FILE = "made-up-countries.csv"
_PEOPLE = (
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/141.0.0.0 Safari/537.36"
    ),
    (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/18.5 Safari/605.1.15"
    ),
    "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
    (
        "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/141.0.0.0 Mobile Safari/537.36"
    ),
)
_BOTS = (
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    (
        "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; "
        "+https://openai.com/gptbot)"
    ),
    "python-requests/2.32.3",
    "curl/8.5.0",
)
_OTHER_PATHS = ("/style.css", "/cgi/search?q=archives", "/view/year/2020.html", "/robots.txt", "/")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def import_sample(silo_path: str, *, today: date, progress: Progress) -> ImportReceipt:
    """Import a made-up log of the year before today into the sample's Silo.

    The days are those of the first time, so doing it again adds nothing.

    Args:
        today: The day after the last one of the log.
        progress: As `import_logs`.
    """
    make_within(silo_path, place(silo_path))
    with UsageLedger(silo_path) as ledger:
        until = date.fromisoformat(ledger.fixed("sample", today.isoformat()))
    if not has_settings(silo_path):
        _write_settings(silo_path)
    with Silo(silo_path, create=False) as silo:
        items = [name.rpartition(":")[2] for name in silo] or ["1"]
    # The addresses are not to be in the Silo, nor left in a file with a name.
    with tempfile.NamedTemporaryFile("wb", suffix=".log") as log:
        log.writelines(line.encode() for line in made_up_year(items, until))
        log.flush()
        return import_logs(
            silo_path, ImportRequest([log.name], format="combined"), progress=progress
        )


def _write_settings(silo_path: str) -> None:
    make_parents(settings_path(silo_path), silo_path)
    replace_file(place(silo_path, COUNTRIES_FILE), made_up_countries().encode())
    replace_file(settings_path(silo_path), f'countries = "{COUNTRIES_FILE}"\n'.encode())
    choose_profile(silo_path, "eprints")


def made_up_countries() -> str:
    """Return the list of the made-up countries' ranges: first, last, code."""
    first = _FIRST_ADDRESS
    return "".join(
        f"{first + number * _OF_COUNTRY},{first + (number + 1) * _OF_COUNTRY - 1},{code}\n"
        for number, code in enumerate(_COUNTRIES)
    )


def made_up_year(items: Sequence[str], until: date) -> Iterator[str]:
    """Yield the lines of a year, in order.

    Args:
        items: The short identifiers of the records.
        until: The day after the last one.
    """
    popular = random.Random("items").sample(list(items), len(items))  # noqa: S311  # made up
    for number in range(DAYS):
        day = until - timedelta(days=DAYS - number)
        yield from (line for _, line in sorted(_day(popular, day)))


def _day(popular: Sequence[str], day: date) -> Iterator[tuple[int, str]]:
    dice = random.Random(day.isoformat())  # noqa: S311  # made up
    begin = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    busy = 110 if day.weekday() < 5 else 50
    busy = busy * (60 if day.month in {7, 8, 12} else 100) // 100
    for _ in range(busy + dice.randrange(30)):
        moment = begin + dice.randrange(86_400)
        # A few records are read much, most of them little.
        item = popular[min(int(dice.paretovariate(0.35)) - 1, len(popular) - 1)]
        address, is_bot = _address(dice), dice.random() < 0.3
        agent = dice.choice(_BOTS) if is_bot else dice.choice(_PEOPLE)
        if dice.random() < 0.08:
            yield moment, _line(moment, address, dice.choice(_OTHER_PATHS), 200, agent)
            continue
        status = dice.choices((200, 304, 404, 206), (90, 5, 3, 2))[0]
        yield moment, _line(moment, address, f"/{item}/", status, agent)
        if dice.random() < 0.55 and status == 200:
            moment += dice.randrange(5, 200)
            for _ in range(2 if dice.random() < 0.1 else 1):  # a double click
                path = f"/{item}/1/paper.pdf"
                yield moment, _line(moment, address, path, 200, agent)
                moment += dice.randrange(1, 20)


def _address(dice: random.Random) -> str:
    if dice.random() < 0.05:
        return f"2001:db8::{dice.randrange(1, 200):x}"
    number = _FIRST_ADDRESS + dice.randrange(len(_COUNTRIES)) * _OF_COUNTRY + dice.randrange(60)
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _line(moment: int, address: str, path: str, status: int, agent: str) -> str:
    at = datetime.fromtimestamp(moment, UTC)
    time = f"{at.day:02}/{_MONTHS[at.month - 1]}/{at:%Y:%H:%M:%S} +0000"
    return f'{address} - - [{time}] "GET {path} HTTP/1.1" {status} 9120 "-" "{agent}"\n'
