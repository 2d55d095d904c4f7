"""Name the words that neither the dictionary nor our list has; exit code 1 if there are any."""

import sys
from collections.abc import Iterator
from pathlib import Path

from spellchecker import SpellChecker

from spelling.texts import of_module, of_page, words_of

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("words.txt")
PAGES = ("*.md", "docs/*.md", "docs/adr/*.md")


def main() -> None:
    """Check all texts, and that the list is sorted."""
    own = LIST.read_text(encoding="utf-8").split()
    dictionary = SpellChecker(language="en", distance=1)
    wrong: list[str] = []
    needed: set[str] = set()
    for place, word in read():
        if word.lower() not in dictionary:
            needed.add(word.lower())
            if word.lower() not in own:
                wrong.append(f"{place}: {word}")
    if own != sorted(set(own)):
        wrong.append(f"{LIST.name} is not sorted, or names a word twice")
    known = len(needed.intersection(own))
    said = [*wrong, f"spelling: {len(wrong)} findings; {known} words are in {LIST.name} only"]
    if idle := sorted(set(own) - needed):
        said.append(f"{LIST.name} need not have: {', '.join(idle)}")
    sys.stdout.write("\n".join(said) + "\n")
    sys.exit(bool(wrong))


def read() -> Iterator[tuple[str, str]]:
    """Yield each word with its place."""
    for pattern in PAGES:
        for page in sorted(ROOT.glob(pattern)):
            for number, line in of_page(page.read_text(encoding="utf-8")):
                for word in words_of(line):
                    yield f"{page.relative_to(ROOT)}:{number}", word
    for package in sorted(ROOT.glob("*/__init__.py")):
        if package.parent.name == "tests":
            continue
        for module in sorted(package.parent.rglob("*.py")):
            for number, line in of_module(module.read_text(encoding="utf-8")):
                for word in words_of(line):
                    yield f"{module.relative_to(ROOT)}:{number}", word


if __name__ == "__main__":
    main()
