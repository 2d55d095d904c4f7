"""The step of ``documents-to-catalogue``: a document that was fetched comes to its record.

It is tied to the record by what the landing page says, read from the archive, compared with the
record by its first pages, and attached, proposed or rejected. All that is durable is keyed by the
record and the document, so a message may be worked on again after a kill.
"""

import logging
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial

from crawlmatch.attach import Put, put_file
from crawlmatch.errors import BadAddress
from crawlmatch.kept import Crawl
from recordsilo import Silo
from recordsilo.batches import batched
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.formats import Description, describe_main
from silocrawl.addresses import fetched_form
from silocrawl.beside import has_messages, working_beside
from silocrawl.captures import Captures, CaptureUnreadable
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.errors import MessageInvalid
from silocrawl.found_links import is_html
from silocrawl.landing import Landing, TieRule, dois_in
from silocrawl.messages import CATALOGUE, CrawlAddress, FoundDocument, document_message, document_of
from silocrawl.papers import DocumentVerdict, Expected, verdict
from silocrawl.paths import queues_file
from silocrawl.proposals import (
    AGENT,
    Documents,
    Proposal,
    ProposalState,
    Reason,
    source_of,
    wanted_text,
)
from silocrawl.targets import CrawlTarget
from silocrawl.tying import (
    DOCUMENTS,
    document_in,
    landing_page,
    named_documents,
    rule_of,
)
from silocrawl.watched import catalogue_watched
from silowork.queues.opening import open_queues
from silowork.queues.steps import MessageRefused, QueueStep, run_steps
from silowork.queues.values import Message, Queued, Queues
from silowork.stop import Stop

SECONDS_OF_A_DOCUMENT = 180.0
_TOGETHER, _MATCHED = 1_000, "catalogued"
_SECONDS_BETWEEN_LOOKS = 0.5

logger = logging.getLogger("silocrawl")


def documents_of(
    address: CrawlAddress, one: CrawlOutcome, target: CrawlTarget | None
) -> list[Message]:
    """Return the message of what was fetched, if it is a document of a record or watched target.

    Args:
        one: What became of it; also of a document that is unchanged.
        target: Its target; None if it is gone.
    """
    is_there = one.status_code in (200, 304) and one.content_digest
    is_watched = target is not None and bool(target.watched)
    if not (is_there and one.mimetype in DOCUMENTS and (one.record or is_watched)):
        return []
    found = FoundDocument(
        one.url, one.content_digest.removeprefix("sha1:"), one.timestamp, one.mimetype, one.size,
        one.record, one.seed, "" if one.record else address.target, address.page,
    )  # fmt: skip
    return [document_message(found)]


def documents_of_matches(kept: Crawl) -> Iterator[Message]:
    """Yield the messages of the documents, and of the landing pages, that records' links led to.

    So a document comes to each record that has its link or that of its page, though it was fetched
    once; and what was fetched before documents were catalogued is.
    """
    rows = kept.rows(
        "SELECT identifier, initial_url, final_url, final_timestamp, final_mimetype,"
        " coalesce(final_sha1, other_sha1) AS sha1 FROM crawl_result"
        " WHERE identifier IS NOT NULL AND final_status_code IN ('200', '304')"
        " ORDER BY identifier, terminal"
    )
    for row in rows:
        with suppress(BadAddress):
            one = FoundDocument(
                row["final_url"], row["sha1"] or "", row["final_timestamp"] or "",
                row["final_mimetype"] or "", record=row["identifier"],
                seed=fetched_form(row["initial_url"]),
            )  # fmt: skip
            if one.digest and (one.mimetype in DOCUMENTS or is_html(one.mimetype)):
                yield document_message(one)


def put_matched(queues: Queues, kept: Crawl) -> None:
    """Put the messages of `documents_of_matches`, once for each match; known ones are ignored."""
    if queues.mark(_MATCHED) != kept.matched:
        for some in batched(documents_of_matches(kept), _TOGETHER):
            queues.put(some)
        queues.put((), mark=(_MATCHED, kept.matched))


# --------------------------------------------------------------------------- running


