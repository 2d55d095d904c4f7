"""Kinds of jobs: harvests and updates, as by the commands."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from oaipmhclient.transport.http_rules import BaseURL
from oaipmhprotocol import OAIError
from oaipmhprotocol.datestamps import DatestampError, parse_datestamp
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.options import APART_FROM, HarvestOptions
from oaipmhscraper.receipt import HarvestInterrupted, HarvestStopped, ListReceipt, Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings
from recordsilo.errors import RecordSiloError
from recordsilo.repository import Repository
from recordsilo.state import PersistentState
from silowork.errors import Interrupted, JobRefused
from silowork.forms import Field, Input, JobForm
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

SETTINGS = HttpSettings(first_attempts=2)
"""A job that fails is repeated by its schedule, or by a person; a repository that does not answer
holds no worker for as long as at the prompt."""
OPTIONS = HarvestOptions(apart_from=APART_FROM)
LISTS = 100
"""Lists that the receipt of a job names."""


def harvest(work: Work) -> Ending:
    """Harvest formats: ``prefixes``, and ``url``, ``set``, ``from``, ``until``, ``update``."""
    given = work.arguments
    return _run(
        work,
        OAIPMHScraper.harvest,
        metadata_prefixes=given["prefixes"],
        set_spec=given.get("set") or None,
        from_=given.get("from") or None,
        until=given.get("until") or None,
        update=bool(given.get("update")),
    )


def update(work: Work) -> Ending:
    """Update every format and set harvested before, and resume every open harvest."""
    return _run(work, OAIPMHScraper.update)


def _run(work: Work, method: Callable[..., Receipt], **asked: Any) -> Ending:
    def show(receipt: ListReceipt) -> None:
        work.advanced(receipt.counts.distinct, receipt.expected, receipt.name)

    url = work.arguments.get("url") or None
    opened = OAIPMHScraper(work.silo_path, url, settings=SETTINGS, quiet=True, agent=work.agent)
    with opened as scraper:
        try:
            receipt = method(scraper, **asked, options=OPTIONS, progress=show)
        except HarvestInterrupted as interrupt:
            raise Interrupted(str(interrupt)) from None
        except HarvestStopped as stop:
            return ending_of(stop.receipt, str(stop))
        scraper.learn_choices(refresh="prefixes" in work.arguments)
        return ending_of(receipt)


def ending_of(receipt: Receipt, sentence: str = "") -> Ending:
    """Return a harvest's receipt as the end of a job."""
    counts = {name: n for name, n in receipt.counts.to_json().items() if n}
    return Ending(
        whole=receipt.whole,
        text=receipt.text(),
        report=_small(receipt.to_json()) | {"notes": receipt.remarks},
        counts=counts,
        problems=_problems(receipt),
        sentence=sentence,
    )


def _problems(receipt: Receipt) -> Iterator[Problem]:
    yield from (Problem("", sentence) for sentence in receipt.losses)
    for one in receipt.lists:
        yield from (Problem(each.identifier, each.reason) for each in one.quarantined)
        yield from (Problem(each.identifier, each.reason) for each in one.unreachable)


