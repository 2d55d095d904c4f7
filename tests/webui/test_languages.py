"""Which language a page is in, and how it writes numbers and dates."""

import gettext
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Any

import lxml.html
import pytest
from babel import dates as babel_dates
from babel import numbers as babel_numbers
from text_catalogue import ROOM, messages, translations, updated

from recordsilo.disk.identifier import check_identifier
from recordsilo.disk.names import check_version_name
from recordsilo.errors import RecordSiloError
from silocuration.editing.rules import Add, check
from silocuration.errors import CurationError, RuleRefused
from silowork.due.timetable import Timetable
from webui.http.errors import as_sentence
from webui.http.languages import choice_header, language_of
from webui.people.accounts import AccountRefused, load_account, name_of
from webui.schedule_forms import in_words as timetable_in_words
from webui.search.facets import label_of
from webui.words import dates, locales, texts
from webui.words.catalogue import as_mo, read_po
from webui.words.sentences import sentence
from webui.words.texts import spoken

from .conftest import SET_NAME

A_DAY = datetime(2026, 3, 7, 9, 5)  # noqa: DTZ001  # of a manifest, whose times are UTC


@pytest.mark.parametrize(
    ("cookie", "accepted", "server", "language"),
    [
        ("", "", "", "en"),
        ("", "de-AT,en;q=0.5", "", "de"),
        ("", "it, fr;q=0.3, de;q=0.7", "", "de"),
        ("", "de;q=0, fr;q=0.1", "", "fr"),
        ("", "it", "", "en"),
        ("", "it", "fr_CA.UTF-8:de", "fr"),
        ("", "en", "fr", "en"),
        ("silo-language=fr", "de", "", "fr"),
        ("a=b; silo-language=xx", "de", "", "de"),
    ],
)
def test_the_person_chooses_then_the_browser_then_the_server(
    monkeypatch: pytest.MonkeyPatch, cookie: str, accepted: str, server: str, language: str
) -> None:
    monkeypatch.setenv("LANGUAGE", server)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    environ = {"HTTP_COOKIE": cookie, "HTTP_ACCEPT_LANGUAGE": accepted}
    assert language_of(environ, as_json=False) == language


def test_json_is_english_unless_a_page_shows_it() -> None:
    environ = {"HTTP_ACCEPT_LANGUAGE": "de"}
    by_page = {"HTTP_SEC_FETCH_DEST": "empty", "HTTP_SEC_FETCH_SITE": "same-origin"}
    assert language_of(environ, as_json=True) == "en"
    assert language_of(environ | by_page, as_json=True) == "de"


def test_a_choice_is_kept_in_a_cookie_and_ended_by_none() -> None:
    assert choice_header("de", "/a/").startswith("silo-language=de; Path=/a/; HttpOnly; ")
    assert choice_header("", "/").endswith("Max-Age=0")


def test_a_choice_of_the_page_counts_from_the_next_page_on(client: Any) -> None:
    back = {"Referer": f"http://127.0.0.1:{client.port}/search?q=a"}
    chosen = client.post("/language", {"language": "fr"}, headers={"Accept": "text/html", **back})
    assert (chosen.status, chosen.headers["Location"]) == (303, "/search?q=a")
    kept = chosen.headers["Set-Cookie"].partition(";")[0]
    page = client.get("/", headers={"Cookie": kept, "Accept-Language": "de"})
    assert '<html lang="fr">' in page.text
    assert {"Accept-Language", "Cookie"} <= set(page.headers["Vary"].split(", "))
    german = client.get("/", headers={"Accept-Language": "de"})
    assert german.headers["ETag"] != page.headers["ETag"]
    assert client.post("/language", {"language": "xx"}).status == 400


@pytest.mark.parametrize("language", locales.LOCALES)
def test_numbers_and_dates_are_those_of_the_unicode_locales(language: str) -> None:
    region = "en_GB" if language == "en" else language
    for number in (0, 7, 1234, 1234567, 12.5, 1234.25):
        assert locales.grouped(number, language) == babel_numbers.format_decimal(
            number, locale=region
        )
    assert locales.percent(12, language) == babel_numbers.format_percent(0.12, locale=region)
    for month in range(1, 13):
        day = A_DAY.replace(month=month)
        if language != "en":  # which shortens September to three letters
            said = babel_dates.format_date(day, "medium", locale=region)
            assert locales.day(day, language) == said


def test_what_is_kept_of_a_date_is_kept_for_each_language() -> None:
    said = []
    for language in ("en", "de", "fr", "en"):
        with texts.spoken(language):
            said.append(dates.for_people("2026-03-07T09:05:00"))
    assert said[1:] == ["07.03.2026, 09:05 UTC", "7 mars 2026, 09:05 UTC", "7 Mar 2026, 09:05 UTC"]


