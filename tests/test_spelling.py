"""What the spell checker of `make check` reads, and what it leaves out."""

from spelling.texts import of_module, of_page, words_of

PAGE = (
    "Read teh `docks`, or [thme](nothing.md).\n\n```\n$ silo hrvest\n```\n\nThe ende of OAI-PMH.\n"
)
MODULE = '''"""Not read: intrnal."""
import click
@click.command
def one():
    """Halp for people."""
    fail(f"there is no recrod {name!r}; see {f(x)}")
    key = "a_kye"
'''


def found(lines):
    return [(number, list(words_of(line))) for number, line in lines if list(words_of(line))]


def test_the_prose_of_a_page_is_read_without_code_and_addresses():
    assert found(of_page(PAGE)) == [(1, ["Read", "teh", "thme"]), (7, ["The", "ende"])]


def test_sentences_in_literals_and_the_help_of_commands_are_read():
    read = [word for _, words in found(of_module(MODULE)) for word in words]
    assert {"Halp", "recrod"} <= set(read)
    assert "kye" not in read


def test_options_paths_and_names_are_no_words():
    assert list(words_of("--cokumn in a/pth of DSpace's WARCs, x86 and v2")) == ["and"]
