"""The texts of the page as a gettext template, and the translations brought up to date with it.

    python tools/text_catalogue.py > webui.pot
    python tools/text_catalogue.py update          (every locale/*/LC_MESSAGES/webui.po)

An update adds new texts with an empty translation, and removes those that the page no longer
says. Nothing is guessed: no text gets the translation of a similar one.

Texts are the arguments of ``_("…")`` and ``counted("…", "…", n)`` in templates and handlers,
the messages of errors (``BadRequest("…")``), and the tables of labels.

Source: GNU gettext, "The Format of PO Files".
"""

import ast
import io
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from http import HTTPStatus
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

import webui
from crawlmatch.kept import crawls_beside
from crawlmatch.outcomes import OWN, LinkOutcome
from recordsilo.contributions import contributions
from recordsilo.formats.quality import CODES
from recordsilo.index.facets import additions_to, contributed_facets
from recordsilo.panels import GROUP as PANELS
from recordsilo.panels import Panel
from recordsilo.records.differences import Change
from recordsilo.records.manifest import STATES
from silocrawl.proposals import Reason
from siloexport.jobs import VERSIONS
from siloexport.target_kinds import FieldAvailability, TargetKind, kinds
from siloimport.places import imports_beside
from silowork.forms import JobForm
from silowork.kinds import begun_by_form, kind_names, kind_of
from webui import activity, job_view
from webui.bulk.rule_form import HOWS, KINDS
from webui.contributed import contributed, navigation
from webui.crawling import form as crawl_form
from webui.crawling import jobs as crawl_jobs
from webui.crawling import lists as crawl_lists
from webui.crawling import proposals as crawl_proposals
from webui.crawling import status as crawl_status
from webui.crawling import targets as crawl_targets
from webui.editing.edited_file import STALE
from webui.http.bodies import UNITS
from webui.http.errors import (
    FAULT,
    HEADINGS,
    HEADINGS_OF_CODES,
    UNFORESEEN,
    UNREADABLE,
    WebError,
)
from webui.http.machine_errors import BUSY, DISK_FULL, FILE_UNREADABLE, NOT_WRITABLE
from webui.pages import (
    any_field,
    bulk_report,
    clusters,
    crawls,
    duplicates,
    fleet,
    jobs,
    manage_accounts,
    places,
    record,
    schedules,
    search,
    upstream,
)
from webui.people import authentication
from webui.people.roles import Role
from webui.providing.pages import STATES as GIVEN
from webui.reconciling import pages as reconciling
from webui.reconciling import place_pages
from webui.record.columns import LABELS
from webui.record.view import FIELDS
from webui.schedule_forms import MONTHS, WHEN
from webui.search.request import FACET_LABELS, SORT_LABELS
from webui.usage.asked import KINDS as KINDS_OF_USAGE
from webui.usage.asked import ORDERS, SINGULAR
from webui.words.field_labels import FIELD_LABELS
from webui.words.sentences import ON_THE_PAGE, OPTIONS, REASONS, SENTENCES

ROOM = Path(webui.__file__).parent
_TEXT = r"""("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_ONE = re.compile(rf"(?<![\w.])_\(\s*{_TEXT}")
_TWO = re.compile(rf"(?<![\w.])counted\(\s*{_TEXT},\s*{_TEXT}")
_NAMES = {"_", "counted"}
Message = tuple[str, str]
"""The text, and its plural or ``""``."""

_HEAD = """\
# The texts of the page, in English.
msgid ""
msgstr ""
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def messages() -> dict[Message, list[str]]:
    """Return every text, in order, with its files."""
    found: dict[Message, list[str]] = {}
    for path in sorted((*ROOM.rglob("*.mako"), *ROOM.rglob("*.py"))):
        read = _in_template if path.suffix == ".mako" else _in_python
        for message in read(path.read_text(encoding="utf-8")):
            _note(found, message, path.relative_to(ROOM).as_posix())
    for name in kind_names():
        _note(found, job_view.forms_of_total(kind_of(name).did), "totals of jobs")
    for place, texts in _tables():
        for text in texts:
            _note(found, (text, ""), place)
    return dict(sorted(found.items()))


def _note(found: dict[Message, list[str]], message: Message, place: str) -> None:
    places = found.setdefault(message, [])
    if place not in places:
        places.append(place)