def test_a_translation_is_read_as_gettext_reads_it() -> None:
    source = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n > 1);\\n"\n\n'
        '#: a.py\n#, python-brace-format\nmsgid ""\n"Of "\n"{name}"\nmsgstr "De {name}"\n\n'
        'msgid "{n} record"\nmsgid_plural "{n} records"\nmsgstr[0] "{n} notice"\n'
        'msgstr[1] "{n} notices"\n\nmsgid "A \\"quote\\""\nmsgstr "Une « citation »"\n\n'
        '#, fuzzy\nmsgid "Guessed"\nmsgstr "Deviné"\n\nmsgid "New"\nmsgstr ""\n'
    )
    found = gettext.GNUTranslations(io.BytesIO(as_mo(dict(read_po(source)))))
    assert found.gettext("Of {name}") == "De {name}"
    assert [found.ngettext("{n} record", "{n} records", n) for n in (0, 1, 2)] == [
        "{n} notice", "{n} notice", "{n} notices",
    ]  # fmt: skip
    assert found.gettext('A "quote"') == "Une « citation »"
    assert [found.gettext(one) for one in ("Guessed", "New")] == ["Guessed", "New"]


def test_a_sentence_that_has_its_values_in_it_is_translated() -> None:
    with texts.spoken("de"):
        said = sentence("Record oai:a has no version '2'; it has 1, 3.")
        assert said == "Der Datensatz oai:a hat keine Version '2'; er hat 1, 3."
        said = sentence(
            "The year 'abc' is not a number; write one, such as year=2016, or a range, such as "
            "year=2010..2016."
        )
        assert said.startswith("year: 'abc' ist keine Zahl;")
        assert sentence("There is no saved search 'a'.") == "Es gibt keine gespeicherte Suche 'a'."
        said = sentence("There is no finding 'Q999'; there are Q001, Q101.")
        assert said == "Es gibt keinen Befund 'Q999'; es gibt Q001, Q101."
        assert sentence("Something else.") == "Something else."
    assert sentence("There is no job 'a'.") == "There is no job 'a'."


@pytest.mark.parametrize(
    ("refuse", "said"),
    [
        (
            partial(check_version_name, "a/b"),
            "'a/b' kann keine Version benennen: er enthält ein „/“.",
        ),
        (partial(check_identifier, ""), "'' kann keine Kennung sein: er ist leer."),
        (partial(check, Add("", "x")), "Eine Regel muss das Feld nennen, das sie ändert."),
        (partial(name_of, "-"), "'-' kann kein Kontoname sein: Er beginnt mit einem Buchstaben"),
        (partial(load_account, "nowhere", "vera"), "Es gibt kein Konto 'vera'."),
    ],
)
def test_what_a_form_is_refused_for_is_said_in_the_language_of_the_page(
    refuse: Callable[[], object], said: str
) -> None:
    with pytest.raises((RecordSiloError, CurationError, AccountRefused)) as told:
        refuse()
    with texts.spoken("de"):
        assert as_sentence(str(told.value)).startswith(said)


def test_the_reason_in_a_sentence_is_translated() -> None:
    with texts.spoken("de"):
        error = RuleRefused("a rule takes a value or a pattern, not both", change=2)
        said = "Änderung 2: Eine Regel nimmt einen Wert oder ein Muster, nicht beides."
        assert as_sentence(str(error)) == said
        assert sentence("Change 1: something else.") == "Änderung 1: something else."


def test_the_reason_of_one_record_is_translated() -> None:
    with texts.spoken("fr"):
        assert sentence("was not found in this Silo") == "n’a pas été trouvée dans ce Silo"
    with texts.spoken("de"):
        assert sentence("oai_dc was edited outside; accept it first").startswith("oai_dc wurde")
        said = "is not available: http://x.example/ gives no answer: the connection was refused"
        assert sentence(said).startswith("ist nicht abrufbar: http://x.example/ ")
        assert "refused" not in sentence(said)


@pytest.mark.parametrize("language", translations())
def test_translations_have_the_texts_of_the_page_and_their_placeholders(language: str) -> None:
    source = translations()[language].read_text(encoding="utf-8")
    entries = dict(read_po(source))
    assert "fuzzy" not in source
    for key, said in entries.items():
        if key:
            known = set(re.findall(r"\{[^}]*\}", key))
            for one in said.split("\0"):
                assert set(re.findall(r"\{[^}]*\}", one)) <= known, key
            assert set(re.findall(r"\{[^}]*\}", said)) == known, key


def test_an_update_keeps_translations_and_guesses_none() -> None:
    head = 'msgid ""\nmsgstr ""\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
    text = updated(
        "de", head + 'msgid "Search"\nmsgstr "Suche"\n\nmsgid "Nothing says this"\nmsgstr "Fort"\n'
    )
    assert 'msgid "Search"\nmsgstr "Suche"\n' in text
    assert "Nothing says this" not in text
    assert '#, python-brace-format\nmsgid "{n} record"\nmsgid_plural "{n} records"\n' in text


