"""The catalogue of texts: complete, sound, and used where there is a translation."""

import gettext
import io
import re
import string
import struct
from pathlib import Path
from typing import Any

import pytest

from webui import texts
from webui.text_catalogue import messages, pot

FOUND = {"base.mako", "search.mako", "lists.mako", "facet.mako", "differences.mako", "source.mako"}


def test_the_template_for_translators_names_every_text_once() -> None:
    printed = re.findall(r'^msgid "(.*)"$', pot(), re.MULTILINE)
    assert len(printed) == len(messages()) + 1  # the head has an empty one
    assert len(printed) > 100


def test_no_template_says_a_text_that_translators_do_not_see() -> None:
    """Texts out of tables are named here; anything else is written where it is said."""
    tables = {"entry.label", "file.difference.change", "found.harvest.state"}
    for path in sorted((Path(texts.__file__).parent / "templates").glob("*.mako")):
        for said in re.findall(r"(?<![\w.])_\(([^\"'][^)]*)\)", path.read_text(encoding="utf-8")):
            if path.name in FOUND:
                assert said in tables, (path.name, said)


def test_texts_are_found_in_templates_handlers_and_tables() -> None:
    found = messages()
    assert "templates/search.mako" in found["Search", ""]
    assert "navigation.py" in found["Search", ""]
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
    monkeypatch.setattr(texts, "_catalogue", lambda: translation)
    assert texts.text("Find") == "Suchen"
    assert texts.text("Of {name}", name="{x}") == "Von {x}"
    assert texts.text("Not translated") == "Not translated"


def _mo(pairs: dict[str, str]) -> Any:
    """A compiled catalogue (GNU gettext, "The Format of GNU MO Files")."""
    table = {"": "Content-Type: text/plain; charset=UTF-8\n", **pairs}
    lines = sorted((k.encode(), v.encode()) for k, v in table.items())
    at = 28 + 16 * len(lines)
    heads: list[list[int]] = [[], []]
    body = b""
    for side in (0, 1):
        for line in lines:
            heads[side] += [len(line[side]), at + len(body)]
            body += line[side] + b"\0"
    start = struct.pack("<7I", 0x950412DE, 0, len(lines), 28, 28 + 8 * len(lines), 0, 0)
    numbers = [*heads[0], *heads[1]]
    return io.BytesIO(start + struct.pack(f"<{len(numbers)}I", *numbers) + body)