def _tables() -> Iterator[tuple[str, Iterable[str]]]:
    yield "navigation.py", _navigation()
    yield "record/columns.py", LABELS.values()
    yield "search/request.py", (*FACET_LABELS.values(), *SORT_LABELS.values())
    yield (
        "pages/fleet.py",
        (*fleet.STATE_LABELS.values(), *fleet.STATE_HINTS.values(), *fleet.PART_HINTS.values()),
    )
    yield "pages/fleet.py", (*fleet.OUTCOME_LABELS.values(), *fleet.PARTS.values())
    yield "pages/fleet.py", (name for name, *_ in fleet.GROUPS)
    yield "pages/source.py", ("whole", "incomplete", "running", "open")
    yield "recordsilo/formats/quality.py", CODES.values()
    for facet in (*contributed_facets(), *additions_to("finding")):
        yield f"facet {facet.name}", (facet.title, *facet.labels.values())
    yield "panels", _words_of_panels()
    yield "recordsilo/records/manifest.py", STATES
    yield "record/view.py", (label for label, _name in FIELDS)
    yield "bulk/rule_form.py", _words_of_changes()
    yield "people/roles.py", (role.label for role in Role)
    yield "people/authentication.py", authentication.ONLY.values()
    yield "pages/jobs.py", (*jobs.DOWNLOADS.values(), "Download table")
    yield "tables of one kind", (*UNITS, *GIVEN.values())
    yield "http/machine_errors.py", (DISK_FULL, NOT_WRITABLE, FILE_UNREADABLE, BUSY)
    yield (
        "http/errors.py",
        (*HEADINGS.values(), *HEADINGS_OF_CODES.values(), FAULT, UNFORESEEN, UNREADABLE),
    )
    yield "editing/edited_file.py", (STALE,)
    yield "words", (*FIELD_LABELS.values(), *SENTENCES, *REASONS, *_words_here())
    yield "pages/bulk_report.py", bulk_report.DOING_LABELS.values()
    yield "pages/clusters.py", (label for _method, label in clusters.METHODS)
    yield "activity.py", (*activity.ACTIONS.values(), *activity.SENTENCES.values(), activity.BEGUN)
    yield "job_view.py", _words_of_jobs()
    yield "pages/new_jobs.py", _words_of_forms()
    yield "schedule_forms.py", (*WHEN.values(), *MONTHS)
    yield "pages/schedules.py", schedules.DONE.values()
    yield "pages/manage_accounts.py", manage_accounts.DONE.values()
    yield (
        "pages/places.py",
        (*places.DONE.values(), *place_pages.DONE.values(), *places.FOUND.values()),
    )
    yield "siloexport/jobs.py", VERSIONS
    for target in kinds():
        yield f"export {target.name}", _words_of_target(target)
    for labels in (upstream.KIND_LABELS, upstream.CHANGE_LABELS, upstream.DONE):
        yield "pages/upstream.py", labels.values()
    yield "pages/crawls.py", (*crawls.TITLES.values(), *crawls.COLUMNS.values(), "Domain")
    steps = {step for one in LinkOutcome for step in (one.next_step, one.next_step_in(OWN))}
    yield "crawlmatch/outcomes.py", sorted(steps - ON_THE_PAGE.keys())
    yield (
        "crawling/form.py",
        (
            *crawl_form.FREQUENCIES.values(),
            *crawl_form.SCOPES.values(),
            *crawl_form.LIMITS.values(),
        ),
    )
    yield "reconciling/pages.py", reconciling.SHOWN.values()
    yield "crawling/jobs.py", crawl_jobs.STATES.values()
    yield "crawling/lists.py", (*crawl_lists.HEADINGS.values(), *crawl_lists.MEANINGS)
    yield "crawling/proposals.py", crawl_proposals.DONE.values()
    yield "crawling/proposals.py", crawl_proposals.DECIDED.values()
    yield "silocrawl/proposals.py", (one.sentence for one in Reason)
    yield "crawling/status.py", (*crawl_status.NAMES.values(), *crawl_status.WORDS.values())
    yield "crawling/targets.py", crawl_targets.DONE.values()
    yield "bulk/rule_form.py", HOWS.values()
    yield "pages/any_field.py", (*any_field.LABELS.values(), *any_field.SAID.values())
    yield "usage/asked.py", (*ORDERS.values(), *KINDS_OF_USAGE.values(), *SINGULAR.values())
    for page in (clusters, duplicates, record, search):
        yield f"pages/{page.__name__.rpartition('.')[2]}.py", page.DONE.values()
    yield "recordsilo/records/differences.py", get_args(Change)


def _words_here() -> Iterator[str]:
    """What the page says instead of commands and options."""
    yield from ON_THE_PAGE.values()
    yield from (label for _here, label in OPTIONS.values() if label)


def _navigation() -> Iterator[str]:
    for group in navigation():
        yield group.label
        yield from (entry.label for entry in group.entries)
    for pages in contributed():
        yield from (link.label for link in pages.of_search)
        yield from pages.actions.values()


def _words_of_panels() -> Iterator[str]:
    for panel in contributions(PANELS, Panel):
        yield from (panel.title, *sorted(panel.words))


