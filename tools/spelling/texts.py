"""What people read, taken out of pages and of Python files, line by line. Pure."""

import re
from collections.abc import Iterator

Line = tuple[int, str]
"""The number of a line, and what is to be read in it."""

_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``[^`]+``|`[^`\n]+`|\]\([^)]*\)|https?://\S+|<[^>\s]+>")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_PLACEHOLDER = re.compile(r"\{[^{}]*\}|%\([a-z_]+\)[a-z]|\\.|\bf(?=')")
_SENTENCE = re.compile(r"[^\W\d_]{2,} [a-z]+ [a-z]+")
"""Three words in a row: a literal that has them is read by people."""
_NOT_A_WORD = re.compile(r"\S*[\w.][/_=@\\|$+~^.:][\w/*]\S*|\S*\d\S*|(?<!\S)[-%.$/]\S+")
"""What is written together with signs: a path, an option, a name in the code."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def of_page(page: str) -> Iterator[Line]:
    """Yield the lines of a page of Markdown, without code and addresses."""
    yield from _lines(_CODE.sub(" ", _blanked(_BLOCK, page)))


def of_module(source: str) -> Iterator[Line]:
    """Yield the sentences in the literals of a Python file, and the help of its commands."""
    if "@click" in source or "click.command" in source:
        for docstring in _DOCSTRING.finditer(source):
            first = source.count("\n", 0, docstring.start())
            for number, line in _lines(_CODE.sub(" ", docstring[1])):
                yield first + number, line
    for number, line in _lines(_blanked(_DOCSTRING, source)):
        for literal in _LITERAL.findall(line):
            said = _PLACEHOLDER.sub(" ", _CODE.sub(" ", literal))
            if _SENTENCE.search(said) and "SELECT" not in said:
                yield number, said


def words_of(line: str) -> Iterator[str]:
    """Yield the words of a line; no names of the kind of OAI, DSpace or iPhone."""
    for word in _WORD.findall(_NOT_A_WORD.sub(" ", line)):
        stem = re.sub(r"['’]s?$", "", word.replace("’", "'"))
        if len(stem) > 2 and stem[1:].islower():
            yield stem


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with what matches left out, and as many lines as before."""
    return pattern.sub(lambda found: "\n" * found[0].count("\n"), text)


def _lines(text: str) -> Iterator[Line]:
    yield from enumerate(text.split("\n"), start=1)
