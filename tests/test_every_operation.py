"""Every operation of the store, the page, curation and harvests, in any order: index = disk.

After each step `silo check` finds nothing, and what lists, searches and facets say is what
a new projection of every record says.
"""

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from memory import MEMORY

from oaipmhprotocol import Granularity, IdDoesNotExist
from oaipmhprovider.provider import respond
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.sample.mutable_source import MutableSource
from oaipmhscraper import OAIPMHScraper
from oaipmhscraper.options import HarvestOptions
from politeweb.answers import Answer
from recordsilo import Granary, HarvestedRecord
from recordsilo.audit.check import Audit
from recordsilo.disk import atomic_file
from recordsilo.disk.identifier import clean
from recordsilo.errors import RecordSiloError
from recordsilo.index import PageRequest
from recordsilo.index.catalogue import entry_of
from recordsilo.index.search_values import FACETS, FLAGS
from recordsilo.selection import Selection
from silocuration.batch.attach import PREMIS, Attachment
from silocuration.batch.job import create_job, run_job, undo_job
from silocuration.batch.planned import discard, preview_planned
from silocuration.batch.specs import attach_job, rules_job, sheet_job
from silocuration.batch.spreadsheet import columns_of, read_csv, write_csv
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add, ReplacePattern, Rule, SetValues
from silocuration.errors import CurationError
from silocuration.review.duplicates import mark_distinct, mark_duplicate
from silocuration.upstream import ReviewKind, accept, follow, keep, propose_all, resolve, reviews
from webui.app import create_app
from webui.site import SiteSettings

BASE = "http://eprints.example.org/cgi/oai2"
LOCAL = ("local:a", "local:b/c", "local:b")
VERSIONS = ("1", "2", "3", "workingcopy", "wc")
PATHS = ("oai_dc", "mods", "notes.txt", "d/oai_dc", "oai_dc.about")
TITLES = ("Gulls", "GULLS and terns", "Möwen", "The keeping of records", "")
AGENT = "a.curator"
DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">{}</oai_dc:dc>'
)


def dublin_core(title: str, subject: str = "birds") -> bytes:
    """A Dublin Core document with a few fields."""
    fields = {"title": title, "creator": "Lind, A.", "date": "2001", "subject": subject}
    fields |= {"type": "Article", "language": "en"}
    lines = "".join(f"<dc:{name}>{text}</dc:{name}>" for name, text in fields.items() if text)
    return DC.format(lines).encode()


numbers = st.integers(0, 9)
"""Which of the records, or of a record's versions or files, that there are; see `among`."""
versions = st.sampled_from(VERSIONS)
paths = st.sampled_from(PATHS)
documents = st.builds(dublin_core, st.sampled_from(TITLES), st.sampled_from(["birds", "sea"])) | (
    st.sampled_from([b"<unfinished", b"plain", b"<a xmlns='x'><title>Another</title></a>"])
)
REFUSED = (RecordSiloError, CurationError)
"""What an operation may raise that is asked for where it cannot be done."""


def among(known: list[str], number: int) -> str:
    """One of some names; for the highest number one that is not there."""
    return known[number % len(known)] if number < 9 and known else "none"


