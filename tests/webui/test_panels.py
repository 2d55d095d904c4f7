"""Panels that packages contribute to the page of a record."""

import html
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.extras import PackageMissing
from recordsilo.panels import GROUP, Cell, Chart, Panel, PanelPicture, PanelView, Table

URL = "/records/oai+example,org+1"
ATTACK = "<script>alert(1)</script>"
Contribute = Callable[[str, str, Any], None]


def test_a_panel_is_shown_with_everything_escaped(client: Any, contribute: Contribute) -> None:
    def show(_silo: Silo, identifier: str, language: str) -> PanelView:
        assert (identifier, language) == ("oai:example.org:1", "en")
        return PanelView(
            note=ATTACK,
            rows=((ATTACK, Cell(ATTACK, "javascript:alert(1)")),),
            links=(Cell("there", "https://example.org/?a=1&b=2"),),
            table=Table((ATTACK,), ((Cell(ATTACK),),)),
            charts=(Chart(ATTACK, ATTACK, (ATTACK,), ((ATTACK, (3.0,)),)),),
        )

    contribute(GROUP, "made-up", Panel("made-up", "Made up", 5, show))
    text = client.get(URL).text
    section = text[text.index('<section aria-labelledby="panel-made-up">') :]
    section = section[: section.index("</section>")]
    assert "<script>" not in section
    assert "javascript:" not in section
    assert section.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 17
    assert 'href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer"' in section


def test_panels_come_in_their_order_and_one_that_raises_is_left_out(
    client: Any, contribute: Contribute, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_silo: Silo, _identifier: str, _language: str) -> PanelView:
        raise OSError("the ledger is gone")

    contribute(GROUP, "second", Panel("second", "Second", 2, lambda *_: PanelView("x")))
    contribute(GROUP, "first", Panel("first", "First", 1, lambda *_: PanelView("x")))
    contribute(GROUP, "fails", Panel("fails", "Fails", 0, fails))
    contribute(GROUP, "nothing", Panel("nothing", "Nothing", 0, lambda *_: None))
    contribute(GROUP, "broken", "no panel")
    with caplog.at_level(logging.WARNING):
        text = client.get(URL).text
    assert text.index("panel-first") < text.index("panel-second")
    assert not any(f"panel-{name}" in text for name in ("fails", "nothing", "broken"))
    assert "the panel fails of oai:example.org:1 failed" in caplog.text
    assert "is not a Panel" in caplog.text


def test_a_panel_has_charts_with_their_tables_and_links_to_pages_of_the_page(
    client: Any, contribute: Contribute
) -> None:
    bars = (("May", (2.0, 1.0)), (ATTACK, (4.0, 0.0)))
    view = PanelView(
        figures=(("Stars in all", 12345),),
        charts=(
            Chart("Stars by month", "Month", ("Given", "Taken"), bars),
            Chart("Stars by day", "Day", ("Given",), bars, is_small=True),
        ),
        links=(Cell("ours", "/search?q=x"), Cell("theirs", "//evil.example/"), Cell("s", "/\\e.x")),
    )
    contribute(GROUP, "made-up", Panel("made-up", "Made up", 5, lambda *_: view))
    text = client.get(URL).text
    section = text[text.index('<section aria-labelledby="panel-made-up">') :]
    section = section[: section.index("</section>")]
    assert "<dt>Stars in all</dt><dd>12,345</dd>" in section
    assert section.count("<svg") >= 2
    assert re.findall(r"<t[hd][^>]*>([^<]+)<", section)[:6] == [
        "Month", "Given", "Taken", "May", "2", "1",
    ]  # fmt: skip
    assert "<script>" not in section
    assert 'href="/search?q=x"' in section
    assert "evil" not in section
    assert "e.x" not in section


def test_a_panel_has_pictures_of_the_page_alone(client: Any, contribute: Contribute) -> None:
    ours, theirs = "/records/x/versions/1/picture/a.pdf?page=1&width=240", "https://evil.example/"
    view = PanelView(
        pictures=tuple(
            PanelPicture(small, whole, f"A {ATTACK}", (Cell(ATTACK, "javascript:alert(1)"),))
            for small, whole in ((ours, ours), (theirs, ours), (ours, theirs), (ours, "//evil.x"))
        )
    )
    contribute(GROUP, "made-up", Panel("made-up", "Made up", 5, lambda *_: view))
    text = client.get(URL).text
    section = text[text.index('<section aria-labelledby="panel-made-up">') :]
    section = section[: section.index("</section>")]
    assert section.count("<img") == 1
    assert f'src="{html.escape(ours)}"' in section
    assert "evil" not in section
    assert "<script>" not in section
    assert 'href="javascript' not in section


def test_the_words_of_a_table_are_translated_and_its_data_are_not(
    client: Any, contribute: Contribute
) -> None:
    view = PanelView(
        "Crawl a, matched 2026-01-02.",
        table=Table(
            ("Outcome", "Link"),
            ((Cell("page not found"), Cell("Records")), (Cell("2026-03-01 02:30"), Cell("2026"))),
        ),
    )
    words = frozenset({"Outcome", "page not found"})
    contribute(GROUP, "made-up", Panel("made-up", "Made up", 5, lambda *_: view, words))
    text = client.get(URL, headers={"Accept-Language": "de"}).text
    section = text[text.index('<section aria-labelledby="panel-made-up">') :]
    section = section[: section.index("</section>")]
    assert "Crawl a, abgeglichen am 02.01.2026." in section
    assert '<th scope="col">Ergebnis</th>' in section
    assert ">Seite nicht gefunden<" in section
    assert ">Records<" in section
    assert ">01.03.2026, 02:30 UTC<" in section
    assert ">2026<" in section


def test_a_panel_whose_package_is_not_installed_is_one_line_of_the_log(
    client: Any, contribute: Contribute, caplog: pytest.LogCaptureFixture
) -> None:
    def lacks(_silo: Silo, _identifier: str, _language: str) -> PanelView:
        raise PackageMissing("The panel", "surt", "crawl")

    contribute(GROUP, "lacks", Panel("lacks", "Lacks", 0, lacks))
    assert client.get(URL).status == 200
    assert "the panel lacks of oai:example.org:1 failed: The panel needs the package surt" in (
        caplog.text
    )
    assert "Traceback" not in caplog.text
