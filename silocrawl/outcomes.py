"""What became of the links of the targets: our own logs, matched as those of others are."""

import os
from collections.abc import Iterator

from crawlmatch.crawls import match_into_silo
from crawlmatch.kept import Crawl
from crawlmatch.matching import MatchRequest
from crawlmatch.outcomes import OWN
from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.disk.regular_file import open_regular
from silocrawl.addresses import without_login
from silocrawl.errors import CrawlingError
from silocrawl.paths import log_file
from silocrawl.targets import Target, load_targets


def match_own_logs(silo: Silo) -> Crawl | None:
    """Match the logs of all launches with the seeds of all targets.

    Every seed has one outcome; the counts add up to the number of seeds. The seeds of a target that
    cannot be read are not among them.

    Returns:
        None if nothing was fetched.

    Raises:
        CrawlingError, RecordSiloError: The logs cannot be read.
    """
    directory = os.path.dirname(log_file(silo.path, ""))
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    logs = [os.path.join(directory, name) for name in names if name.endswith(".log")]
    if not logs:
        return None
    for one in logs:
        try:
            open_regular(one).close()  # a pipe would be waited for
        except OSError as error:
            raise CrawlingError(f"the crawl log {one} cannot be read: {error.strerror}") from None
    targets, _ = load_targets(silo.path)
    request = MatchRequest(inputs=logs, seed_rows=tuple(dict.fromkeys(_seeds(silo, targets))))
    kept, _ = match_into_silo(silo.path, OWN, request)
    return kept


def _seeds(silo: Silo, targets: list[Target]) -> Iterator[tuple[str, str]]:
    for target in targets:
        if target.url:
            yield without_login(target.url), ""
        else:
            for link in links_of_records(silo, target.select):
                yield without_login(link.url), link.identifier
