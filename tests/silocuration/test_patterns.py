"""Users' patterns: malformed, huge and slow ones give an error and use no memory."""

import contextlib
import resource
import time

import pytest
import regex
from examples import family
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recordsilo import patterns
from silocuration.editing.patterns import check_replacement, compiled, finds, replaced
from silocuration.errors import CurationError, PatternTooSlow, RuleRefused, TooMuch

MIB = 1 << 20


def peak(of: int = resource.RUSAGE_SELF) -> int:
    """The most memory a process has had, in bytes."""
    return resource.getrusage(of).ru_maxrss << 10


EXPLOSIVE = [
    "(?:(?:(?:(?:x{100}){100}){100}){100}){100}",
    "(?:(?:(?:x{100}){100}){100}){30}",
    "(?<=(?:(?:(?:x{100}){100}){100}){100})",
    "(?:(?:(?:x{99}){99}){99}){e<=2}",
    "(?V1)(?:(?:(?i:x{100}){100}){100}){100,}",
    "(?r)(?:(?:(?:[ab]{,100}){,100}){100}){100}",
    "(?:(?:(?:(x)(?1){100}){100}){100}){100}",
    "x{20000}",
]


@pytest.mark.long
@pytest.mark.parametrize("pattern", EXPLOSIVE)
def test_a_pattern_that_compiles_into_very_much_is_refused_and_takes_no_memory(
    pattern: str,
) -> None:
    before = peak()
    with pytest.raises(RuleRefused, match="use smaller counts"):
        compiled(pattern)
    assert peak() - before < 16 * MIB
    children = peak(resource.RUSAGE_CHILDREN)  # that of a child begins with its parent's
    assert children < before + 128 * MIB


@pytest.mark.parametrize(
    "pattern",
    [
        "x{10000}",
        "(?:x{100}){100}",
        r"^(\p{Lu}\p{L}+), (\p{Lu})\.(?: (\p{Lu})\.){0,5}$",
        "|".join(f"word{n}" for n in range(1000)),
        r"(?<year>(?:19|20)\d{2})(?:-\d{2}){0,2}",
        "(?:colour){e<=1}",
    ],
)
def test_patterns_as_curators_write_them_compile(pattern: str) -> None:
    assert compiled(pattern).__sizeof__() <= patterns.MAX_COMPILED


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("(", r"'\(' is not a valid pattern: missing \)"),
        ("(" * 5000, "is not a valid pattern"),
        ("(?L)(?a)x", "mutually incompatible"),
        (r"\L<names>", "undefined named list"),
        ("x{99999999999999999999}", "repeat count too big"),
        ("x" * 10_001, "has 10,001 characters; shorten it to 10,000 at most"),
    ],
)
def test_a_malformed_pattern_is_a_sentence(pattern: str, sentence: str) -> None:
    with pytest.raises(RuleRefused, match=sentence):
        compiled(pattern)


pieces = st.sampled_from([
    *"abß.^$()[]{}*+?|\\<>=!:-&~#,019", "(?", "(?<n>", "\\L<", "\\p{", "\\N{", "{e<=", "(?(1)",
    "(?&n)", "(?R)", "(?|", "(?>", "\\X", "(*FAIL)", "--", "&&", "[[:alpha:]", "(?V1)", "(?r)",
    "(?b)", "(?x)", "{1,3}", "\\8", "\\x", "(?(DEFINE)", "\ud800", "\0", "(?L)", "(?a)",
])  # fmt: skip
made_up = st.lists(pieces, max_size=12).map("".join)


@given(made_up, made_up, st.text(max_size=20))
@example("(?R)", "", "a")
@settings(deadline=None)
def test_any_pattern_and_replacement_work_or_are_refused(pattern: str, by: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "_is_small", lambda *_: True)  # no process for each
        try:
            sound = compiled(pattern)
            check_replacement(sound, by)
            finds(pattern, text)
            assert len(replaced(sound, by, text, 100)) <= 100
        except CurationError:
            pass


@pytest.mark.parametrize(
    ("pattern", "by"),
    [("(a)|b", r"\2"), ("a", r"\g<year>"), ("a", "\\"), ("a", r"\q"), ("a", r"\N{nothing}")],
)
def test_a_replacement_without_its_group_is_refused(pattern: str, by: str) -> None:
    with pytest.raises(RuleRefused, match="is not a valid replacement"):
        check_replacement(compiled(pattern), by)


@pytest.mark.parametrize("pattern", [r"(?x) (?<first>\w+)  # a name", r"(?<first>\w+)|(x)"])
def test_a_pattern_with_a_comment_or_a_choice_takes_a_replacement(pattern: str) -> None:
    sound = compiled(pattern)
    check_replacement(sound, r"<\1\g<first>>")
    assert replaced(sound, r"<\1\g<first>>", "ab", 100) == "<abab>"