class Operations(RuleBasedStateMachine):
    """One Silo of a Granary, its page, and the repository that it is harvested from."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(atomic_file, "flush_fd", lambda fd: None)
        self.directory = tempfile.TemporaryDirectory(dir=MEMORY)
        self.granary = Granary(f"{self.directory.name}/data")
        self.source = MutableSource(sample_repository(3, granularity=Granularity.SECOND))
        self.moment = datetime(2024, 1, 1, tzinfo=UTC)
        self.jobs: list[str] = []

    @initialize()
    def open(self) -> None:
        self.silo = self.granary.get_silo("s")
        self.other = self.granary.get_silo("s")
        self.app = create_app(self.silo, SiteSettings(agent=AGENT))
        self.silo.get_item(LOCAL[0]).put_stream("oai_dc", dublin_core("Gulls"), None, True)
        self.publish(0, "Gulls", 2)
        self.harvest(update=False, sweep=False, both=True)

    def teardown(self) -> None:
        for silo in (self.silo, self.other):
            silo.close()
        self.patch.undo()
        self.directory.cleanup()

    # -- what is asked ----------------------------------------------------------------------

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """The repository, as a transport: its answer to a request."""
        self.moment += timedelta(seconds=1)
        return Answer(respond(list(params.items()), self.source, self.moment).body, BASE)

    def page(self, method: str, address: str, body: bytes = b"", /, **fields: str) -> Any:
        """Ask the page by its WSGI application; the JSON it answers, or None."""
        content = urlencode(fields).encode() if fields or method == "POST" else body
        target, _, query = address.partition("?")
        environ = {
            "REQUEST_METHOD": method, "PATH_INFO": target, "QUERY_STRING": query,
            "REQUEST_URI": address, "SCRIPT_NAME": "", "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1",
            "REMOTE_ADDR": "127.0.0.1", "CONTENT_LENGTH": str(len(content)),
            "HTTP_ACCEPT": "application/json", "wsgi.input": io.BytesIO(content),
            "wsgi.url_scheme": "http", "wsgi.errors": io.StringIO(), "wsgi.version": (1, 0),
            "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }  # fmt: skip
        if content is not body:
            environ["CONTENT_TYPE"] = "application/x-www-form-urlencoded"
        begun: list[str] = []
        answer = self.app(environ, lambda status, headers, _exc=None: begun.append(status))
        text = b"".join(answer)
        assert int(begun[-1][:3]) < 500, (method, address, begun, text)
        try:
            return json.loads(text)
        except ValueError:
            return None

    def one(self, number: int) -> str:
        """The identifier of a record that is there, mostly."""
        return among(sorted(self.silo), number)

    def url(self, number: int, below: str = "") -> str:
        """The address of a record's page, or of one below it."""
        return "/records/" + quote(clean(self.one(number)), safe="+=") + below

    def version_url(self, number: int, version: int, below: str = "") -> str:
        """The address of a version's page, or of one below it."""
        record = self.silo.get(self.one(number))
        name = among(record.versions if record is not None else [], version)
        return self.url(number, f"/versions/{name}{below}")

    def attempt(self, act: Callable[[], object]) -> None:
        """Do what may be refused; a refusal changes nothing, which the invariants see."""
        with contextlib.suppress(*REFUSED):
            act()

    def on(self, number: int, act: Callable[[HarvestedRecord], object]) -> None:
        """Do something with a record that is there, through either of two handles on the Silo."""
        record = (self.silo, self.other)[number % 2].get(self.one(number))
        if record is not None:
            self.attempt(lambda: act(record))

    def on_version(
        self, number: int, version: int, act: Callable[[HarvestedRecord, str], object]
    ) -> None:
        """The same with one of its versions."""
        self.on(number, lambda record: act(record, among(record.versions, version)))

    def on_file(
        self, number: int, version: int, file: int,
        act: Callable[[HarvestedRecord, str, str], object],
    ) -> None:  # fmt: skip
        """The same with a file of one of its versions."""

        def on_one(record: HarvestedRecord, name: str) -> None:
            act(record, name, among(record.paths(name), file))

        self.on_version(number, version, on_one)

    # -- the store ----------------------------------------------------------------------------

    @rule(identifier=st.sampled_from(LOCAL), content=documents)
    def make(self, identifier: str, content: bytes) -> None:
        record = self.silo.get_item(identifier)
        self.attempt(lambda: record.put_stream("oai_dc", content, None, True))

    @rule(
        number=numbers, version=numbers, path=paths, content=documents,
        metadata=st.none() | st.booleans(), together=st.booleans(),
    )  # fmt: skip
    def put(
        self, number: int, version: int, path: str, content: bytes, metadata: bool | None,
        together: bool,
    ) -> None:  # fmt: skip
        def act(record: HarvestedRecord, name: str) -> None:
            record.put_stream(path, content, name, metadata, sync=not together)
            record.metadata["setSpec"] = ["birds", "birds:sea"] if together else ["sea"]
            record.sync()

        self.on_version(number, version, act)

    @rule(number=numbers, version=numbers, file=numbers, content=documents)
    def write(self, number: int, version: int, file: int, content: bytes) -> None:
        def act(record: HarvestedRecord, name: str, path: str) -> None:
            with record.get_stream(path, name, writeable=True) as stream:
                stream.truncate(0)
                stream.write(content)

        self.on_file(number, version, file, act)

    @rule(number=numbers, version=numbers, file=numbers, content=documents)
    def edit_outside_and_accept(self, number: int, version: int, file: int, content: bytes) -> None:
        def act(record: HarvestedRecord, name: str, path: str) -> None:
            place = record.to_dirpath(path, name)
            if (
                record.version_is_curated(name)
                and os.path.isfile(place)
                and os.stat(place).st_nlink == 1
            ):
                before = Path(place).read_bytes()
                Path(place).write_bytes(content)  # with two names it would be another version's
                try:
                    record.accept(path, name)
                except REFUSED:
                    Path(place).write_bytes(before)

        self.on_file(number, version, file, act)

    @rule(number=numbers, version=numbers, path=paths, content=documents)
    def add_outside_and_accept(self, number: int, version: int, path: str, content: bytes) -> None:
        def act(record: HarvestedRecord, name: str) -> None:
            place = record.to_dirpath(path, name)
            if record.version_is_curated(name) and "/" not in path and not os.path.lexists(place):
                with open(place, "wb") as written:
                    written.write(content)
                try:
                    record.accept(path, name)
                except REFUSED:
                    os.remove(place)

        self.on_version(number, version, act)

    @rule(number=numbers, version=numbers, file=numbers)
    def delete_file(self, number: int, version: int, file: int) -> None:
        self.on_file(number, version, file, lambda r, name, path: r.del_stream(path, name))

    @rule(number=numbers, version=numbers, file=numbers, new=paths)
    def rename_file(self, number: int, version: int, file: int, new: str) -> None:
        self.on_file(number, version, file, lambda r, name, path: r.rename_stream(path, new, name))

    @rule(number=numbers, version=numbers, file=numbers, to=numbers)
    def copy_file(self, number: int, version: int, file: int, to: int) -> None:
        def act(record: HarvestedRecord, name: str, path: str) -> None:
            record.copy_file_between_versions(path, name, among(record.versions, to))

        self.on_file(number, version, file, act)

    @rule(number=numbers, new=versions)
    def new_version(self, number: int, new: str) -> None:
        self.on(number, lambda record: record.create_new_version(new, "2011-11-11"))

    @rule(number=numbers, clone=st.booleans(), delta=st.booleans())
    def increment(self, number: int, clone: bool, delta: bool) -> None:
        def act(record: HarvestedRecord) -> None:
            made = record.increment_version_delta if delta else record.increment_version
            made(clone_previous_version=clone)

        self.on(number, act)

    @rule(number=numbers, version=numbers, new=versions, delta=st.booleans())
    def clone(self, number: int, version: int, new: str, delta: bool) -> None:
        def act(record: HarvestedRecord, name: str) -> None:
            made = record.clone_version_delta if delta else record.clone_version
            made(name, new)

        self.on_version(number, version, act)

    @rule(number=numbers, version=numbers, new=versions)
    def rename_version(self, number: int, version: int, new: str) -> None:
        self.on_version(number, version, lambda record, name: record.rename_version(name, new))

    @rule(number=numbers, some=st.lists(numbers, min_size=1, max_size=2))
    def delete_versions(self, number: int, some: list[int]) -> None:
        def act(record: HarvestedRecord) -> None:
            record.del_versions(list({among(record.versions, one): 0 for one in some}))

        self.on(number, act)

    @rule(number=numbers, version=numbers, state=st.sampled_from(["ready", "in work", None]))
    def date_and_state(self, number: int, version: int, state: str | None) -> None:
        self.on_version(number, version, lambda r, name: r.set_version_state(name, state))
        self.on_version(number, version, lambda r, name: r.set_version_date(name, "1999-09-09"))

    @rule(number=numbers, version=numbers)
    def move_cursor(self, number: int, version: int) -> None:
        def act(record: HarvestedRecord, name: str) -> None:
            if record.set_version_cursor(name):
                record.sync()

        self.on_version(number, version, act)

    @rule(number=numbers, version=versions, content=documents, force=st.booleans())
    def move_directory(self, number: int, version: str, content: bytes, force: bool) -> None:
        with tempfile.TemporaryDirectory(dir=MEMORY) as above:
            os.makedirs(f"{above}/new/d")
            for path in ("oai_dc", "d/oai_dc"):
                with open(f"{above}/new/{path}", "wb") as file:
                    file.write(content)
            self.on(
                number,
                lambda r: r.move_directory_as_new_version(f"{above}/new", version, force=force),
            )

    @rule(number=numbers, remember=st.booleans())
    def delete_record(self, number: int, remember: bool) -> None:
        self.attempt(lambda: self.silo.del_item(self.one(number), remember=remember))

    @rule()
    def restore_removed(self) -> None:
        self.silo.restore_removed()

    @rule(number=numbers, statement=st.sampled_from(["Gulls", "Terns"]))
    def state_in_rdf(self, number: int, statement: str) -> None:
        from rdflib import DCTERMS, Literal, URIRef  # noqa: PLC0415 - slow to load

        def act() -> None:
            record.add_triple(URIRef(record.uri), DCTERMS.title, Literal(statement))
            record.sync()

        with self.granary.get_rdf_silo("s") as silo:
            if (record := silo.get(self.one(number))) is not None:
                self.attempt(act)

    @rule()
    def reindex(self) -> None:
        self.other.reindex()

    @rule()
    def delete_silo_and_begin_again(self) -> None:
        if len(self.silo) > 7:
            for silo in (self.silo, self.other):
                silo.close()
            self.granary.delete_silo("s")
            self.jobs.clear()
            self.open()

    # -- the page -------------------------------------------------------------------------------

    @rule(identifier=st.sampled_from(LOCAL))
    def page_makes_record(self, identifier: str) -> None:
        self.page("POST", "/records", id=identifier)

    @rule(number=numbers, original=versions, new=versions, copy=st.booleans())
    def page_makes_version(self, number: int, original: str, new: str, copy: bool) -> None:
        fields = {"name": new} | ({"clone_of": original} if copy else {})
        self.page("POST", self.url(number, "/versions"), **fields)

    @rule(number=numbers, version=numbers, new=versions)
    def page_renames_version(self, number: int, version: int, new: str) -> None:
        self.page("POST", self.version_url(number, version, "/rename"), name=new)

    @rule(number=numbers, version=numbers)
    def page_deletes_version(self, number: int, version: int) -> None:
        self.page("DELETE", self.version_url(number, version))

    @rule(number=numbers, title=st.sampled_from(TITLES))
    def page_curates(self, number: int, title: str) -> None:
        """The working copy made, and its description edited as a form would."""
        self.page("POST", self.url(number, "/curate"), do="curate")
        if (record := self.silo.get(self.one(number))) is None:
            return
        place = self.url(number, f"/versions/{record.currentversion}/edit")
        found = self.page("GET", place)
        if found and "base" in found:
            values = {"values": "1", "name-0": "title", "text-0": title, "lang-0": "en"}
            self.page("POST", place, do="save", base=found["base"], **values)

    @rule(number=numbers, version=numbers, path=paths, content=documents)
    def page_edits_xml(self, number: int, version: int, path: str, content: bytes) -> None:
        place = self.version_url(number, version, "/edit-xml")
        self.page("POST", place, text=content.decode(), do="save", anyway="yes", path=path)

    @rule(number=numbers, version=numbers, path=paths, content=documents)
    def page_puts_file(self, number: int, version: int, path: str, content: bytes) -> None:
        self.page("PUT", self.version_url(number, version, f"/files/{path}?metadata=yes"), content)

    @rule(number=numbers, version=numbers, path=paths, new=paths)
    def page_renames_file(self, number: int, version: int, path: str, new: str) -> None:
        place = self.version_url(number, version, "/rename-file")
        self.page("POST", place, path=path, new_path=new, name=new)

    @rule(number=numbers, version=numbers, path=paths)
    def page_deletes_file(self, number: int, version: int, path: str) -> None:
        self.page("DELETE", self.version_url(number, version, f"/files/{path}"))

    @rule(number=numbers)
    def page_deletes_record(self, number: int) -> None:
        self.page("DELETE", self.url(number))

    @rule(number=numbers, do=st.sampled_from(["accept", "keep", "follow", "resolve"]))
    def page_decides(self, number: int, do: str) -> None:
        place = "/upstream/" + quote(clean(self.one(number)), safe="+=")
        self.page("POST", place, do=do, **{f"take-{n}": "theirs" for n in range(9)})

    @rule(
        some=st.lists(numbers, min_size=2, max_size=2),
        do=st.sampled_from(["duplicates", "distinct", "unmark"]),
    )
    def page_marks(self, some: list[int], do: str) -> None:
        named = [self.one(number) for number in some]
        fields = {"do": do, "identifiers": "\n".join(named), "of": named[0]}
        self.page("POST", "/quality/duplicates", **fields)

    # -- curation ---------------------------------------------------------------------------------

    @rule(number=numbers, other=numbers, apart=st.booleans())
    def mark(self, number: int, other: int, apart: bool) -> None:
        first, second = self.one(number), self.one(other)
        if apart:
            self.attempt(lambda: mark_distinct(self.silo, (first, second), agent=AGENT))
        else:
            self.attempt(lambda: mark_duplicate(self.silo, first, second, agent=AGENT))

    @rule(
        change=st.sampled_from(
            [SetValues("title", ("Set",)), Add("subject", "added"),
             ReplacePattern("title", "u", "oo"), SetValues("title", ())]
        ),
        state=st.sampled_from([None, "ready"]),
    )  # fmt: skip
    def change_in_bulk(self, change: Rule, state: str | None) -> None:
        self.run(rules_job(RuleSet("Bulk", rules=(change,), state=state)))

    @rule(path=paths, premis=st.booleans())
    def attach_in_bulk(self, path: str, premis: bool) -> None:
        attachment = Attachment(PREMIS, None) if premis else Attachment(path, b"<x/>")
        self.run(attach_job(Selection(), attachment))

    @rule(title=st.sampled_from(TITLES))
    def edit_in_a_sheet(self, title: str) -> None:
        names = Selection().find(self.silo)
        columns = columns_of(self.silo, names)
        with tempfile.TemporaryFile("w+", newline="", encoding="utf-8") as sheet:
            write_csv(self.silo, names, sheet, columns)
            sheet.seek(0)
            content = sheet.read().replace("Gulls", title)
        self.attempt(lambda: self.run(sheet_job(read_csv(content.encode()))))

    def run(self, spec: Any) -> None:
        job = create_job(self.silo, spec, agent=AGENT)
        run_job(self.silo, job)
        self.jobs.append(job)

    @rule(number=numbers)
    def undo_job(self, number: int) -> None:
        if self.jobs:
            job = self.jobs[number % len(self.jobs)]
            self.attempt(lambda: undo_job(self.silo, job, agent=AGENT))

    @rule(done=st.booleans())
    def plan_in_bulk(self, done: bool) -> None:
        spec = rules_job(RuleSet("Planned", rules=(Add("subject", "planned"),)))
        job = create_job(self.silo, spec, agent=AGENT)
        preview_planned(self.silo, job)
        if done:
            run_job(self.silo, job)
            self.jobs.append(job)
        else:
            assert discard(self.silo, job)

    @rule()
    def propose(self) -> None:
        propose_all(self.silo, agent=AGENT)

    @rule(number=numbers, do=st.sampled_from([accept, keep, follow]))
    def decide(self, number: int, do: Callable[..., object]) -> None:
        waiting = [one.identifier for one in reviews(self.silo)]
        self.attempt(lambda: do(self.silo, among(waiting, number), agent=AGENT))

    @rule(number=numbers)
    def resolve(self, number: int) -> None:
        for found in [*reviews(self.silo, kinds=frozenset({ReviewKind.CONFLICT}))][:number]:
            wanted = {one.name: (("Decided", ""),) for one in found.conflicts}
            self.attempt(partial(resolve, self.silo, found.identifier, wanted, agent=AGENT))

    # -- the harvest ----------------------------------------------------------------------------

    @rule(number=st.integers(0, 2), title=st.sampled_from(TITLES[:4]), formats=st.integers(1, 2))
    def publish(self, number: int, title: str, formats: int) -> None:
        self.moment += timedelta(seconds=1)
        found = {"oai_dc": dublin_core(title, f"subject {number}"), "uketd_dc": dublin_core(title)}
        some = dict(list(found.items())[:formats])
        self.source.publish(f"oai:eprints.example.org:9{number}", some, self.moment)

    @rule(number=st.integers(0, 5), back=st.booleans())
    def source_deletes(self, number: int, back: bool) -> None:
        self.moment += timedelta(seconds=1)
        known = [*(f"oai:eprints.example.org:9{n}" for n in range(3)), *self.silo]
        try:
            act = self.source.restore if back else self.source.delete
            act(known[number % len(known)], self.moment)
        except IdDoesNotExist:
            pass

    @rule(update=st.booleans(), sweep=st.booleans(), both=st.booleans())
    def harvest(self, update: bool, sweep: bool, both: bool) -> None:
        self.moment += timedelta(seconds=2)
        with OAIPMHScraper(self.silo.path, BASE, transport=self, quiet=True) as scraper:
            options = HarvestOptions(sweep=sweep, sweep_share=1.0, warc=False, restore_removed=both)
            prefixes = ["oai_dc", "uketd_dc"] if both else ["oai_dc"]
            scraper.harvest(prefixes, update=update and not sweep, options=options)

    @rule(number=numbers, ours=st.sampled_from(TITLES[:4]), theirs=st.sampled_from(TITLES[:4]))
    def both_sides_change(self, number: int, ours: str, theirs: str) -> None:
        """A harvested record curated here, and changed at its source since."""
        record = self.silo.get(f"oai:eprints.example.org:9{number % 3}")
        if record is None or record.is_curated or "workingcopy" in record.versions:
            return
        record.clone_version(record.currentversion, "workingcopy")
        record.put_stream("oai_dc", dublin_core(ours), None, True)
        self.publish(number % 3, theirs, 1)
        self.harvest(update=True, sweep=False, both=False)

    # -- what stays true ------------------------------------------------------------------------

    @invariant()
    def check_finds_nothing(self) -> None:
        found = list(Audit(self.granary.get_silo("s").path).findings())
        assert not found, found

    @invariant()
    def lists_and_facets_are_those_of_the_records(self) -> None:
        entries = {}
        for identifier in self.silo:
            record = self.silo[identifier]
            entries[identifier] = entry_of(record._place, record.state)
        everything = PageRequest(limit=1000, sort="identifier", facet_limit=1000)
        for silo in (self.silo, self.other):
            found = silo.search("", facets=FACETS, page=everything)
            assert {row.identifier: row for row in found.rows} == {
                identifier: entry.row for identifier, entry in entries.items()
            }
            for name in FACETS:
                if name not in FLAGS:
                    counted = {one.value: one.count for one in found.facets[name]}
                    wanted: dict[str, int] = {}
                    for entry in entries.values():
                        for value in entry.facets.get(name, ()):
                            wanted[value] = wanted.get(value, 0) + 1
                    assert counted == wanted, name
            for entry in entries.values():
                for word in filter(str.isalnum, entry.row.title.split()[:1]):
                    rows = silo.search(f'title:"{word}"').rows
                    assert entry.row.identifier in {row.identifier for row in rows}


TestOperations: Any = Operations.TestCase
TestOperations.settings = settings(
    max_examples=examples(20, least=5), stateful_step_count=30, deadline=None
)


class Longer(Operations):
    """The same for longer."""


TestLonger: Any = pytest.mark.slow(pytest.mark.timeout(7200)(Longer.TestCase))
TestLonger.settings = settings(max_examples=400, stateful_step_count=60, deadline=None)
