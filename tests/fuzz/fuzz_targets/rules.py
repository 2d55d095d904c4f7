"""Rule files, and the effects of their rules on fields."""

import os
import re
from collections.abc import Hashable, Iterable

from fuzzing.target import Target

from silocuration.editing.changes import CannotChange
from silocuration.editing.fields import Fields, read_fields, write_fields
from silocuration.editing.rule_files import (
    from_table,
    load_rules,
    rules_directory,
    rules_text,
    save_rules,
    to_table,
)
from silocuration.editing.rules import apply
from silocuration.errors import CurationError, NoFields, RuleRefused

DC = b"""<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title xml:lang="en">the  Tides</dc:title>
<dc:subject>Physics</dc:subject><dc:subject>physics; tides</dc:subject><dc:type>Article</dc:type>
<dc:description>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!</dc:description>
</oai_dc:dc>"""
_SOUND = """title = "Tidy"
keep = true
state = "ready"
file = "oai_dc"
[select]
query = "tides OR physics"
[select.filters]
type = ["article"]
[[change]]
do = "replace pattern"
field = "title"
pattern = '^(\\w+)\\s+(?<rest>.*)'
by = '\\2 \\1 \\g<rest>'
ignore_case = true
[[change]]
do = "split"
field = "subject"
separator = ";"
[[change]]
do = "map"
field = "type"
table = { Article = "article", Other = "" }
[[change]]
do = "language"
field = "subject"
lang = "en"
only = ""
[[change]]
do = "case"
field = "title"
case = "sentence"
[[change]]
do = "trim"
field = "title"
characters = ".,;"
[[change]]
do = "remove"
field = "subject"
pattern = "tid"
[[change]]
do = "add"
field = "type"
value = "Preprint"
[[change]]
do = "set"
field = "rights"
values = ["open", "cc"]
[[change]]
do = "move"
field = "type"
to = "format"
[[change]]
do = "replace"
field = "title"
value = "a"
by = "b"
"""
_WORD = re.compile(r'^\w+|"[^"]*"|\[\[?[^\]]*\]\]?', re.MULTILINE)


class Rules(Target):
    promise = (
        "A rule file is read or refused in a sentence; what was read is the same after saving "
        "and reading; its rules change fields or say why not, within seconds and little memory."
    )
    words = (
        *(word.encode() for word in _WORD.findall(_SOUND)),
        b"[]", b"{}", b"[[", b"(a|aa)+$", b"(?:x{100}){100}", b"{1,99999}", b"(?i)", b"\\1",
        b"\\g<rest>", b"\\p{L}", b"(?R)", b"(?(1)a|b)", b"[[a-z]--[b]]", b"{e<=3}", b'"\\u0000"',
        b'"\\U0010FFFF"', b'"\\uFFFF"', b'"xml:lang"', b'"dc:title"', b'"a b"', b"true", b"1e400",
        b"1979-05-27", b'"""', b"'''", b"#", b"inf",
    )  # fmt: skip
    largest = 8_192
    seconds = 5.0

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        os.makedirs(rules_directory(scratch))
        self._path = os.path.join(rules_directory(scratch), "a.toml")
        self._fields = read_fields(DC)

    def seeds(self) -> Iterable[bytes]:
        head, *changes = _SOUND.split("[[change]]")
        return [_SOUND.encode(), *(f"{head}[[change]]{one}".encode() for one in changes)]

    def check(self, data: bytes) -> Hashable:
        with open(self._path, "wb") as file:
            file.write(data)
        rules_text(self.scratch, "a")
        try:
            rule_set = load_rules(self.scratch, "a")
        except RuleRefused as error:
            return re.sub(r"\d+|'[^']*'|\"[^\"]*\"", "", str(error))[-40:]
        assert from_table(to_table(rule_set)) == rule_set
        save_rules(self.scratch, "b", rule_set)
        assert load_rules(self.scratch, "b") == rule_set
        try:
            after = apply(rule_set.rules, self._fields)
            written = write_fields(DC, after)
        except (CurationError, CannotChange, NoFields) as error:
            return type(error), str(error)[-12:]
        _check_written(written, after)
        return tuple(type(rule) for rule in rule_set.rules)


def _check_written(written: bytes, after: Fields) -> None:
    """What was written says what was meant, but for blanks that mean nothing."""
    found = [(one.name, one.folded, one.lang) for one in read_fields(written)]
    meant = [(one.name, one.folded, one.lang) for one in after]
    assert sorted(found) == sorted(meant)
