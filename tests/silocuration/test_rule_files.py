"""Rule files: any content is a rule, or an error that says where it is wrong."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recordsilo import Silo, patterns
from recordsilo.disk.toml_files import TomlInvalid, toml_of
from silocuration.batch.job import create_job, preview, run_job
from silocuration.batch.journal import Doing
from silocuration.batch.specs import rules_job
from silocuration.editing.fields import read_fields, said, write_fields
from silocuration.editing.rule_files import (
    RuleSet,
    from_table,
    load_rules,
    rules_directory,
    rules_text,
    save_rules,
    to_table,
)
from silocuration.editing.rules import Add, Move, Rule, SetValues, apply
from silocuration.errors import CurationError, RuleRefused

Fill = Callable[..., list[str]]
DO = ["set", "add", "replace", "replace pattern", "remove", "split", "trim", "case", "map",
      "language", "move", "transform", "shake"]  # fmt: skip
KEYS = ["do", "field", "values", "value", "lang", "by", "pattern", "ignore_case", "separator",
        "characters", "case", "table", "only", "to", "how"]  # fmt: skip

TRIM = '[[change]]\ndo = "trim"\nfield = "title"\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[change", r"it is not valid TOML: Expected '\]\]'"),
        ('title = "a"\ntitle = "b"\n', r"it is not valid TOML: .*line 2"),
        ("title = " + "[" * 3000, "nested too deeply"),
        ("keep = " + "1" * 5000, "it is not valid TOML"),
        ("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "not valid TOML"),
        ("title = 1", "title must be a text, not 1"),
        ("keep = 1", "keep must be true or false, not 1"),
        ("state = []", r"state must be one of .*, not \[\]"),
        ("file = {}", r"file must be a text, not \{\}"),
        ("select = 1", "records are selected in a table"),
        ("change = 1", r"write each change as \[\[change\]\]"),
        ("[[change]]\ndo = []", r"change 1: do must be one of .*, not \[\]"),
        ("[[change]]\ndo = {}", r"change 1: do must be one of .*, not \{\}"),
        ('[[change]]\nfield = "title"', "change 1: do must be one of .*, not None"),
        ('[[change]]\ndo = "case"\nfield = "title"\ncase = []', r"case must be .*, not \[\]"),
        (TRIM + '[[change]]\ndo = "language"\nfield = "title"\nlang = "\\u0000"',
         r"change 2: '\\x00' is not a language tag"),
        ('[[change]]\ndo = "add"\nfield = "title"\nvalue = "a"\nlang = "en_GB"', "language tag"),
        ('[[change]]\ndo = "add"\nfield = "rigths"\nvalue = "a"',
         r"change 1: Dublin Core .* no field 'rigths'; did you mean 'rights'\?"),
        ('file = "oai_dc"\n[[change]]\ndo = "move"\nfield = "rigths"\nto = "righst"',
         r"change 1: Dublin Core has no field 'righst'; did you mean 'rights'\?"),
        ('[[change]]\ndo = "move"\nfield = "title"\nto = ""', "no field ''"),
        ('file = "uketd_dc"\n[[change]]\ndo = "set"\nfield = "dcterms:isued"\nvalues = ["a"]',
         "UKETD_DC has no field 'dcterms:isued'; did you mean 'dcterms:issued'"),
        ("[[change]]\ndo = " + "9" * 1000, r"not 9{1,40}\.\.\.9+$"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_rule_file_is_said_with_its_place(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "rule.toml"
    path.write_bytes(text.encode())
    with pytest.raises(RuleRefused, match=sentence) as refused:
        load_rules(str(tmp_path), str(path))
    assert str(path) in str(refused.value)
    assert len(str(refused.value)) < 500


def test_a_rule_file_that_cannot_be_opened_is_a_sentence(silo: Silo) -> None:
    os.makedirs(os.path.join(rules_directory(silo.path), "types.toml"))
    with pytest.raises(RuleRefused, match=r"types\.toml' cannot be read: Is a directory"):
        load_rules(silo.path, "types")
    with pytest.raises(RuleRefused, match="cannot be read: embedded null"):
        load_rules(silo.path, "a\0.toml")


def test_a_rule_of_the_silo_is_no_link_and_no_pipe(silo: Silo, tmp_path: Path) -> None:
    place = Path(rules_directory(silo.path))
    place.mkdir(parents=True)
    (tmp_path / "mine.toml").write_text("secret")
    (place / "link.toml").symlink_to(tmp_path / "mine.toml")
    os.mkfifo(place / "pipe.toml")
    for name, why in (("link", "it is a symbolic link"), ("pipe", "it is not a regular file")):
        with pytest.raises(RuleRefused, match=why):
            load_rules(silo.path, name)
        with pytest.raises(RuleRefused, match=why):
            rules_text(silo.path, name)


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        ("", Add("rights", "open")),
        ("", Add("dcterms:issued", "1999")),
        ("", Add("publicationYear", "1999")),
        ("", Add("mods:genre", "text")),
        ("", Move("rigths", "rights")),
        ("eprints", Add("colour", "red")),
        ("uketd_dc.xml", SetValues("uketdterms:advisor", ("A",))),
    ],
)
def test_a_field_that_some_format_has_is_taken(file: str, rule: Rule) -> None:
    rule_set = RuleSet(file=file, rules=(rule,))
    assert from_table(to_table(rule_set)) == rule_set


def test_a_record_whose_format_lacks_the_field_is_passed_over(silo: Silo, fill: Fill) -> None:
    fill(2)
    rule_set = RuleSet(rules=(Add("dcterms:issued", "1999"),))
    reason = "Dublin Core has no field 'dcterms:issued'"
    assert preview(silo, rules_job(rule_set)).skipped == {reason: 2}
    report = run_job(silo, create_job(silo, rules_job(rule_set), agent="ada"))
    assert report.counts == {Doing.SKIPPED: 2}
    assert {why for _, why in report.skipped} == {reason}


words = st.text(max_size=6) | st.sampled_from(
    ["title", "dcterms:issued", "en", "lower", ";", "(a)", r"\1", "\0", "oai_dc", "ready"]
)
values: st.SearchStrategy[Any] = st.recursive(
    words | st.integers() | st.booleans() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
changes = st.fixed_dictionaries(
    {"do": st.sampled_from(DO) | values, "field": st.sampled_from(["title", "type"]) | values},
    optional=dict.fromkeys(KEYS[2:], words | values),
)
tables = st.fixed_dictionaries(
    {},
    optional={
        "title": words | values, "keep": st.booleans() | values, "file": words | values,
        "state": words | values, "change": st.lists(changes, max_size=3) | values,
        "select": st.dictionaries(st.sampled_from(["query", "year", "since", "curated"]), values)
        | values,
        "other": values,
    },
)  # fmt: skip


@pytest.fixture
def no_process_for_each_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_is_small", lambda *_: True)


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode(errors="replace"))
)
@example(b"[[change]]\ndo = []")
def test_any_bytes_are_rules_or_a_sentence(content: bytes) -> None:
    with suppress(RuleRefused, TomlInvalid):
        from_table(toml_of(content))


DOCUMENTS = (
    '<dc xmlns="http://purl.org/dc/elements/1.1/">{}</dc>',
    '<thesis xmlns="http://www.ndltd.org/standards/metadata/etdms/1.1/">{}</thesis>',
    '<record xmlns="urn:x">{}</record>',
)
contents = st.builds(
    lambda document, fields: document.format("".join(fields)).encode(),
    st.sampled_from(DOCUMENTS),
    st.lists(
        st.sampled_from([
            "<title>A; b</title>", "<title xml:lang='en'>a</title>", "<type/>", "<!-- c -->",
            "<type>a\n a</type>", "<date><year>1</year></date>", "text",
        ]),
        max_size=5,
    ),
)  # fmt: skip


@given(tables, contents)
@settings(deadline=None)
@pytest.mark.usefixtures("no_process_for_each_pattern")
def test_any_table_is_rules_or_a_sentence_and_rules_do_something_or_say_why_not(
    table: dict[str, Any], content: bytes
) -> None:
    with suppress(CurationError, TomlInvalid):
        rule_set = from_table(toml_of(tomli_w.dumps(table).encode(errors="replace")))
        assert from_table(to_table(rule_set)) == rule_set
        after = apply(rule_set.rules, read_fields(content))
        written = write_fields(content, after)
        assert said(read_fields(written)) == said(after)


def test_rules_are_saved_as_they_are_read(silo: Silo) -> None:
    rule_set = replace(RuleSet("a", rules=(Add("title", "x"),)), keep=True)
    save_rules(silo.path, "one", rule_set)
    assert load_rules(silo.path, "one") == rule_set
