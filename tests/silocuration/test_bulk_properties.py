"""For any records and rules, the previewed changes are made, and undone to the byte."""

import contextlib
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from examples import examples, family
from hypothesis import given, settings
from hypothesis import strategies as st
from killing import KILLED, exit_code_of
from memory import MEMORY

from recordsilo import Silo
from recordsilo.audit.check import Audit
from recordsilo.audit.findings import Code
from recordsilo.records.manifest import Origin
from silocuration.batch.job import create_job, preview, run_job, undo_job
from silocuration.batch.journal import Doing
from silocuration.batch.specs import rules_job
from silocuration.editing.fields import read_fields, said
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import (
    Add,
    Case,
    ChangeCase,
    MapValues,
    Move,
    Remove,
    Replace,
    ReplacePattern,
    SetLanguage,
    SetValues,
    Split,
    Trim,
)
from silocuration.errors import NoFields

KILLED_JOB = str(Path(__file__).with_name("killed_job.py"))
KILLS = examples(12, least=4)
State = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """A record to be: its file as harvested, and what a curator did to it."""

    content: bytes
    curated: bool
    state: str | None
    extra: bool
    cursor: bool


elements = st.sampled_from([
    "<dc:title>The tides</dc:title>", "<dc:title xml:lang='en'>Tides; moon</dc:title>",
    "<dc:type>Article</dc:type>", "\n  <dc:type>article</dc:type>", "<dc:type/>",
    "<!-- by hand -->", "<dc:date>\n 1999 </dc:date>", "<x:other>1</x:other>",
    "<dc:creator><x:given>A</x:given></dc:creator>", "<dc:subject a='b'>moon</dc:subject>",
])  # fmt: skip
contents = st.lists(elements, max_size=6).map(
    lambda found: (
        '<dc xmlns="urn:d" xmlns:x="urn:x" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        + "".join(found)
        + "\n</dc>"
    ).encode()
) | st.sampled_from([b"no XML", b"", b"<mods xmlns='http://www.loc.gov/mods/v3'/>"])
made = st.builds(
    Made, contents, st.booleans(), st.sampled_from([None, "ready"]), st.booleans(),
    st.booleans(),
)  # fmt: skip
names = st.sampled_from(["title", "type", "subject", "date"])
texts = st.sampled_from(["The tides", "Article", "article", "moon", "1999", "", "a\0;b"])
rules = st.one_of(
    st.builds(SetValues, names, st.lists(texts, max_size=2).map(tuple)),
    st.builds(Add, names, texts, st.sampled_from(["", "en"])),
    st.builds(Replace, names, texts, texts),
    st.builds(ReplacePattern, names, st.sampled_from(["[aA]", "$", "(.)"]), st.just("o")),
    st.builds(Remove, names, st.none() | texts),
    st.builds(Split, names, st.just(";")),
    st.builds(Trim, names, st.just("Ts")),
    st.builds(ChangeCase, names, st.sampled_from(Case)),
    st.builds(MapValues, names, st.dictionaries(texts, texts, max_size=2)),
    st.builds(SetLanguage, names, st.sampled_from(["", "de"]), st.sampled_from([None, "en"])),
    st.builds(Move, names, names),
)
rule_sets = st.builds(
    RuleSet,
    rules=st.lists(rules, max_size=3).map(tuple),
    state=st.sampled_from([None, "ready", "withheld"]),
)


@contextlib.contextmanager
def silo_of(records: list[Made]) -> Iterator[Silo]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as path, Silo(f"{path}/silo") as silo:
        for number, one in enumerate(records):
            identifier, date = f"oai:repo.example:{number}", "2020-01-01T00:00:00"
            with silo.batch([identifier]) as batch:
                edit = batch.edit(identifier)
                edit.add_version("1", date=date, origin=Origin("harvest", date=date))
                edit.put("1", "oai_dc", one.content, metadata=True, allow_frozen=True)
            record = silo[identifier]
            if one.curated:
                record.clone_version("1", "workingcopy")
                if one.state:
                    record.set_version_state("workingcopy", one.state)
                if one.extra:
                    record.put_stream("note.txt", b"mine")
                if not one.cursor:
                    record.set_version_cursor("1")
                    record.sync()
        yield silo


