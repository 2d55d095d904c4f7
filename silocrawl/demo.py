"""The part of `silo demo` that crawls the sample's pages; what it needs is loaded when it runs."""

from crawlmatch.errors import check_extra
from recordsilo.demos import DemoPart
from silocrawl.pdf_pages import check_documents


def _check() -> None:
    """Check the packages of the extra, also those that are loaded only for documents."""
    check_extra()
    check_documents()


def _run(silo_path: str, site: str) -> None:
    from silocrawl.sample import crawl_sample  # noqa: PLC0415  # it loads the engine

    crawl_sample(silo_path, site)


CRAWL = DemoPart(
    "crawl",
    "Serve landing pages and documents of 40 records, crawl them, and show the outcomes.",
    _check,
    _run,
    needs_pages=True,
)