@given(st.text("ab\\1g<>", max_size=8), st.text("abc", max_size=12))
def test_replacing_is_what_the_engine_does(by: str, text: str) -> None:
    sound = compiled("(a+)|b")
    try:
        check_replacement(sound, by)
    except RuleRefused:
        with pytest.raises((regex.error, IndexError)):
            sound.sub(by, "ab")
        return
    assert replaced(sound, by, text, 10_000) == sound.sub(by, text)


@pytest.mark.parametrize(
    ("pattern", "by", "text"),
    [
        (".", "x" * 20_000, "abcdef"),
        (".", "x" * 200_000, "a"),
        ("(.*)", r"\1" * 5000, "a" * 100_000),
        ("", "ab", "x" * 99_999),
    ],
)
def test_a_result_that_is_too_long_is_refused_before_it_is_made(
    pattern: str, by: str, text: str
) -> None:
    before = peak()
    with pytest.raises(TooMuch, match="more than 100,000 characters"):
        replaced(compiled(pattern), by, text, 100_000)
    assert peak() - before < 64 * MIB


@pytest.mark.long
@pytest.mark.parametrize("pattern", [r"^(a|aa)+$", "(?R)", "a*a*a*a*a*(?:b|c)"])
def test_a_search_without_end_is_stopped(pattern: str) -> None:
    before = peak()
    with pytest.raises(PatternTooSlow, match="takes too long"):
        finds(pattern, "a" * 5000 + "!")
    assert peak() - before < 512 * MIB


@pytest.mark.long
@pytest.mark.parametrize("letter", family(["a", "s", "\u017f", "\u00df", r"\.", "(?:s)", "[s]"], 3))
@pytest.mark.parametrize(
    "form", family(["{}", "(?i){}", "(?i:{})", "(?fi){}", "x.*?{}", "(?r){}"], 1)
)
def test_a_literal_text_holds_up_nothing_whatever_its_length(letter: str, form: str) -> None:
    for count in (900, 4000):
        text = form.format(letter * min(count, 9900 // len(letter)))
        for value in ("s" * 20_000, "x" * 20_000):
            began = time.process_time()
            try:
                finds(text, value)
                replaced(compiled(text), "", value, 20_000)
            except (RuleRefused, PatternTooSlow):
                pass
            assert time.process_time() - began < 3  # without the limits 15 s and more


@pytest.mark.parametrize("pattern", ["(?fi)" + "\u00df" * 499 + "q", "(?i)q" + "\u017f" * 499])
def test_a_long_value_is_not_searched_without_regard_of_case_for_seconds(pattern: str) -> None:
    value = "s" * 2_000_000
    began = time.process_time()
    for search in (finds, lambda text, value: replaced(compiled(text), "", value, 1 << 22)):
        with pytest.raises(PatternTooSlow, match="a long pattern on long values"):
            search(pattern, value)
    assert time.process_time() - began < 1


def test_a_pattern_without_large_counts_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns.subprocess, "run", None)
    assert patterns.compiled("a{}b{,}")
    small = (
        r"^/(?P<id>\d+)/\d{1,3}/[^/]+$", "[0-9a-f-]{36}", "(a|aa)+$", "x" * 1000,
        r"^/objects/(?P<id>uuid(?:%3A|:)[0-9a-f-]{36})/files/(?P<file>[A-Z]{6,10}\d+)",
        "x{100}y{800}", "[]{36}a]{5}",
    )  # fmt: skip
    for pattern in small:
        assert patterns.compiled(pattern)
    large = (
        "x{999}", "(?:x{99}){99}", "(?:colour){e<=1}", "(x)(?1)(?R)?", "x" * 1001,
        r"(?:x\\){999}", "(?x)#[\n(?:x{99}){99}]", "(?#[)(?:x{99}){99}]", "(?x)(?:xx) {500}",
        "x{40}{40}", "[[:alpha:]]{99}",
    )  # fmt: skip
    for pattern in large:
        patterns.compiled.cache_clear()
        patterns._is_small.cache_clear()
        with pytest.raises(TypeError):
            patterns.compiled(pattern)


counted = st.sampled_from([
    "a", "\\)", "\\\\", "(?:", "(", ")", "[a-z]", "[^]a]", "[", "]", "#", " ", "|", ".",
    "(?x)", "(?#", "{3}", "{9}", "{2,30}", "{30}", "+",
])  # fmt: skip


@given(st.lists(counted, max_size=12).map("".join))
@example("(?x)#[\n(?:(?:(?:x{30}){30}){30}){30}]")
@settings(deadline=None)
def test_what_needs_no_process_compiles_into_little(pattern: str) -> None:
    if patterns._is_surely_small(pattern):
        with contextlib.suppress(regex.error):
            made = regex.compile(pattern, cache_pattern=False)
            assert made.__sizeof__() <= patterns.MAX_COMPILED