@pytest.mark.parametrize("language", translations())
def test_a_translation_is_complete(language: str) -> None:
    """If not: ``python tools/text_catalogue.py update``, and fill in what is empty.

    See docs/translating.md.
    """
    source = translations()[language].read_text(encoding="utf-8")
    known = {tuple(key.split("\0")) for key, _said in read_po(source)}
    said = {(one, many) if many else (one,) for one, many in messages()}
    assert said - known == set()
    assert known - said == {("",)}


PAGES = (
    "/", "/search", "/search?q=nothing+of+this", "/records/oai+example,org+1", "/quality", "/bulk",
    "/jobs", "/jobs/new", "/jobs/new/harvest", "/sets", "/rules", "/searches", "/schedules",
    "/accounts", "/places", "/activity", "/upstream", "/harvests", "/crawls", "/selection",
    "/providing", "/usage", "/account", "/collections", "/clusters?field=creator", "/nothing",
)  # fmt: skip


SAID = ("h1", "h2", "h3", "label", "button", "dt", "th", "legend", "small")
"""Elements that say texts of ours, or data with a direction of its own."""


def test_no_number_of_a_page_is_written_as_english_writes_it() -> None:
    """But by `numeral`; log lines and what is stored are English."""
    stored = {"editing/curator.py", "words/locales.py"}
    for path in sorted((*ROOM.rglob("*.mako"), *ROOM.rglob("*.py"))):
        if path.relative_to(ROOM).as_posix() not in stored:
            found = re.findall(r"\{[^{}\n]+:,[^{}]*\}", path.read_text(encoding="utf-8"))
            assert found == [], path.name


class _Noted(gettext.NullTranslations):
    """A language in which every text is in brackets; notes what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def gettext(self, message: str) -> str:
        self.asked.add(message)
        return f"⟦{message}⟧"

    def ngettext(self, one: str, many: str, number: int) -> str:
        return f"⟦{one if number == 1 else many}⟧"


def test_pages_say_no_text_that_is_not_in_the_catalogue(
    monkeypatch: pytest.MonkeyPatch, client: Any
) -> None:
    """Neither a text of a package that the template does not name, nor one outside of `_`."""
    language = _Noted()
    monkeypatch.setattr(texts, "catalogue", lambda _: language)
    outside = set()
    for page in PAGES:
        shown = lxml.html.document_fromstring(
            client.get(page, headers={"Accept-Language": "de"}).text
        )
        for element in shown.iter(*SAID):
            text = _outside(element.text_content())
            if not element.xpath("ancestor-or-self::*[@lang or @dir]") and text:
                outside.add((page, text))
    assert outside == set()
    known = {text for message in messages() for text in message}
    unknown = {one for one in language.asked if one not in known and "⟦" not in one}
    assert {one for one in unknown if " " in one} == {SET_NAME}  # data, which stays as it is


def _outside(text: str) -> str:
    while (inner := re.sub(r"⟦[^⟦⟧]*⟧", " ", text)) != text:
        text = inner
    return " ".join(re.findall(r"[^\W\d_]{3,}", text))


def test_french_keeps_its_marks_with_the_word_before_them() -> None:
    loose = re.compile(r" [:;!?»](?=\s|$)|« |(?<!&amp)(?<=[\w})])[;!?](?=\s|$)")
    source = translations()["fr"].read_text(encoding="utf-8")
    said = (one for key, told in read_po(source) if key for one in told.split("\0"))
    assert [one for one in said if loose.search(one)] == []


QUARTERLY = Timetable((time(4, 0),), days=(1,), months=(3, 9))


@pytest.mark.parametrize(
    ("wish", "language", "said"),
    [
        (Timetable(every=timedelta(minutes=90)), "en", "Every 90 minutes"),
        (Timetable(every=timedelta(minutes=90)), "fr", "Toutes les 90 minutes"),
        (Timetable(every=timedelta(hours=30)), "de", "Alle 30 Stunden"),
        (Timetable(every=timedelta(days=3)), "de", "Alle 3 Tage"),
        (Timetable(every=timedelta(days=3)), "fr", "Tous les 3 jours"),
        (QUARTERLY, "de", "Am 1. des Monats, im März, September, um 04:00 UTC"),
        (QUARTERLY, "fr", "Le 1 du mois, en mars, septembre, à 04:00 UTC"),
        (
            Timetable(once=datetime(2026, 12, 1, 2, 30, tzinfo=UTC)),
            "de",
            "Einmal, am 01.12.2026, 02:30 UTC",
        ),
    ],
)
def test_timetables_are_said_as_the_language_says_times(
    wish: Timetable, language: str, said: str
) -> None:
    with spoken(language):
        assert timetable_in_words(wish) == said


def test_forms_that_are_offered_beside_files_are_translated_too() -> None:
    with spoken("fr"):
        for label in ("It is", "A table (CSV): each row a record", "Logs, indexes and WARCs"):
            assert texts.text(label) != label


def test_a_status_of_a_version_is_a_facet_in_the_language_of_the_page() -> None:
    assert label_of("state", "in work") == "in work"
    with spoken("fr"):
        assert label_of("state", "in work") == "en cours"
        assert sentence("links of all records") == "liens de toutes les notices"
