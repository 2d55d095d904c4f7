"""The catalogue of texts: complete, valid, and used if there is a translation."""

import ast
import gettext
import io
import re
import string
from pathlib import Path
from typing import Any

import pytest
from mako.lexer import Lexer
from mako.parsetree import Expression, Tag, Text
from text_catalogue import ROOM, _refusals, messages, pot

from webui.http import errors
from webui.words import texts
from webui.words.catalogue import as_mo
from webui.words.sentences import ON_THE_PAGE, OPTIONS, sentence
from webui.words.texts import spoken

TEMPLATES = sorted((ROOM / "templates").glob("*.mako"))


def test_the_template_for_translators_names_every_text_once() -> None:
    printed = re.findall(r'^msgid "(.*)"$', pot(), re.MULTILINE)
    assert len(printed) == len(messages()) + 1  # the head has an empty one
    assert len(printed) > 100


OF_TABLES = {
    "choice.form.see[1]",
    "entry.label",
    "group.label",
    "field.help",
    "field.label",
    "file.difference.change",
    "found.harvest.state",
    "kind.heading",
    "kind.hint",
    "kind.label",
    "kind.missing",
    "label",
    "one",
    "one.hint",
    "one.label",
    "one.reason.sentence",
    "one.title",
    "user.role.label",
    "version.state",
}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_says_a_text_that_translators_do_not_see(template: Path) -> None:
    """Texts out of tables are named here; anything else is written where it is said."""
    said = re.findall(r"(?<![\w.])_\(([^\"'][^)]*)\)", template.read_text(encoding="utf-8"))
    assert set(said) <= OF_TABLES


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_prints_a_function_of_its_own(template: Path) -> None:
    """A value of that name, given to the template, is hidden by the function."""
    source = template.read_text(encoding="utf-8")
    functions = set(re.findall(r'<%def name="(\w+)\(', source))
    printed = set(re.findall(r"\$\{\s*(\w+)\s*[}|]", source))
    assert functions & printed == set()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_has_words_of_its_own(template: Path) -> None:
    source = _without_expressions(Lexer(template.read_text(encoding="utf-8")).parse().nodes)
    assert _words(source) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_expression_of_a_template_quotes_an_attribute(template: Path) -> None:
    """Its quotes would be escaped, and become a part of the value."""
    assert re.findall(r"\$\{' [a-z-]+=\"", template.read_text(encoding="utf-8")) == []


def test_words_outside_the_catalogue_are_noticed() -> None:
    source = (
        '<p class="x">${_("Found")} Lost</p>\n% if a:\n<a title="Told" href="/b">${b}</a>\n% endif'
    )
    assert _words(_without_expressions(Lexer(source).parse().nodes)) == ["Lost", "Told"]


def _without_expressions(nodes: list[Any]) -> str:
    """The text of a template, with a blank for every value put in."""
    pieces = []
    for node in nodes:
        if isinstance(node, Text):
            pieces.append(node.content)
        elif isinstance(node, Expression):
            pieces.append(" ")
        elif isinstance(node, Tag):
            pieces.append(_without_expressions(node.nodes))
    return "".join(pieces)


def _words(source: str) -> list[str]:
    """What people would read; commands, file names and units are the same in every language."""
    source = re.sub(r"<(code|title)>.*?</\1>|<!doctype html>|SHA-256|curation/rules/ \.toml", " ",
                    source, flags=re.DOTALL)  # fmt: skip
    told = re.findall(r'\s(?:aria-label|title|alt|placeholder)="([^"]*)"', source)
    source = re.sub(r'\s[a-z-]+="[^"]*"', " ", source)
    read = re.sub(r"<[^>]*>", "\n", source).split("\n")
    return [words for one in (*read, *told) if re.search(r"[^\W\d_]{2}", words := one.strip())]


