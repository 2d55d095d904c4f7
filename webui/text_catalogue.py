"""The texts of the page as a gettext template, to be translated.

    python -m webui.text_catalogue > webui.pot

A text is what stands in ``_("…")`` or ``counted("…", "…", n)``, in templates and in
handlers, and what the tables of labels hold.

Source: GNU gettext, "The Format of PO Files".
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from recordsilo.description.quality import CODES
from webui.navigation import NAVIGATION
from webui.search_request import FACET_LABELS, SORT_LABELS

ROOM = Path(__file__).parent
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
    """Every text, in order, with the files it is in."""
    found: dict[Message, list[str]] = {}
    for path in sorted((*ROOM.rglob("*.mako"), *ROOM.rglob("*.py"))):
        read = _in_template if path.suffix == ".mako" else _in_python
        for message in read(path.read_text(encoding="utf-8")):
            _note(found, message, path.relative_to(ROOM).as_posix())
    for place, texts in _tables():
        for text in texts:
            _note(found, (text, ""), place)
    return dict(sorted(found.items()))


def _note(found: dict[Message, list[str]], message: Message, place: str) -> None:
    places = found.setdefault(message, [])
    if place not in places:
        places.append(place)


def _tables() -> Iterator[tuple[str, Iterable[str]]]:
    yield "navigation.py", (entry.label for entry in NAVIGATION)
    yield "search_request.py", (*FACET_LABELS.values(), *SORT_LABELS.values())
    yield "pages/source.py", ("whole", "losses", "open")
    yield "recordsilo/description/quality.py", CODES.values()


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
        if node.func.id in _NAMES and texts:
            yield texts[0], texts[1] if node.func.id == "counted" else ""


def pot() -> str:
    """The template's text."""
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


def main() -> None:
    """Print the template."""
    sys.stdout.write(pot())


if __name__ == "__main__":
    main()
