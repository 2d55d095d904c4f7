"""A made-up access log of a repository of EPrints, with everything that makes counting hard."""

import random
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
PEOPLE = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
    'A \\"quoted\\" browser \\\\ Firefox/140.0',
    "Navegador espa\udcf1ol Firefox/140.0",
    "Читатель Firefox/140.0",
)
BOTS = ("Mozilla/5.0 (compatible; Googlebot/2.1)", "-", "", "Sogou web spider/4.0")
MACHINES = ("python-requests/2.32.3", "curl/8.5.0", "Wget/1.21")
DAYS = (
    datetime(2026, 3, 29, tzinfo=UTC),  # the clocks go forward in London
    datetime(2026, 10, 25, tzinfo=UTC),  # and back
    datetime(2026, 6, 1, tzinfo=UTC),
    datetime(2025, 12, 31, tzinfo=UTC),
)
BROKEN = (
    b'203.0.113.9 - - [12/Oct/2026:10:00:01 +0000] "GET /3001/ HTTP/1.1" 200 9 "-" "Fire',
    b'203.0.113.9 - - [12/Okt/2026:10:00:01 +0000] "GET /3001/ HTTP/1.1" 200 9 "-" "Firefox"',
    b'203.0.113.9 - - [31/Feb/2026:10:00:01 +0000] "GET /3001/ HTTP/1.1" 200 9 "-" "Firefox"',
    b'203.0.113.9 - - [12/Oct/2026:10:00:01 +0000] "GET /3001/ HTTP/1.1" OK 9 "-" "Firefox"',
    b"203.0.113.9 - - [12/Oct/2026:10:00:01 +0000] GET /3001/ HTTP/1.1 200 9 - Firefox",
    b"2001:db8::dead:beef",
    b"\xff\xfe\x00\x01 nonsense \x80",
    b"",
)


def made_up_log(number: int, seed: int = 1, *, items: int = 12, people: int = 25) -> list[bytes]:
    """Make lines up, without LF, in the order of a log as far as a log has one."""
    dice = random.Random(seed)
    addresses = [f"203.0.113.{one}" for one in range(people)]
    addresses += [f"2001:db8::{one:x}" for one in range(1, people)]
    lines: list[bytes] = []
    while len(lines) < number:
        if dice.random() < 0.03:
            lines.append(dice.choice(BROKEN))
            continue
        address = dice.choice(addresses)
        agent = dice.choice(PEOPLE * 4 + BOTS + MACHINES)
        user = "anna" if dice.random() < 0.05 else "-"
        item = f"{3000 + dice.randrange(items)}"
        path = dice.choice((f"/{item}/", f"/{item}/1/a%20paper.pdf", f"/{item}/2/b.pdf"))
        if dice.random() < 0.1:
            path = dice.choice(("/style.css", "/cgi/search", f"/{item}", "/", "/robots.txt"))
            path = path if path != f"/{item}" else "/view/"
        moment = _moment(dice)
        for _ in range(dice.choice((1, 1, 1, 2, 3, 5))):  # a chain of clicks
            lines.append(_line(dice, moment, address, user=user, path=path, agent=agent))
            moment += timedelta(seconds=dice.choice((0, 1, 5, 29, 30, 31, 40)))
    lines += dice.choices(lines, k=number // 20)
    return lines


def _moment(dice: random.Random) -> datetime:
    day = dice.choice(DAYS)
    if dice.random() < 0.5:  # about midnight in London, or when the clocks change
        at = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo("Europe/London"))
        begin = at.astimezone(UTC) + timedelta(hours=dice.choice((0, 0, 0, 1, 2, 23, 24)))
        return begin + timedelta(seconds=dice.randrange(-45, 45))
    return day + timedelta(seconds=dice.randrange(2 * 86_400))


def _line(
    dice: random.Random, moment: datetime, address: str, *, user: str, path: str, agent: str
) -> bytes:
    zone = timezone(timedelta(minutes=dice.choice((0, 0, 60, 330, -480))))
    local = moment.astimezone(zone)
    time = f"{local.day:02}/{MONTHS[local.month - 1]}/{local:%Y:%H:%M:%S %z}"
    query = dice.choice(("", "", "", "?download=1", "?a=b?c"))
    method = dice.choice(("GET",) * 12 + ("HEAD", "POST"))
    status = dice.choice((200,) * 12 + (304, 304, 206, 404, 302, 500))
    size = dice.choice(("-", "0", "912", "123456789"))
    referrer = dice.choice(("-", "https://example.org/?q=a b", ""))
    end = dice.choice(("", "", "", "\r", ' 0.003 "more"', " 12"))
    text = f'{address} - {user} [{time}] "{method} {path}{query} HTTP/1.1" {status} {size} '
    return f'{text}"{referrer}" "{agent}"{end}'.encode("utf-8", "surrogateescape")