def _small(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report without parts as long as the list; the receipt in ``harvests/`` has them."""
    long = {"windows", "quarantined", "unreachable"}
    small = {name: value for name, value in report.items() if name not in long}
    return small | {"lists": report["lists"][:LISTS]}


# --------------------------------------------------------------------------- forms


def _form_harvest(silo_path: str) -> JobForm:
    """Formats and sets are chosen from those of the source, if they are known."""
    known, source = Repository(silo_path), _base_url(silo_path)
    formats, ticked = _formats(known)
    sets = sorted(known.set_names.items(), key=lambda one: str(one[1]).casefold())
    choices = (("", "All records"), *((one, str(name)) for one, name in sets))
    url = Field(
        "url", "Base URL of the repository", Input.URL, required=True,
        help="For example https://eprints.example.org/cgi/oai2",
    )  # fmt: skip
    fields = (
        *(() if source else (url,)),
        Field(
            "prefix", "Formats", Input.TICKS, choices=tuple((one, one) for one in formats),
            default=" ".join(ticked), others="prefixes",
        ),
        Field(
            "set", "Set", Input.CHOICE if sets else Input.TEXT,
            choices=choices if sets else (),
            help="" if sets else "A setSpec. Leave empty for all records.",
        ),
        Field("from", "From", Input.DATE),
        Field("until", "Until", Input.DATE),
    )  # fmt: skip
    return JobForm(
        "Harvest",
        "Harvest a metadata format, a set, or a range of dates.",
        "Harvest",
        fields,
        note=_source(source),
        see=("/harvests", "All harvests"),
        order=11,
    )


def _form_update(silo_path: str) -> JobForm | None:
    """Only a Silo that knows its source can be updated."""
    source = _base_url(silo_path)
    if not source:
        return None
    return JobForm(
        "Update",
        "Harvest what changed at the source since the last complete harvest.",
        "Harvest",
        note=_source(source),
        see=("/harvests", "All harvests"),
        order=10,
    )


def _source(url: str) -> str:
    return f"Source: {url}" if url else ""


def _base_url(silo_path: str) -> str:
    with contextlib.suppress(RecordSiloError, OSError):
        return str(PersistentState(silo_path, create=False).get("base_oai_url") or "")
    return ""


def _formats(known: Repository) -> tuple[list[str], list[str]]:
    """The formats of the source, those harvested first, and those that a form has ticked.

    Of a source that nothing is known about: ``oai_dc``, which every repository has.
    """
    harvested = sorted(known["harvested"])
    names = list(dict.fromkeys([*harvested, *known["formats"]])) or ["oai_dc"]
    return names, harvested or ["oai_dc" if "oai_dc" in names else names[0]]


def _asked_harvest(fields: Fields, _silo_path: str, _records: int) -> Asked:
    ticked = [name for name in fields if name.startswith(_TICKED) and fields[name]]
    others = fields.get("prefixes", "").replace(",", " ").split()
    prefixes = list(dict.fromkeys([*(name.removeprefix(_TICKED) for name in ticked), *others]))
    if not prefixes:
        raise JobRefused("a harvest needs a metadata format, such as oai_dc")
    url = fields.get("url", "").strip()
    if url:
        _check_address(url)
    given = {name: fields.get(name, "").strip() for name in ("set", "from", "until")}
    for name in ("from", "until"):
        _check_date(given[name], name)
    begin, until = given["from"], given["until"]
    if until and until < begin[: len(until)]:  # a day includes all of its seconds
        raise JobRefused(f"{until} is before {begin}; exchange them", "until")
    arguments: dict[str, Any] = {"prefixes": prefixes, "url": url, **given}
    if fields.get("update"):
        arguments["update"] = True
    known = {name: value for name, value in arguments.items() if value}
    return Asked(_title(known), known)


def _title(arguments: Mapping[str, Any]) -> str:
    """Such as ``Harvest https://eprints.example.org/cgi/oai2 oai_dc, set 4F5052``."""
    url = BaseURL.parse(arguments["url"]).url if "url" in arguments else ""
    parts = [" ".join(filter(None, ("Harvest", url, *arguments["prefixes"])))]
    parts += [f"{name} {arguments[name]}" for name in ("set", "from", "until") if name in arguments]
    return ", ".join(parts)


def _check_date(text: str, field: str) -> None:
    try:
        if text:
            parse_datestamp(text)
    except DatestampError:
        raise JobRefused(f"“{text}” is not a date; write YYYY-MM-DD", field) from None


def _check_address(url: str) -> None:
    if not url.lower().startswith(("http://", "https://")):
        raise JobRefused("the address of a repository must begin with http:// or https://")
    try:
        has_password = BaseURL.parse(url).auth is not None
    except RequestRefused as error:
        raise JobRefused(str(error)) from None
    if has_password:
        raise JobRefused(
            "the address must not contain a user or password, which the job would store;"
            " put them into the netrc of the worker"
        )


def _asked_update(*_: object) -> Asked:
    return Asked("Update all formats and sets", {})


_TICKED = "prefix-"
_ERRORS = (ScraperError, OAIError)
_COUNTS = {
    "deleted": "deleted at the source",
    "deleted_before": "deleted at the source before",
    "kept": "kept as received",
}
HARVEST = Kind("harvest", "Harvest", harvest, lane="harvest", by_signal=True, foreseen=_ERRORS,
               read=_asked_harvest, form=_form_harvest, counts=_COUNTS, result="listed",
               did="{n} harvested")  # fmt: skip
UPDATE = Kind("update", "Update", update, lane="harvest", by_signal=True, foreseen=_ERRORS,
              read=_asked_update, form=_form_update, counts=_COUNTS, result="listed",
              did="{n} harvested")  # fmt: skip