def test_no_text_is_put_together_before_it_is_looked_up() -> None:
    for path in sorted(ROOM.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in {"_", "counted", *_refusals()} and node.args:
                where = (path.name, node.lineno)
                assert not isinstance(node.args[0], ast.JoinedStr), where


def test_refusals_are_said_in_the_language_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {"Record {identifier} already exists.": "{identifier} ist schon da."}
    monkeypatch.setattr(texts, "catalogue", lambda _: gettext.GNUTranslations(_mo(pairs)))
    assert errors.ChangeConflict(next(iter(pairs)), identifier="{a}").message == "{a} ist schon da."
    assert ("Record {identifier} already exists.", "") in messages()


def test_a_translated_page_says_its_language_and_its_tables(
    monkeypatch: pytest.MonkeyPatch, client: Any
) -> None:
    pairs = {"Creators": "Urheber", "harvested": "geerntet", "Versions": "Fassungen"}
    monkeypatch.setattr(texts, "catalogue", lambda _: gettext.GNUTranslations(_mo(pairs)))
    page = client.get("/records/oai+example,org+1", headers={"Accept-Language": "de-AT"}).text
    assert '<html lang="de">' in page
    for one in ("<dt>Urheber</dt>", ">geerntet", ">Fassungen</h2>"):
        assert one in page


def test_nothing_is_nothing_in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "catalogue", lambda _: gettext.GNUTranslations(_mo({})))
    assert texts.text("") == ""


def test_texts_are_found_in_templates_handlers_and_tables() -> None:
    found = messages()
    assert "templates/search.mako" in found["Search", ""]
    assert "navigation.py" in found["Clusters", ""]
    assert "pages/differences.py" in str(found.values())
    assert ("{n} record", "{n} records") in found
    assert ("no title", "") in found


def test_what_is_put_into_a_text_has_a_name() -> None:
    for one, many in messages():
        for text in (one, many):
            for _literal, name, _form, _conversion in string.Formatter().parse(text):
                assert name is None or name.isidentifier(), text


def test_numbers_choose_between_one_and_many() -> None:
    said = [texts.counted("{n} record", "{n} records", n) for n in (0, 1, 1234)]
    assert said == ["0 records", "1 record", "1,234 records"]


def test_a_translation_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    translation = gettext.GNUTranslations(_mo({"Find": "Suchen", "Of {name}": "Von {name}"}))
    monkeypatch.setattr(texts, "catalogue", lambda _: translation)
    assert texts.text("Find") == "Suchen"
    assert texts.text("Of {name}", name="{x}") == "Von {x}"
    assert texts.text("Not translated") == "Not translated"


def _mo(pairs: dict[str, str]) -> Any:
    return io.BytesIO(as_mo({"": "Content-Type: text/plain; charset=UTF-8\n", **pairs}))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            "it lacks what DataCite requires: a DOI (or give --prefix)",
            "it lacks what DataCite requires: a DOI (or fill in “Prefix of DOIs”)",
        ),
        (
            "the object was changed; --on-conflict overwrite does that",
            "the object was changed; “If others changed the target: overwrite” does that",
        ),
        ("start silo crawl run", "start the crawl on the server: silo crawl run"),
    ],
)
def test_options_of_commands_are_called_as_the_forms_of_the_page_call_them(
    told: str, expected: str
) -> None:
    assert sentence(told) == expected
    with spoken("de"):
        assert "--" not in sentence(told)
        assert sentence(told) not in (told, expected)


def test_a_request_without_an_answer_is_told_in_the_language_of_the_page() -> None:
    with spoken("de"):
        said = sentence("http://a.example/oai gives no answer: the connection was refused")
        promise = "9,000 records were promised and 5,100 listed"
        note = sentence(
            f"a: the number of records was checked with a list of all identifiers ({promise})"
        )
        assert "9.000 Datensätze wurden angekündigt und 5.100 gelistet" in note
        assert sentence("57.6 GB free") == "57,6 GB frei"
    assert said == "http://a.example/oai antwortet nicht: Die Verbindung wurde abgelehnt"
    assert sentence("1,057.0 GB free") == "1,057.0 GB free"


def test_what_the_page_says_instead_of_options_are_options() -> None:
    """Otherwise the page goes on naming an option that a package has renamed."""
    source = "".join(
        path.read_text(encoding="utf-8")
        for package in ("siloexport", "siloimport", "silocuration", "oaipmhscraper", "silocrawl",
                        "crawlmatch")
        for path in (ROOM.parent / package).rglob("*.py")
    )  # fmt: skip
    joined = re.sub(r'"\s+f?"', "", source)
    assert [one for one in (*OPTIONS, *ON_THE_PAGE) if one not in joined] == []