def cataloguing_step(silo_path: str) -> QueueStep:
    """Return the step of the queue, for `run_steps`."""
    work = partial(catalogue, silo_path)
    return QueueStep(CATALOGUE, work, most=5, seconds=SECONDS_OF_A_DOCUMENT)


def catalogue_all(silo_path: str, lease: float, stop: Stop) -> None:
    """Catalogue in a child what is queued, until nothing is left or it is asked to stop."""
    opened = partial(open_queues, queues_file(silo_path), lease=lease)
    steps = [cataloguing_step(silo_path)]
    with opened() as queues:
        if not has_messages(queues, steps):
            return
    run_steps(opened, steps, 1, stop, until_empty=True)


def cataloguing(silo_path: str, lease: float) -> AbstractContextManager[None]:
    """Catalogue in a child what comes while the block runs."""
    return working_beside(
        silo_path, [cataloguing_step(silo_path)], lease, "documents are not catalogued"
    )


# --------------------------------------------------------------------------- the step


def catalogue(silo_path: str, message: Queued) -> Iterable[Message]:
    """Work on a message; return those of the documents that a landing page names.

    Raises:
        MessageRefused: It is no such message, or the document is not in the archive.
        OSError: The disk refused.
    """
    try:
        one = document_of(message.body)
        with (
            Silo(silo_path, create=False, agent=AGENT) as silo,
            Documents(silo_path) as documents,
        ):
            if one.target:
                catalogue_watched(silo, documents, one)
                return ()
            if is_html(one.mimetype):
                return list(map(document_message, named_documents(Captures(silo.path), one)))
            catalogue_document(silo, documents, one)
    except (MessageInvalid, CaptureUnreadable) as error:
        raise MessageRefused(str(error)) from None
    return ()


def catalogue_document(silo: Silo, documents: Documents, one: FoundDocument) -> Proposal | None:
    """Attach, propose or reject a document of a record; None if it is not the record's.

    Raises:
        CaptureUnreadable: It is not in the archive as the index says.
        OSError: The disk refused.
    """
    try:
        identifier = silo.resolve(one.record)
    except RecordNotFound:
        return None
    if found := documents.find(identifier, one.digest):
        return found
    captures = Captures(silo.path)
    landing = landing_page(captures, one.seed, one.timestamp)
    rule = rule_of(captures, landing, one)
    if rule is None:
        return None
    expected = _expected(silo, identifier, landing)
    capture = captures.with_body(one.url, one.digest)
    with captures.staged(silo, capture) as body:
        judged = verdict(expected, document_in(body, capture), rule)
        made = _proposal(identifier, one, landing, rule, judged)
        if judged.state is ProposalState.ATTACHED:
            put = put_file(silo, wanted_text(made), source_of(made, capture.place), body.staged)
            if put is Put.UNKNOWN:
                return None
            if put is Put.REFUSED:
                made = _proposal(
                    identifier, one, landing, rule,
                    DocumentVerdict(
                        ProposalState.PROPOSED, Reason.WORKING_COPY, judged.score, judged.dois,
                    ),
                )  # fmt: skip
    documents.keep(made)
    return made


def _proposal(
    identifier: str,
    one: FoundDocument,
    landing: Landing | None,
    rule: TieRule,
    judged: DocumentVerdict,
) -> Proposal:
    return Proposal(
        identifier, one.url, one.digest, one.timestamp, one.mimetype, judged.reason, one.seed,
        landing.url if landing is not None else "", rule.value, judged.score,
        " ".join(judged.dois), judged.state,
    )  # fmt: skip


def _expected(silo: Silo, identifier: str, landing: Landing | None) -> Expected:
    said = _description(silo, identifier)
    texts = [value.text for value in (*said.identifiers, *said.relations, *said.sources)]
    dois = {doi for text in texts for doi in dois_in(text)}
    titles = tuple(value.text for value in said.titles)
    return Expected(titles, frozenset(dois) | (landing.dois if landing is not None else set()))


def _description(silo: Silo, identifier: str) -> Description:
    record = silo[identifier]
    version = record.state.current

    def content(path: str) -> bytes | None:
        try:
            with record.get_stream(path, version.name) as file:
                return bytes(file.read())
        except (RecordSiloError, OSError):
            return None

    return describe_main(version.metadata_files, content)
