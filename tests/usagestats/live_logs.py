"""The logs of live lines, and lines that can be told apart in them."""

from collections import Counter
from pathlib import Path

from usagestats.lines.readers import reader_of
from usagestats.live.line_processor import BOTS, KINDS, MISSING, OTHER, UNREADABLE, VIEWS
from usagestats.rules.classify import NOT_FOUND, Rules, classify
from usagestats.rules.settings import UsageSettings
from usagestats.values import Fate

FOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def numbered(number: int) -> list[bytes]:
    """Lines of all kinds; each has its number in it."""
    found = []
    for at in range(number):
        path, agent, status = [
            (f"/{3000 + at % 7}/1/p.pdf", FOX, 200), (f"/{3000 + at % 5}/", "Googlebot/2.1", 200),
            ("/nothing", FOX, 404), ("/style.css", FOX, 200),
        ][at % 4]  # fmt: skip
        address = f"203.0.113.{at % 50}" if at % 3 else f"2001:db8::{at % 50 + 1:x}"
        moment = f"{10 + at % 3:02}/Oct/2026:{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}"
        found.append(
            f'{address} - - [{moment} +0000] "GET {path}?line={at} HTTP/1.1" {status} 9'
            f' "-" "{agent}"'.encode()
        )
        if at % 10 == 9:
            found.append(b"broken line=%d %s" % (at, address.encode()))
    return found


def logs_of(silo_path: str) -> dict[str, Counter[bytes]]:
    """Kind → what follows ``line=`` in the lines of its logs, and how often."""
    found: dict[str, Counter[bytes]] = {kind: Counter() for kind in KINDS}
    for path in Path(silo_path, "usage", "logs").glob("*/*.log"):
        for line in path.read_bytes().splitlines():
            found[path.stem][line.partition(b"line=")[2].split()[0]] += 1
    return found


def kinds_of(lines: list[bytes], settings: UsageSettings) -> dict[str, Counter[bytes]]:
    """The same, as it ought to be."""
    rules, reader = Rules(settings), reader_of("combined")
    found: dict[str, Counter[bytes]] = {kind: Counter() for kind in KINDS}
    names = {Fate.BOT: BOTS, Fate.COUNTED: VIEWS, Fate.OTHER: OTHER, Fate.UNREADABLE: UNREADABLE}
    for line in lines:
        became = classify(line, reader, rules)
        kind = MISSING if became.reason == NOT_FOUND else names[became.fate]
        found[kind][line.partition(b"line=")[2].split()[0]] += 1
    return found
