"""`recordsilo.harvest` and `Silo.update`: this package's contribution to the store."""

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from oaipmhprotocol import CannotDisseminateFormat, OAIError
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.receipt import HarvestStopped, Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.silo_cleanup import undone_if_refused
from politeweb.errors import RequestRefused
from recordsilo.errors import RecordSiloError, did_you_mean
from recordsilo.harvesting import Harvester

_ALL = "all"
_AGENT = "recordsilo"


def _harvest(
    url: str,
    directory: str,
    metadata_prefixes: str | Sequence[str],
    *,
    quiet: bool = False,
    **options: Any,
) -> Receipt:
    prefixes = [metadata_prefixes] if isinstance(metadata_prefixes, str) else metadata_prefixes
    with (
        undone_if_refused(directory),
        OAIPMHScraper(directory, url, quiet=quiet, agent=_AGENT) as scraper,
    ):
        if _ALL in prefixes:
            prefixes = list(scraper.getMetadataPrefixes())
        try:
            receipt = scraper.harvest(prefixes, **options)
        except HarvestStopped as stop:
            if isinstance(stop.cause, CannotDisseminateFormat) and not stop.receipt.counts.listed:
                raise without_the_format(stop) from None
            raise
        scraper.learn_choices()
    return receipt


def without_the_format(stop: HarvestStopped) -> RequestRefused:
    """Return the refusal of a format, with those that the repository has, if they are known."""
    prefix = next(one.metadata_prefix for one in stop.receipt.lists if one.stopped)
    told = f"{stop.receipt.base_url} has no records in the format {prefix}"
    if not stop.formats:
        return RequestRefused(told)
    its = ", ".join(stop.formats)
    return RequestRefused(f"{told}; its formats: {its}{did_you_mean(prefix, stop.formats)}")


def _update(directory: str, *, quiet: bool = False, **options: Any) -> Receipt:
    with OAIPMHScraper(directory, quiet=quiet, agent=_AGENT) as scraper:
        receipt = scraper.update(**options)
        scraper.learn_choices()
    return receipt


def _options_of(method: Callable[..., Receipt]) -> frozenset[str]:
    """The names of a method's keyword-only parameters."""
    found = signature(method).parameters.values()
    return frozenset(one.name for one in found if one.kind is one.KEYWORD_ONLY)


OAI_PMH = Harvester(
    "oai-pmh",
    _harvest,
    _update,
    (ScraperError, OAIError, RecordSiloError),
    harvest_options=_options_of(OAIPMHScraper.harvest),
    update_options=_options_of(OAIPMHScraper.update),
)
