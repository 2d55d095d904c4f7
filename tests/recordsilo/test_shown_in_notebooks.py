"""What notebooks get to show, without a notebook; tests/test_notebook.py executes one."""

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recordsilo import RecordNotFound, Silo
from recordsilo.errors import FileNotInVersion, IndexProblem
from recordsilo.html_tables import Bar, Link, ShownAsTable, lines, named, sentences, table
from recordsilo.notebook import LiveOutput, in_notebook, typed_key
from recordsilo.prompt_errors import PACKAGES, frames_and_sentence
from recordsilo.records.manifest import now_text
from recordsilo.silo_then import SiloThen

Harvest = Callable[..., str]
HOSTILE = "<script>alert('x')</script>\"&"


def test_every_text_is_escaped_and_only_web_addresses_are_linked() -> None:
    links = [Link(HOSTILE, one) for one in ("javascript:alert(1)", f"http://x.example/{HOSTILE}")]
    for html in (
        table([[HOSTILE, *links]], head=[HOSTILE], caption=HOSTILE),
        named([(HOSTILE, HOSTILE)], caption=HOSTILE),
        lines([HOSTILE]),
        sentences([HOSTILE]),
    ):
        assert "<script" not in html
        assert "javascript:" not in html
        assert html.count("<a ") == html.count('href="http://x.example/&lt;') <= 1


def test_long_parts_are_cut() -> None:
    assert len(named([("name", "x" * 10_000)])) < 500
    assert named([("none", None), ("empty", ""), ("zero", 0)]).count("<th") == 1
    assert "… and 800 more lines" in lines(["x"] * 1000)
    assert sentences(["x"] * 21).count("<p>") == 21
    assert '<progress value="3" max="5">' in table([[Bar(3, 5)]])
    assert "<progress></progress>" in table([[Bar(3, None)]])


@dataclass(frozen=True, slots=True)
class Receipt(ShownAsTable):
    whole: bool
    new_records: int
    counts: dict[str, int]
    names: tuple[str, ...] = ()
    seconds: float = 1.25
    inner: "Receipt | None" = field(default=None)


def test_a_receipt_is_a_table_of_its_values() -> None:
    html = Receipt(
        True, 1234, {"a": 1, "b": 0}, ("<x>", "y", "z", "w"), inner=Receipt(False, 0, {})
    )._repr_html_()
    for shown in ("<b>Receipt</b>", ">yes<", ">1,234<", ">a: 1<", "&lt;x&gt;; y; z; and 1 more"):
        assert shown in html
    assert "new records" in html
    assert "seconds: 1.2" in html


def test_a_silo_completes_short_and_full_identifiers(
    tmp_path: Any, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Silo(str(tmp_path / "silo"), identifier_uri_prefix="oai:x:") as silo:
        for name in ("oai:x:1", "oai:x:12", "oai:x:2", "other"):
            harvest(silo, name)
        assert silo.beginning("1", 10) == ["1", "12"]
        assert silo.beginning("", 2) == ["1", "12"]
        assert silo.beginning("o", 10) == ["oai:x:1", "oai:x:12", "oai:x:2", "other"]
        assert silo.beginning("zz", 10) == []
        assert silo._ipython_key_completions_() == ["1", "12", "2"]
        monkeypatch.setattr("recordsilo.listing.typed_key", lambda: "oai:x:1")
        assert silo._ipython_key_completions_() == ["oai:x:1", "oai:x:12"]

        def busy(**_how: object) -> None:
            raise IndexProblem("index", "busy")

        monkeypatch.setattr(silo, "page", busy)
        assert silo._ipython_key_completions_() == []
        with pytest.raises(RecordNotFound, match=r"has no record '3'$"):
            silo["3"]


def test_a_mistyped_identifier_names_the_nearest_only_if_somebody_asks(
    tmp_path: Any, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Silo(str(tmp_path / "silo"), identifier_uri_prefix="oai:x:") as silo:
        for number in range(105, 115):
            harvest(silo, f"oai:x:{number}")
        with pytest.raises(RecordNotFound, match=r"did you mean '110' or '111'\?$"):
            silo["11"]
        with pytest.raises(RecordNotFound, match=r"did you mean 'oai:x:110' or"):
            silo["oai:x:11"]
        monkeypatch.setattr(silo, "page", None)
        assert silo.get("11") is None
        with pytest.raises(RecordNotFound) as missed:
            silo["11"]
        assert missed.value.identifier == "11"


def test_a_wrong_file_names_those_that_there_are(silo: Silo, harvest: Harvest) -> None:
    record = silo[harvest(silo, "one")]
    told = r"has no file 'oai_cd'; it has oai_dc; did you mean 'oai_dc'\?$"
    with pytest.raises(FileNotInVersion, match=told):
        record.get_stream("oai_cd")
    record.clone_version("1", "mine")
    with pytest.raises(FileNotInVersion, match=told):
        record.del_stream("oai_cd")


def test_all_packages_of_ours_are_known() -> None:
    table = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    found = table["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {one.removesuffix("*") for one in found} == PACKAGES


def test_an_error_shows_the_lines_of_the_user(silo: Silo) -> None:
    with pytest.raises(RecordNotFound) as told:
        silo["nope"]
    short = told.value._render_traceback_()
    assert short == frames_and_sentence(told.value)
    assert "test_shown_in_notebooks.py" in short[0]
    assert len(short) == 2
    assert short[-1].startswith("RecordNotFound: the Silo ")


def test_a_silo_and_a_record_are_tables(silo: Silo, harvest: Harvest) -> None:
    record = silo[harvest(silo, "one", title=HOSTILE[:-1].replace("<", "&lt;"))]
    assert "<th" in str(silo._repr_html_())
    html = record._repr_html_()
    assert "<script" not in html
    assert "alert(&#x27;x&#x27;)" in html
    assert record._ipython_key_completions_() == record.keys()
    assert "<table>" in silo.get_item("new")._repr_html_()
    with SiloThen(silo.path, now_text()) as then:
        assert then._repr_html_() is None


def test_outside_of_a_notebook_nothing_is_asked_of_ipython(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert (in_notebook(), typed_key()) == (False, "")
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert (in_notebook(), typed_key()) == (False, "")


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ('silo["oai:x', "oai:x"), ("x = silo[ 'a b", "a b"), ("silo[", ""), ('silo["a"]', ""),
        ("f('a', silo[r'b", "b"), ("", ""),
    ],
)  # fmt: skip
def test_what_is_typed_of_a_key(typed: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(Completer=SimpleNamespace(text_until_cursor=typed), kernel=1)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert typed_key() == key
    assert in_notebook()


def test_an_output_is_replaced_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda bundle, raw: shown.append(bundle["text/plain"]))

    def display(bundle: dict[str, str], *, raw: bool, display_id: bool) -> object:
        assert raw
        assert display_id
        shown.append(bundle["text/html"])
        return handle

    module = SimpleNamespace(display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", module)
    times = iter([0.0, 0.1, 0.3, 0.35])
    output = LiveOutput(lambda: next(times))
    output.show("<1>", "1")
    output.show("<2>", "2")
    output.show("<3>", "3")
    output.show("<4>", "4", last=True)
    assert shown == ["<1>", "3", "4"]
