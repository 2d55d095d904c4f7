"""What it costs to render a page: a crawl with a browser, beside the browser alone, in one run.

    .venv/bin/python benchmarks/rendering.py --pages 30

Each landing page comes after a redirect and has a script that fetches JSON and makes the link to a
PDF, a style sheet, a frame and a lazy image. The crawl archives all of it, with the picture, the
DOM, the text and the list of requests; it does not fetch the PDF. The browser alone goes to the
same pages, scrolls, and takes the same pictures. The same crawl without a browser is measured,
too. Whole processes with their start, all descendants counted; the server is not. Goals: 0.5 CPU
seconds a page, 450 MB.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from processes import Process, adopt_orphans, measured_family, median

from recordsilo import Silo
from silocrawl.addresses import PICTURE
from silocrawl.browser import HEIGHT, WIDTH
from silocrawl.captures import Captures
from silocrawl.launching import inject
from silocrawl.messages import CRAWL, RENDER
from silocrawl.paths import queues_file
from silocrawl.rendering import browser_settings
from silowork.queues.sqlite import SqliteQueues

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "silocrawl"))
from site_of_traps import Reply, Site, page, served

_SCRIPT = """<script>fetch('/api/' + location.pathname.split('/').pop()).then(one => one.json())
.then(one => { document.title = one.title; document.querySelector('main').innerHTML = one.html })
</script>"""
_STYLE = b"main { max-width: 40em; margin: auto } h1 { color: navy } img { width: 300px }"
_DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="99">'
_TEXT = "<p>No single cause explains what was seen.</p>" * 60


def landing_pages(pages: int) -> Site:
    """The site."""
    site = Site()
    style = '<link rel=stylesheet href=/main.css><link rel=icon href="data:,">'
    site.pages |= {
        "/main.css": Reply(200, _STYLE, {"Content-Type": "text/css"}),
        "/frame": page("<p>Figures of use</p>"),
    }
    for number in range(pages):
        body = f"<main>Loading</main>{_SCRIPT}{_TEXT}<iframe src=/frame></iframe>"
        link = f'<h1>Paper {number}</h1><a href="/files/{number}.pdf">Full text</a>'
        said = json.dumps({"title": f"Paper {number}", "html": link}).encode()
        image = f"<img loading=lazy src=/images/{number}.svg>"
        drawn = f'{_DRAWING}<text x="9" y="90">Figure {number}</text></svg>'.encode()
        site.pages |= {
            f"/id/{number}": Reply(302, b"", {"Location": f"/paper/{number}"}),
            f"/paper/{number}": page(f"{body}{_TEXT}{image}", style),
            f"/api/{number}": Reply(200, said, {"Content-Type": "application/json"}),
            f"/images/{number}.svg": Reply(200, drawn, {"Content-Type": "image/svg+xml"}),
        }
    return site


def crawled(site: Site, pages: int, directory: Path, queue: str) -> Process:
    """Crawl the pages, with a browser if the queue is that of pages to be rendered."""
    place = str(directory / "silo")
    with Silo(place, "info:", identifier_uri_prefix="oai:example.org:"):
        os.makedirs(os.path.dirname(queues_file(place)))
    with SqliteQueues(queues_file(place)) as queues:
        inject(queues, [f"{site.url}/id/{one}" for one in range(pages)], force=False, queue=queue)
    silo = str(Path(sys.executable).parent / "silo")
    given = [silo, "crawl", "run", place, "--until-idle", "--private", "--interval", "0", "-q"]
    done = measured_family([*given, *([] if os.geteuid() else ["--no-sandbox"])])
    captures = Captures(place)
    for number in range(pages):
        url = f"{site.url}/paper/{number}"
        assert captures.of(url), url
        assert len(captures.of(f"{PICTURE}{url}")) == (queue == RENDER), url
    return done


def browser_alone(url: str, pages: int) -> None:
    """Show the pages with a browser that records nothing, in this process."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # counted as the others' start

    has_sandbox = os.geteuid() != 0
    one = browser_settings(has_sandbox=has_sandbox, is_private=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=one.program, chromium_sandbox=has_sandbox,
            args=["--disable-dev-shm-usage"],
        )  # fmt: skip
        for number in range(pages):
            context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
            shown = context.new_page()
            shown.goto(f"{url}/id/{number}")
            shown.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            shown.wait_for_load_state("networkidle")
            assert shown.title() == f"Paper {number}"
            shown.screenshot(full_page=True)
            context.close()
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--directory", help="where to work (default: a temporary directory)")
    parser.add_argument("--alone", metavar="URL", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        browser_alone(given.alone, given.pages)
        return
    adopt_orphans()
    pages, found = given.pages, dict[str, list[Process]]()
    with (
        tempfile.TemporaryDirectory(dir=given.directory) as place,
        served(landing_pages(pages)) as site,
    ):
        alone = [sys.executable, __file__, "--alone", site.url, "--pages", str(pages)]
        for run in range(given.runs):
            for name, queue in (("with a browser", RENDER), ("without", CRAWL)):
                directory = Path(place, str(run), name)
                directory.mkdir(parents=True)
                found.setdefault(name, []).append(crawled(site, pages, directory, queue))
            found.setdefault("browser alone", []).append(measured_family(alone))
    print(f"{pages} pages, median of {given.runs} runs, load {os.getloadavg()[0]:.1f}")
    for name, runs in found.items():
        one = median(runs)
        print(
            f"{name:15} {one.cpu / pages:6.3f} CPU s a page, {one.wall / pages:5.2f} s a page,"
            f" {one.megabytes:,.0f} MB"
        )


if __name__ == "__main__":
    main()
