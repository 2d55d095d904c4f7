"""The documentation on the page."""

from typing import Any

from recordsilo.documentation import pages
from webui.words.manual import Piece, blocks, pieces


def test_words_of_a_line_have_their_kinds() -> None:
    assert pieces(
        "See `silo` in [a *page*](search.md#words), **not** [it](https://x.example/)."
    ) == (
        Piece("text", "See "),
        Piece("code", "silo"),
        Piece("text", " in "),
        Piece("link", "a *page*", "search", "words"),
        Piece("text", ", "),
        Piece("strong", "not"),
        Piece("text", " "),
        Piece("text", "it"),
        Piece("text", "."),
    )


def test_a_page_is_divided_into_blocks() -> None:
    text = "# Title\n\nOne\nline\n\n* a\n* b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n"
    text += "```\n# no\n```\n## Next, it\n"
    found = list(blocks(text))
    assert [one.kind for one in found] == ["h1", "p", "ul", "table", "pre", "h2"]
    assert len(found[2].rows) == 2
    assert [row[0][0].text for row in found[3].rows] == ["x", "1"]
    assert (found[4].text, found[5].text) == ("# no\n", "next-it")


def test_items_below_items_are_told_and_pictures_are_left_out() -> None:
    text = (
        "![A picture](images/1-find.png)\n\n* [Cookbook](cookbook.md): all\n  * [Find](a.md): x\n"
    )
    (only,) = blocks(text)
    assert (only.kind, only.text) == ("ul", "01")
    assert pieces("a ![b](c.png) d") == (Piece("text", "a "), Piece("text", " d"))


def test_the_language_of_the_help_is_told_to_others(client: Any) -> None:
    said = "Die Dokumentation ist auf Englisch."
    assert said in client.get("/help", headers={"Accept-Language": "de"}).text
    page = client.get("/help").text
    assert "is in English" not in page
    assert "<li class=under-it><a" in page
    assert "histogram of years" not in page


def test_every_link_of_the_help_leads_to_a_page(client: Any) -> None:
    known = pages()
    for topic, page in known.items():
        for block in blocks(page.read_text("utf-8")):
            for piece in (piece for row in block.rows for cell in row for piece in cell):
                assert not piece.topic or piece.topic in known, (topic, piece)
    assert client.get("/help/search").text.count("<table>")
    assert client.get("/help/../secret").status == 404
    assert client.get("/help/nothing").status == 404
