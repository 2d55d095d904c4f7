"""The pages of our own crawls, as a package contributes pages."""

from webui.contributed import Pages
from webui.crawling import (
    comparisons,
    jobs,
    lists,
    packages,
    proposals,
    screenshots,
    status,
    targets,
)
from webui.navigation import NavigationLink
from webui.people.roles import Role
from webui.route import Body, Operation, Query, Route

_COUNT = {"type": "integer", "minimum": 0}
_FIELDS = {
    "title": "For people.",
    "frequency": "`once`, `daily`, `weekly`, `monthly`, `quarterly`, `six-monthly`, `annual`.",
    "start": "Of the first launch, such as `2026-12-01T02:00`, UTC; empty for now.",
    "end": "From when on there is no launch.",
    "zone": "Time zone of days and times.",
    "scope": "`page`, `documents`, `path`, `root`, `subdomains`.",
    "plus_one": "`yes`: what these pages link to is fetched, too.",
    "render": "`yes`: a browser shows the seeds.",
    "ignore": "Patterns of addresses that are never fetched, each on a line.",
    "pages": "Most addresses of a seed.",
    "bytes": "Most bytes of a seed, such as `2G`.",
    "hours": "Longest time of a seed.",
    "hops": "Most hops from a seed.",
}
_WHAT = {"url": "An address.", "search": "The query of a search's address, instead."}
_ASK = "/crawling/add"
_LIST, _DEAD = "/crawling/targets", "/crawling/dead/{queue}"
_ONE = f"{_LIST}/{{name}}"
_PROPOSALS, _COMPARED = "/crawling/proposals", "/crawling/comparisons"
_JOBS, _OWN = "/crawling/jobs", "/crawling/running"
_JOB = f"{_JOBS}/{{engine}}/{{job}}"
_PACKAGES = "/crawling/packages"
_HEADING = "Harvest & export"
_SHOT = (
    Query("url", text="The page.", required=True),
    Query("at", text="When it was crawled, such as `20261201020000`, UTC.", required=True),
    Query("small", text="`yes`: its top, small."),
)
_LAUNCH = Query("launch", text="Its time, such as `20261201T020000Z`.", required=True)

_ACTIONS = {
    "add crawl target": "Crawl target added",
    "change crawl target": "Crawl target changed",
    "pause crawl target": "Crawl target paused",
    "resume crawl target": "Crawl target resumed",
    "remove crawl target": "Crawl target removed",
    "attach document": "Proposed document attached",
    "reject document": "Proposed document rejected",
    "undo document": "Decision about a document undone",
    "retry crawl messages": "Crawl messages retried",
    "ask for checkpoint": "Checkpoint asked for",
    "retry package": "Package tried again",
    "pause crawl job": "Crawl job paused",
    "unpause crawl job": "Crawl job continued",
    "checkpoint crawl job": "Checkpoint of a crawl job made",
    "terminate crawl job": "Crawl job terminated",
}

PAGES = Pages(
    "crawling",
    (
        Route("GET", _LIST, targets.show, told=Operation("", (Query("start", _COUNT),))),
        Route("POST", _LIST, targets.add, Body.FIELDS,
              told=Operation("", fields=_WHAT | _FIELDS, status=201)),
        Route("GET", _ASK, targets.ask, role=Role.CURATOR),
        Route("GET", f"{_ASK}/records", targets.ask_records, role=Role.CURATOR),
        Route("GET", _ONE, targets.show_one),
        Route("GET", f"{_ONE}/seeds", lists.show_seeds, told=Operation("", (Query("after"),))),
        Route("GET", f"{_ONE}/failures", lists.show_failures,
              told=Operation("", (_LAUNCH, Query("from", _COUNT)))),
        Route("POST", f"{_ONE}/{{action}}", targets.act, Body.FIELDS,
              told=Operation("", fields=_FIELDS)),
        Route("GET", _JOBS, jobs.show),
        Route("GET", _JOB, jobs.show_one),
        Route("POST", f"{_JOB}/{{action}}", jobs.act, Body.FIELDS, role=Role.MANAGER),
        Route("GET", _OWN, jobs.show_own),
        Route("POST", f"{_OWN}/checkpoint", jobs.checkpoint_own, Body.FIELDS, role=Role.MANAGER,
              told=Operation("", status=202)),
        Route("GET", _PACKAGES, packages.show, told=Operation("", (Query("start", _COUNT),))),
        Route("GET", f"{_PACKAGES}/{{package}}", packages.show_one),
        Route("POST", f"{_PACKAGES}/{{package}}/retry", packages.try_again, Body.FIELDS,
              role=Role.MANAGER),
        Route("GET", "/crawling/status", status.show),
        Route("GET", "/crawling/metrics", status.metrics, is_for_programs=True,
              told=Operation("text/plain")),
        Route("GET", _DEAD, status.show_dead, told=Operation("", (Query("after"),))),
        Route("POST", _DEAD, status.retry, Body.FIELDS,
              told=Operation("", fields={"number": "Of one message; empty for all."})),
        Route("GET", _PROPOSALS, proposals.show, told=Operation("", (Query("after", _COUNT),))),
        Route("GET", f"{_PROPOSALS}/{{number}}/first-page.png", proposals.picture,
              told=Operation("image/png")),
        Route("POST", f"{_PROPOSALS}/{{number}}/{{action}}", proposals.decide, Body.FIELDS),
        Route("GET", _COMPARED, comparisons.show, told=Operation("", (Query("start", _COUNT),))),
        Route("GET", f"{_COMPARED}/{{name}}", comparisons.show_one),
        Route("GET", f"{_COMPARED}/{{name}}/{{picture}}", comparisons.picture,
              told=Operation("image/png")),
        Route("GET", "/crawling/screenshot.png", screenshots.show,
              told=Operation("image/png", _SHOT)),
    ),
    (
        (_HEADING, NavigationLink("Crawl targets", _LIST, also=(_ASK,))),
        (_HEADING, NavigationLink("Crawl jobs", _JOBS, also=(_OWN,))),
        (_HEADING, NavigationLink("Packages", _PACKAGES)),
        (_HEADING, NavigationLink("Proposed documents", _PROPOSALS)),
        (_HEADING, NavigationLink("Compared pages", _COMPARED)),
        (_HEADING, NavigationLink("Crawl status", "/crawling/status", also=("/crawling/dead",))),
    ),
    (NavigationLink("Crawl their links", f"{_ASK}/records", Role.CURATOR),),
    _ACTIONS,
)  # fmt: skip