def _words_of_jobs() -> Iterator[str]:
    yield from (*job_view.STATES.values(), *job_view.ACTIONS.values(), *job_view.TITLES)
    yield from job_view.STEPS
    yield from job_view.COUNT_LABELS.values()
    yield from (*job_view.LIST_COLUMNS.values(), *job_view.FACTS.values())
    for name in kind_names():
        yield from kind_of(name).counts.values()
    for name in begun_by_form():
        yield kind_of(name).begun_label


def _words_of_forms() -> Iterator[str]:
    """The forms of our own kinds, for a Silo of which nothing is known, or only its inputs."""
    yield "Export"
    # Only a Silo that was harvested can be updated.
    yield "Update"
    yield "Harvest what changed at the source since the last complete harvest."
    with TemporaryDirectory() as directory:
        silo = str(Path(directory, "silo"))
        for place in (imports_beside(silo), crawls_beside(silo)):
            Path(place, _INPUT).mkdir(parents=True)
        for name, path in product(begun_by_form(), ("/nowhere", silo)):
            if form := kind_of(name).form(path):
                yield from (form.heading, form.explained, form.group, *(form.see or ())[1:])
                yield from filter(None, (form.note, *_words_of_fields(form)))


_INPUT = "crawl.log"


def _words_of_fields(form: JobForm) -> Iterator[str]:
    for field in form.fields:
        labels = (label for value, label in field.choices if label not in (value, _INPUT))
        yield from (field.label, field.help, *labels)


def _words_of_target(kind: TargetKind) -> Iterator[str]:
    yield from filter(None, (kind.title, kind.heading, kind.hint, kind.explained, kind.missing))
    for field in kind.asked(FieldAvailability.PAGE):
        yield field.label
        yield from filter(None, (field.help, *(label for _value, label in field.choices)))


def _words_of_changes() -> Iterator[str]:
    for kind in KINDS:
        yield kind.label
        for one in kind.inputs:
            yield one.label
            if one.hint:
                yield one.hint


@cache
def _refusals() -> dict[str, HTTPStatus]:
    """Return all errors of the page by name; their first argument is the message."""
    found, left = {}, [WebError]
    while left:
        kind = left.pop()
        found[kind.__name__] = kind.status
        left += kind.__subclasses__()
    return found


def _in_template(source: str) -> Iterator[Message]:
    for match in _ONE.finditer(source):
        yield ast.literal_eval(match[1]), ""
    for match in _TWO.finditer(source):
        yield ast.literal_eval(match[1]), ast.literal_eval(match[2])


def _in_python(source: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [
            one.value
            for one in node.args[:2]
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
        ]
        if texts and (node.func.id in _NAMES or node.func.id in _refusals()):
            yield texts[0], texts[1] if node.func.id == "counted" else ""


def pot() -> str:
    """Return the template's text."""
    return _HEAD + "".join(_entry(*one) for one in messages().items())


def _entry(message: Message, places: list[str]) -> str:
    one, many = message
    kind = "#, python-brace-format\n" if "{" in one else ""
    plural = f"msgid_plural {_quoted(many)}\n" if many else ""
    answer = 'msgstr[0] ""\nmsgstr[1] ""\n' if many else 'msgstr ""\n'
    return f"\n#: {' '.join(places)}\n{kind}msgid {_quoted(one)}\n{plural}{answer}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def updated(language: str, translated: str) -> str:
    """Return a PO file with all texts of the page, in order, and the translations that it had.

    Args:
        language: Its tag.
        translated: Its text.
    """
    old = read_po(io.StringIO(translated), locale=language)
    new = Catalog(language, fuzzy=False)
    new.mime_headers = old.mime_headers  # has the rule of its plurals
    for one, many in messages():
        flags = {"python-brace-format"} if "{" in one else set()
        known = old.get(one)
        text = known.string if known is not None and known.pluralizable == bool(many) else ""
        new.add((one, many) if many else one, text or (("", "") if many else ""), flags=flags)
    written = io.BytesIO()
    write_po(written, new, width=100, omit_header=True)
    head = _HEAD_OF_LANGUAGE.format(language=language, plural=new.plural_forms)
    return f"{head}\n{written.getvalue().decode().strip()}\n"


_HEAD_OF_LANGUAGE = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {plural}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def translations() -> dict[str, Path]:
    """Return the PO file of each language."""
    return {path.parts[-3]: path for path in sorted(ROOM.glob("locale/*/LC_MESSAGES/webui.po"))}


def main() -> None:
    """Print the template, or bring the translations up to date."""
    if sys.argv[1:] != ["update"]:
        sys.stdout.write(pot())
        return
    for language, path in translations().items():
        text = updated(language, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        left = text.count('msgstr ""\n\n') + text.endswith('msgstr ""\n')
        left += text.count('msgstr[0] ""\n')
        sys.stdout.write(f"{path}: {left} texts to be translated\n")


if __name__ == "__main__":
    main()
