"""The forms of an address, compared with those of Heritrix 3.4.0."""

import contextlib
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_truth import UFFFD

from crawlmatch.errors import BadAddress
from crawlmatch.uris import (
    heritrix_form,
    host_of,
    is_plain,
    redirect_target,
    replaced_form,
    whatwg_form,
)

RECORDED = Path(__file__).parent / "data" / "heritrix_forms.tsv"
"""Address, TAB, ``=`` and the form that `UsableURIFactory` 1.1.8 gives, or ``!``: refused.

A character that would end the line or the field stands as U+241B and four hex digits.
"""


def recorded() -> list[tuple[str, str | None]]:
    def text(escaped: str) -> str:
        return re.sub("\u241b(....)", lambda match: chr(int(match[1], 16)), escaped)

    with RECORDED.open(encoding="utf-8", newline="\n") as file:
        rows = [line.rstrip("\n").rpartition("\t") for line in file]
    return [(text(given), form[1:] if form[0] == "=" else None) for given, _, form in rows]


def form_or_none(address: str) -> str | None:
    try:
        return heritrix_form(address)
    except BadAddress:
        return None


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("http://a.example/\u0417\u041e-1.pdf", f"http://a.example/{4 * UFFFD}-1.pdf"),
        ("http://a.example/?f=A\xa0case.pdf", f"http://a.example/?f=A{2 * UFFFD}case.pdf"),
        ("HTTP://A.Example:80/\xf6/../\xe4#\xe4", f"http://a.example/{2 * UFFFD}"),
        ("http://a.example/gr%C3%b6.pdf", f"http://a.example/gr{2 * UFFFD}.pdf"),
        ("http://a.example/gr\ufffd\xe4.pdf", f"http://a.example/gr{3 * UFFFD}.pdf"),
        (f"http://a.example/{UFFFD}%80", f"http://a.example/{2 * UFFFD}"),
        ("http://b\xfccher.example/\xe4", f"http://xn--bcher-kva.example/{2 * UFFFD}"),
        ("http://b\xfccher.example/", ""),
        ("http://a.example/%41 .pdf", ""),
        ("http://a.example/x\xa0", ""),
        ("mailto:\xe4", ""),
        ("\xe4", ""),
        ("", ""),
    ],
)
def test_bytes_that_a_crawler_could_not_read(given: str, form: str) -> None:
    assert replaced_form(given) == form


def test_forms_are_those_of_heritrix() -> None:
    rows = recorded()
    assert len(rows) > 1500
    wrong = [(one, want, form_or_none(one)) for one, want in rows if form_or_none(one) != want]
    assert wrong == []


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ("http://host", "http://host/"),
        ("http://HOST.Example:/x", "http://host.example/x"),
        ("http://host:0080/x", "http://host/x"),
        ("https://host:443/x", "https://host/x"),
        ("http://host/a b[1].pdf", "http://host/a%20b%5B1%5D.pdf"),
        ("http://host/A%20case.pdf?q=[x]", "http://host/A%20case.pdf?q=[x]"),
        ("http://host/a&b=c@d*e'f|g;jsessionid=1", "http://host/a&b=c@d*e'f|g;jsessionid=1"),
        ("http://münchen.de/ü", "http://xn--mnchen-3ya.de/%C3%BC"),
        ("http://host/caf\ufffd.pdf", "http://host/caf%EF%BF%BD.pdf"),
        ("http://host/a/./b/../c#page=2", "http://host/a/c"),
        ("http:///host\\x?y\\z", "http://host/x?y%5Cz"),
        (" http://host/\u00a0x\t\n", "http://host/%20x"),
    ],
)
def test_cases_of_the_field(given: str, form: str) -> None:
    assert heritrix_form(given) == form


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("http://host:8080papers/x", "8080papers"),
        ("http://host:70000/", "70000"),
        ("https://doi.org:10.1/x", "10.1"),
        ("mailto:a@example.org", "mailto"),
        ("doi:10.1000/1", "doi"),
        ("http://", "no host"),
        ("http:/host/x", "no host"),
        ("10.1000/1", "no scheme"),
        ("http://a..b/", "a..b"),
        ("http://h/" + "a" * 2083, "2,083"),
    ],
)
def test_what_no_crawler_fetches_is_refused_and_named(given: str, named: str) -> None:
    with pytest.raises(BadAddress, match=re.escape(named)):
        heritrix_form(given)


@given(st.text(max_size=60).map(lambda text: "http://host/" + text))
def test_a_form_is_its_own_form(address: str) -> None:
    form = heritrix_form(address)
    assert heritrix_form(form) == form
    assert form.isascii()


@given(st.text())
def test_any_text_has_a_form_or_is_refused(text: str) -> None:
    for form in (heritrix_form, whatwg_form):
        with contextlib.suppress(BadAddress):
            assert "://" in form(text)


@given(st.text(alphabet="abC9./-~_%&=?;:@é[]'|\\", max_size=30))
def test_a_plain_address_is_its_own_form(text: str) -> None:
    address = f"http://h.org/{text}"
    if is_plain(address):
        assert heritrix_form(address) == whatwg_form(address) == address


def test_a_host_name_of_many_labels_is_judged_at_once() -> None:
    with pytest.raises(BadAddress):
        heritrix_form(f"http://{'a' * 1000}!/")


def test_whatwg_form_leaves_brackets_and_escapes_what_browsers_escape() -> None:
    assert whatwg_form("HTTP://Host:80/a b[1]{x}.pdf#f") == "http://host/a%20b[1]%7Bx%7D.pdf"


def test_redirects_are_resolved_against_their_page() -> None:
    assert redirect_target("http://h/a/b", "../c d") == "http://h/c%20d"
    assert redirect_target("http://h/a", "//Other/x") == "http://other/x"
    assert redirect_target("http://h/a", "mailto:x@y") is None
    assert redirect_target("http://h/a", "http://[") is None


@given(
    st.sampled_from(["http://h/a", "http://h[/a", "http://h]/", "http://h\u2100.org/", "", "x:y"]),
    st.from_regex(
        r"(?i:https?):/{1,3}([a-z0-9.-]{1,4}){1,2}(:80)?[/;?#=.\[\]%a|~ {]{0,8}", fullmatch=True
    ),
)
def test_most_targets_are_the_same_without_being_resolved(page: str, location: str) -> None:
    try:
        slowly = heritrix_form(urljoin(page, location.strip()))
    except ValueError:
        slowly = None
    assert redirect_target(page, location) == slowly


def test_hosts() -> None:
    assert host_of("http://u:p@host.example:8080/x:y@z") == "host.example"
    assert host_of("ftp://host") == "host"