def held_by(silo: Silo) -> State:
    """All that a record holds and is, but for its log and the number of its changes."""
    found: State = {}
    for record in silo.iteritems():
        manifest = record.state
        files = {}
        for version in record.versions:
            for path in record.paths(version):
                with record.get_stream(path, version) as stream:
                    files[version, path] = stream.read()
        versions = [
            (one.name, one.paths, one.metadata_files, one.date, one.state, one.origin.kind)
            for one in manifest.versions
        ]
        found[record.item_id] = (versions, manifest.current_version, files, manifest.metadata)
    return found


def flat_values(content: bytes) -> tuple[tuple[str, str, str], ...]:
    """What the fields say; nothing where a change removed the last that is flat."""
    try:
        return said(read_fields(content))
    except NoFields:
        return ()


@pytest.mark.long
@given(st.lists(made, min_size=1, max_size=4), rule_sets)
@settings(deadline=None, max_examples=examples(40))
def test_what_is_previewed_is_done_and_undoing_restores_every_byte(
    records: list[Made], rule_set: RuleSet
) -> None:
    with silo_of(records) as silo:
        before = held_by(silo)
        spec = rules_job(rule_set)
        expected = preview(silo, spec)
        assert held_by(silo) == before
        job = create_job(silo, spec, agent="ada")
        report = run_job(silo, job)
        assert (report.counts.get(Doing.DONE, 0), report.values) == (
            expected.changed, expected.values,
        )  # fmt: skip
        assert Counter(why for _, why in report.skipped) == expected.skipped
        for one in expected.samples:
            record = silo[one.identifier]
            assert record.is_curated
            if one.state is not None:
                assert record.version_state() == one.state
            if one.before != one.after:
                with record.get_stream("oai_dc") as stream:
                    now = flat_values(stream.read())
                shown = {name for name, *_ in (*one.before, *one.after)}
                assert tuple(value for value in now if value[0] in shown) == one.after
        changed = {one for one, now in held_by(silo).items() if now != before[one]}
        assert len(changed) == expected.changed
        undone = undo_job(silo, job, agent="bob")
        assert undone.counts.get(Doing.UNDONE, 0) == expected.changed
        assert held_by(silo) == before
        assert not list(Audit(silo.path).findings())


RULES = RuleSet(
    "one spelling",
    rules=(Replace("type", "Article", "article"), Add("rights", "open")),
    state="ready",
)


@pytest.mark.long
@pytest.mark.parametrize("seed", family([1, 2], 1))
def test_a_job_killed_again_and_again_ends_as_one_that_was_not(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    content = (
        b'<dc:dc xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:type>Article</dc:type></dc:dc>'
    )
    records = [
        Made(content, n % 3 == 0, None, extra=n % 2 == 0, cursor=n % 12 != 0) for n in range(24)
    ]
    with silo_of(records) as silo:
        before = held_by(silo)
        job = create_job(silo, rules_job(RULES), agent="ada")
        expected = preview(silo, rules_job(RULES))
        other = str(tmp_path / "other")
        shutil.copytree(silo.path, other)
        with Silo(other) as unkilled:
            run_job(unkilled, job)
            after = held_by(unkilled)
        for what, ends in (("run", after), ("undo", before)):
            killed = 0
            for _ in range(KILLS):
                step = str(chance.randrange(1, 25))
                code = exit_code_of(KILLED_JOB, silo.path, job, what, step)
                assert code in {0, KILLED}
                killed += code == KILLED
            assert killed >= 2
            report = run_job(silo, job) if what == "run" else undo_job(silo, job, agent="bob")
            counts = {Doing.DONE if what == "run" else Doing.UNDONE: expected.changed}
            assert report.counts == counts | {Doing.SKIPPED: 2}
            assert held_by(silo) == ends
            found = {one.code for one in Audit(silo.path).findings()}
            assert found <= {Code.PENDING_UNDONE}  # the next writer of that record does it
