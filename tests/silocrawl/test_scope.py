"""Which addresses belong to a target."""

import pytest

from silocrawl.errors import TargetRefused
from silocrawl.scope import Scope, ScopeKind, is_trap, looks_like_document, without_session

SEED = "https://www.example.org/a/b/index.html"


@pytest.mark.parametrize(
    ("kind", "belongs", "others"),
    [
        (
            ScopeKind.PAGE,
            [SEED, SEED + "#part", SEED + "?sid=12"],
            ["https://www.example.org/a/b/"],
        ),
        (
            ScopeKind.PATH,
            ["http://example.org/a/b/c"],
            ["https://www.example.org/a/", "https://a.b/"],
        ),
        (ScopeKind.ROOT, ["https://www.example.org/"], ["https://sub.example.org/a/b/"]),
        (
            ScopeKind.SUBDOMAINS,
            ["https://example.org/", "http://a.b.example.org/x"],
            ["https://notexample.org/", "https://example.com/"],
        ),
    ],
)
def test_a_scope_has_what_belongs_to_its_seed(
    kind: ScopeKind, belongs: list[str], others: list[str]
) -> None:
    scope = Scope(kind)
    assert all(scope.has(SEED, one) for one in belongs)
    assert not any(scope.has(SEED, one) for one in others)


def test_documents_are_accepted_by_their_name_or_by_what_the_page_says() -> None:
    scope = Scope(ScopeKind.DOCUMENTS)
    assert scope.judged(SEED, "https://cdn.example.net/paper.PDF?x=1")[0]
    assert scope.judged(SEED, "https://cdn.example.net/download/12", is_document=True)[0]
    assert not scope.judged(SEED, "https://cdn.example.net/download/12")[0]
    assert not Scope(ScopeKind.PAGE).judged(SEED, "https://cdn.example.net/paper.pdf")[0]


def test_plus_one_accepts_everything_but_what_is_ignored_and_traps() -> None:
    scope = Scope(ScopeKind.PAGE, plus_one=True, ignore=("*/calendar/*", "*.zip"))
    assert scope.judged(SEED, "https://other.example/")[0]
    assert not scope.judged(SEED, "https://other.example/calendar/2026-01")[0]
    assert not scope.judged(SEED, "https://other.example/a.zip")[0]
    assert not scope.judged(SEED, "https://other.example/a/b/a/b/a/b/")[0]


@pytest.mark.parametrize(
    ("url", "trap"),
    [
        ("https://a.example/x/y/z", False),
        ("https://a.example/x/x/", False),
        ("https://a.example/x/x/x/", True),
        ("https://a.example/n/a/b/a/b/a/b", True),
        ("https://a.example/" + "/".join(map(str, range(30))), True),
        ("https://a.example/" + "q" * 3000, True),
    ],
)
def test_paths_that_repeat_or_never_end_are_traps(url: str, trap: bool) -> None:
    assert is_trap(url) is trap


@pytest.mark.parametrize(
    ("url", "told_apart"),
    [
        ("http://a.example/x;jsessionid=9F?y=1#z", "http://a.example/x?y=1"),
        ("http://a.example/x?PHPSESSID=12&y=1", "http://a.example/x?y=1"),
        ("http://a.example/x?y=1&sid=12", "http://a.example/x?y=1"),
        ("http://a.example/x?side=12", "http://a.example/x?side=12"),
    ],
)
def test_the_id_of_a_session_does_not_tell_pages_apart(url: str, told_apart: str) -> None:
    assert without_session(url) == told_apart


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(TargetRefused, match="at most 100"):
        Scope(ignore=("a",) * 101)
    assert looks_like_document("http://a.example/b.ps.gz")
    assert looks_like_document("http://a.example/b.pdf;jsessionid=0A1B?x=y")
