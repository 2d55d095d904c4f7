"""A package that was crawled, built, described: ready to be submitted."""

import json
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

from warcs_of_others import by_others

from silocrawl.crawl_log import CrawlOutcome, line_of
from silocrawl.packages.describing import describe
from silocrawl.packages.layout import payload_file, warc_name
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import FileStore
from silocrawl.packages.values import Package, PackageState, WarcOfPackage
from silocrawl.packages.work import PackageWork
from silocrawl.taking_in import lines_of_warc

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SETTINGS = StoreSettings(nodes=("reading-room", "web"))


def url_of(package: str, number: int) -> str:
    return f"http://site.example.org/{package}/{number}"


def made(
    silo: Path, store: FileStore, name: str = "own-cp00001", *, warcs: int = 2, pages: int = 3,
    viral: bool = False, settings: StoreSettings = SETTINGS,
) -> PackageWork:  # fmt: skip
    """Crawl some pages, and do the steps up to the description."""
    archives = silo / "crawling" / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    log, noted = "", []
    for number in range(1, warcs + 1):
        path = archives / f"{name}-{number}.warc.gz"
        answers = [
            (url_of(name, page), {"Content-Type": "text/html"}, f"page {page}".encode() * 50)
            for page in range((number - 1) * pages, number * pages)
        ]
        by_others(path, *answers)
        with path.open("rb") as file:
            for line in lines_of_warc(file, path.name, []):
                log += _log_line(line)
        is_viral = viral and number == warcs
        stored = store.put_file(str(path), warc_name(name, path.name, is_viral=is_viral))
        noted.append(
            WarcOfPackage(
                path.name, str(path), *stored, f"ark:/99999/s1{name[-1]}{number}", is_viral=is_viral
            )
        )
    package = Package(
        name, f"ark:/99999/s1{name[-1]}x", "own", name, "20260301110000", "silo", AT - timedelta(1),
        AT, warcs=tuple(noted), history=((PackageState.BEGUN, AT), (PackageState.PACKAGED, AT)),
    )  # fmt: skip
    work = PackageWork(str(silo), package, store)
    _document(work, log)
    return replace(work, package=describe(work, settings))


def _log_line(line: str) -> str:
    _, moment, text = line.split(" ", 2)
    row = json.loads(text)
    outcome = CrawlOutcome(
        moment, row["url"], 200, "text/html", f"sha1:{row['digest']}", 300,
        warc_filename=row["filename"], warc_offset=int(row["offset"]),
    )  # fmt: skip
    return line_of(outcome, AT, 0.1)


def _document(work: PackageWork, log: str) -> None:
    package = work.package
    files = {"crawl/crawl.log": log, "other/progress.log": "nothing\n"}
    for name, some in (("logs.zip", files), ("configuration.zip", {"target.toml": "x"})):
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, text in some.items():
                archive.writestr(zipfile.ZipInfo(inside), text)
        _write(work, name, packed.getvalue())
    named = [(package.ark, package.id), *((one.ark, one.name) for one in package.warcs)]
    _write(work, "warc-arks.txt", "".join(f"{ark}\t{name}\n" for ark, name in named).encode())


def _write(work: PackageWork, name: str, content: bytes) -> None:
    path = Path(payload_file(work.silo_path, work.package.id, f"documentation/{name}"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
