"""How well duplicates are found: precision and recall on a labelled set that is made up.

    .venv/bin/python benchmarks/duplicates.py 2000

Each work of the set has one of the fates that records have where several repositories, or one
repository twice, describe a work: the same words in another form, misspellings, preprint and
version of record, a title without its subtitle, creators left out, a translated title. Beside
it stand works that only look alike: parts, editions, other creators, a thesis and its paper, a
comment, opposite findings, series with the same title. Not all of them can be told apart; what
each kind does to the result is printed. Titles and names are drawn, the kinds are written by
hand.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from recordsilo.index.query import Titled
from silocuration.review.candidates import Candidates
from silocuration.review.groups import groups_of
from silocuration.review.same_work import WorkDescription

SUBJECTS = """salt marshes|glacial sediments|soil nitrogen|coastal erosion|solar cells|children's
reading|medieval charters|parish registers|labour migration|household debt|malaria vaccines|
hypertension in pregnancy|graph colouring|sparse matrices|speech recognition|urban drainage|
honeybee colonies|coral reefs|peat bogs|trade unions|railway timetables|primary schools|
nurses' working hours|hospital waiting lists|lithium batteries|concrete bridges|tidal turbines|
carbon taxation|land registration|oral histories|folk songs|stained glass|Roman pottery|
dialect boundaries|verb morphology|bilingual education|asylum procedures|constitutional courts|
monetary policy|river restoration|wind farms|earthquake insurance|insect pollinators""".replace(
    "\n", ""
).split("|")
ASPECTS = """The decline of|Mapping|A model of|Measuring|The economics of|Long-term change in|
Determinants of|The politics of|A comparative study of|Early detection of|The social history of|
Uncertainty in|Remote sensing of|A survey of|Public attitudes towards|The management of|
Optimisation of|Analysing|The behaviour of|Rethinking|An ethnography of|Modelling""".replace(
    "\n", ""
).split("|")
PLACES = """northern Norway|the Scottish Highlands|Catalonia|West Bengal|the Rhine valley|Ghana|
nineteenth-century Wales|the Baltic Sea|southern Chile|rural Ontario|Bavaria|the Po delta|
Northumberland|post-war Hungary|the Murray basin|Anatolia|Lower Saxony|coastal Kenya""".replace(
    "\n", ""
).split("|")
SURNAMES = """Lind|Okafor|Müller|García|Nowak|Iyer|Tanaka|O'Brien|van der Berg|Johansson|Haddad|
Petrov|Schneider|Rossi|Dubois|Fernandes|Kowalczyk|Nakamura|Andersen|Whitfield|Castellanos|
Brzezinski|Thompson|Adeyemi|Swanson|Wang|Chen|Smith|Jones|Yılmaz""".replace("\n", "").split("|")
GIVEN = """Anna|Bola|Carlos|Dorota|Emma|Farid|Grace|Hiroshi|Ingrid|Jakub|Kerstin|Luis|Marta|
Nadia|Olga|Peter|Quentin|Rosa|Stefan|Thandi|Ulrich|Vera|William|Xiu|Yusuf|Zoe""".replace(
    "\n", ""
).split("|")
TRANSLATED = {"salt": "Salz", "of": "von", "in": "in", "the": "der", "The": "Die"}

Random = random.Random
Change = Callable[[Random, WorkDescription], WorkDescription]


class Maker:
    """Draws works."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._used: set[str] = set()

    def name(self) -> str:
        return f"{self.random.choice(SURNAMES)}, {self.random.choice(GIVEN)}"

    def work(self) -> WorkDescription:
        draw = self.random
        while True:
            aspect, subject, place = map(draw.choice, (ASPECTS, SUBJECTS, PLACES))
            title = f"{aspect} {subject} in {place}"
            if draw.random() < 0.3:
                title += f": {draw.choice(ASPECTS).lower()} {draw.choice(SUBJECTS)}"
            if title not in self._used:
                break
        self._used.add(title)
        creators = tuple(dict.fromkeys(self.name() for _ in range(draw.choice((1, 1, 2, 2, 3, 5)))))
        doi = f"10.5555/{draw.randrange(10**8)}" if draw.random() < 0.4 else ""
        kind = draw.choice(("Article", "Article", "Book", "Report", "Thesis"))
        return WorkDescription(
            title, creators, str(draw.randrange(1975, 2024)), (kind,), ("en",), ("Wexcombe",), doi
        )


# -- the same work again ----------------------------------------------------------------------


def _other_case(draw: Random, one: WorkDescription) -> WorkDescription:
    title = draw.choice((str.upper, str.title, str.lower))(one.title)
    return replace(one, title=title + draw.choice(("", ".", " /")), doi="")


def _initials(_draw: Random, one: WorkDescription) -> WorkDescription:
    names = (name.partition(", ") for name in one.creators)
    return replace(one, creators=tuple(f"{last}, {given[0]}." for last, _, given in names), doi="")


def _plain_order(_draw: Random, one: WorkDescription) -> WorkDescription:
    names = (name.partition(", ") for name in one.creators)
    return replace(one, creators=tuple(f"{given} {last}" for last, _, given in names), doi="")


def _medline_names(_draw: Random, one: WorkDescription) -> WorkDescription:
    names = (name.partition(", ") for name in one.creators)
    return replace(one, creators=tuple(f"{last} {given[0]}" for last, _, given in names))


def _misspelt(word: str, draw: Random) -> str:
    place = draw.randrange(2, len(word) - 1)
    kinds = (
        word[:place] + word[place + 1 :],
        word[:place] + word[place] + word[place:],
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        word[:place] + draw.choice("aeionrstl") + word[place + 1 :],
    )
    return draw.choice(kinds)


def _typo(draw: Random, one: WorkDescription, times: int = 1) -> WorkDescription:
    words = one.title.split()
    long = [n for n, word in enumerate(words) if len(word) > 5 and word.isalpha()]
    for place in draw.sample(long, min(times, len(long))):
        words[place] = _misspelt(words[place], draw)
    return replace(one, title=" ".join(words), doi="")


def _two_typos(draw: Random, one: WorkDescription) -> WorkDescription:
    return _typo(draw, one, 2)


def _four_typos(draw: Random, one: WorkDescription) -> WorkDescription:
    return _typo(draw, one, 4)


def _misspelt_creator(draw: Random, one: WorkDescription) -> WorkDescription:
    last, _, given = one.creators[0].partition(", ")
    return replace(one, creators=(f"{_misspelt(last, draw)}, {given}", *one.creators[1:]), doi="")


def _american(_draw: Random, one: WorkDescription) -> WorkDescription:
    title = one.title.replace("abour", "abor").replace("ehaviour", "ehavior")
    for british, other in (
        ("colour", "color"),
        ("imisation", "imization"),
        ("nalys", "nalyz"),
        ("Modell", "Model"),
    ):
        title = title.replace(british, other)
    return replace(one, title=title, doi="")


def _without_subtitle(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, title=one.title.partition(":")[0], doi="")


def _first_creator(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, creators=one.creators[:1], doi="")


def _no_creator(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, creators=(), doi="")


def _no_year(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, year="", doi="")


def _preprint(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, year=str(int(one.year) - 1), types=("Preprint",), doi="", publishers=())


def _online_first(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, year=str(int(one.year) + 1), doi="")


def _bare(_draw: Random, one: WorkDescription) -> WorkDescription:
    return WorkDescription(one.title, one.creators, one.year)


def _other_words_for_kind(_draw: Random, one: WorkDescription) -> WorkDescription:
    kinds = {
        "Article": "info:eu-repo/semantics/article",
        "Thesis": "Doctoral thesis",
        "Book": "Monograph",
    }
    return replace(one, types=tuple(kinds.get(kind, kind) for kind in one.types), doi="")


def _accents_lost(_draw: Random, one: WorkDescription) -> WorkDescription:
    plain = str.maketrans("üíıśéà", "uiisea")
    names = tuple(name.translate(plain) for name in one.creators)
    return replace(one, title=one.title.replace("'", "’"), creators=names, doi="")


def _reworded(_draw: Random, one: WorkDescription) -> WorkDescription:
    title = one.title.replace(" in ", ": evidence from ", 1).replace("The ", "On the ", 1)
    return replace(one, title=title, types=("Preprint",), year=str(int(one.year) - 1), doi="")


def _translated(_draw: Random, one: WorkDescription) -> WorkDescription:
    words = (TRANSLATED.get(word, word + "en") for word in one.title.split())
    return replace(one, title=" ".join(words), languages=("de",), doi="")


def _parallel(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, title=f"{one.title} = Über Salzwiesen und andere Sachen", doi="")


def _same_doi(draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(_typo(draw, one, 2), doi=one.doi or "10.5555/1", creators=one.creators[:1])


SAME: Mapping[str, tuple[int, Change]] = {
    "other case and punctuation": (4, _other_case),
    "exactly the same, harvested twice": (4, lambda _draw, one: one),
    "initials": (4, _initials),
    "names in plain order": (2, _plain_order),
    "names as Medline has them": (2, _medline_names),
    "a misspelling": (3, _typo),
    "two misspellings": (1, _two_typos),
    "four misspellings": (1, _four_typos),
    "a misspelt creator": (2, _misspelt_creator),
    "American spelling": (1, _american),
    "no subtitle": (2, _without_subtitle),
    "only the first creator": (2, _first_creator),
    "no creator": (1, _no_creator),
    "no year": (1, _no_year),
    "preprint": (4, _preprint),
    "online a year before": (2, _online_first),
    "nothing but title, creators, year": (2, _bare),
    "other words for the type": (2, _other_words_for_kind),
    "accents lost": (1, _accents_lost),
    "parallel title": (1, _parallel),
    "same DOI, misspelt": (2, _same_doi),
    "preprint with another title": (2, _reworded),
    "translated title": (1, _translated),
}
"""How a work is described again → how often, and how it is made."""


# -- other works that look the same -----------------------------------------------------------


def _other_creators(draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, creators=Maker(draw.randrange(10**9)).work().creators, doi="")


def _namesake(draw: Random, one: WorkDescription) -> WorkDescription:
    last, _, given = one.creators[0].partition(", ")
    other = draw.choice([name for name in GIVEN if name[0] != given[0]])
    return replace(one, creators=(f"{last}, {other}",), doi="")


def _own_doi(draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, doi=f"10.7777/{draw.randrange(10**8)}")


def _paper_of_thesis(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, types=("Article" if "Thesis" in one.types else "Thesis",), doi="")


def _data_of_paper(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, types=("Dataset",), doi="")


def _talk(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, types=("Presentation",), doi="")


def _part(draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, title=f"{one.title}. Part {draw.choice(('2', 'II', 'two'))}", doi="")


def _edition(draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(
        one, title=f"{one.title}, 2nd edition", year=str(int(one.year) + draw.randrange(2))
    )


def _years_later(draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, year=str(int(one.year) + draw.randrange(2, 20)), doi="", types=("Article",))


def _other_place(draw: Random, one: WorkDescription) -> WorkDescription:
    head, place, rest = one.title.partition(" in ")
    other = draw.choice([name for name in PLACES if name not in rest])
    return replace(one, title=f"{head}{place}{other}", doi="")


def _other_subject(draw: Random, one: WorkDescription) -> WorkDescription:
    subject = next(name for name in SUBJECTS if name in one.title)
    return replace(
        one, title=one.title.replace(subject, draw.choice(SUBJECTS), 1) + " again", doi=""
    )


def _comment(draw: Random, one: WorkDescription) -> WorkDescription:
    before = draw.choice(("Comment on: ", "Erratum: ", "Reply to ", "Review of "))
    return replace(one, title=before + one.title, doi="")


def _language(_draw: Random, one: WorkDescription) -> WorkDescription:
    return replace(one, languages=("fr",), doi="", types=("Book",))


def _shared_beginning(draw: Random, one: WorkDescription) -> WorkDescription:
    head = one.title.partition(":")[0]
    return replace(
        one, title=f"{head}: {draw.choice(ASPECTS).lower()} {draw.choice(SUBJECTS)} abroad"
    )


APART: Mapping[str, tuple[int, Change]] = {
    "other creators": (4, _other_creators),
    "a namesake": (2, _namesake),
    "a DOI of its own": (4, _own_doi),
    "thesis and paper": (3, _paper_of_thesis),
    "paper and data": (2, _data_of_paper),
    "paper and talk": (1, _talk),
    "another part": (3, _part),
    "another edition": (2, _edition),
    "years later": (2, _years_later),
    "another place": (3, _other_place),
    "another subject": (2, _other_subject),
    "a comment": (2, _comment),
    "another language": (1, _language),
    "another subtitle": (2, _shared_beginning),
    "another work with a subtitle": (1, _shared_beginning),
}
"""How another work looks like one → how often, and how it is made."""

FIRST: Mapping[str, Any] = {
    "a DOI of its own": {"doi": "10.5555/first"},
    "preprint": {"types": ("Article",)},
    "preprint with another title": {"types": ("Article",)},
}
"""What the first work of a kind must have."""
SERIES: Sequence[tuple[str, tuple[str, ...]]] = (
    ("editorials", ("Editorial", "Editorial", "Editorial")),
    ("introductions", ("Introduction", "Introduction")),
    ("reports of years", ("Annual report 2011", "Annual report 2012", "Annual report 2013")),
    ("conferences", ("Proceedings of the 3rd Wexcombe conference on tides",
                     "Proceedings of the 4th Wexcombe conference on tides")),
    ("parts in words", ("Tides of northern seas. Part one", "Tides of northern seas. Part two")),
    ("volumes", ("Letters of Ada Lind, vol. I", "Letters of Ada Lind, vol. II")),
    ("opposites", ("Severe hypotension in pregnancy", "Severe hypertension in pregnancy")),
    ("scales", ("Foundations of modern macroeconomics", "Foundations of modern microeconomics")),
    ("chemicals", ("Leaching of nitrate from sandy soils", "Leaching of nitrite from sandy soils")),
    ("organisms", ("Uptake of heavy metals by mice", "Uptake of heavy metals by rats")),
    ("with and without", ("Learning with teachers today", "Learning without teachers today")),
    ("sexes", ("Sleep and obesity among male students", "Sleep and obesity among female students")),
    ("letters", ("Ocean currents of region A", "Ocean currents of region B")),
    ("ranges", ("Prices of wheat, 1800-1820", "Prices of wheat, 1820-1840")),
    ("sides", ("Maps of the eastern provinces", "Maps of the western provinces")),
    ("scripts", ("水文学研究的新方法", "水文学研究的新方向")),
    ("one word", ("Causal reasoning in young children", "Casual reasoning in young children")),
)  # fmt: skip
"""Works of the same creators and year, and no two of them the same."""


@dataclass(slots=True)
class Labelled:
    """Works, and what is known of their pairs.

    Attributes:
        same: The pairs that are one work → their kind.
        apart: Pairs that only look alike → their kind; all others are apart, too.
    """

    works: list[WorkDescription] = field(default_factory=list)
    same: dict[tuple[int, int], str] = field(default_factory=dict)
    apart: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, work: WorkDescription) -> int:
        """Add a work; return its number."""
        self.works.append(work)
        return len(self.works) - 1


def labelled(size: int, seed: int = 3) -> Labelled:
    """A set of so many works, each described again, or beside one that looks like it."""
    maker, found = Maker(seed), Labelled()
    draw = maker.random
    kinds = [(SAME, name) for name, (often, _) in SAME.items() for _ in range(often)]
    kinds += [(APART, name) for name, (often, _) in APART.items() for _ in range(often)]
    for number in range(size):
        table, kind = kinds[number % len(kinds)]
        first = replace(maker.work(), **FIRST.get(kind, {}))
        if kind == "another subtitle":
            first = replace(first, title=f"{first.title.partition(':')[0]}: the first ten years")
        second = table[kind][1](draw, first)
        if kind == "same DOI, misspelt":
            first = replace(first, doi=second.doi)
        pair = found.add(first), found.add(second)
        (found.same if table is SAME else found.apart)[pair] = kind
    for number in range(max(1, size // 200)):
        year = str(1990 + number % 30)
        for kind, titles in SERIES:
            creators = (maker.name(), maker.name())
            numbers = [
                found.add(WorkDescription(f"{t}", creators, year, ("Article",))) for t in titles
            ]
            found.apart |= dict.fromkeys(combinations(numbers, 2), kind)
    return found


def pairs_found(found: Labelled) -> set[tuple[int, int]]:
    """The pairs that are in one group."""
    with closing(Candidates()) as candidates:
        works = enumerate(found.works)
        candidates.add(Titled(n, str(n), work.title, work.doi) for n, work in works)
        groups = groups_of(
            candidates.blocks(),
            lambda numbers: {n: found.works[n] for n in numbers},
            candidates.frequency,
        )
    return {pair for group in groups for pair in combinations(group.numbers, 2)}


def measured(found: Labelled) -> tuple[float, float, set[tuple[int, int]]]:
    """Precision, recall, and the pairs that were found."""
    pairs = pairs_found(found)
    right = len(pairs & found.same.keys())
    return right / (len(pairs) or 1), right / (len(found.same) or 1), pairs


def lines(found: Labelled, pairs: set[tuple[int, int]]) -> Iterator[str]:
    """How many pairs of each kind are in one group."""
    for said, table in (("same", found.same), ("apart", found.apart)):
        by_kind: dict[str, Counter[bool]] = defaultdict(Counter)
        for pair, kind in table.items():
            by_kind[kind][pair in pairs] += 1
        for kind, counts in by_kind.items():
            yield f"{said:<6} {kind:<36} {counts[True]:>5} of {counts.total():>5} together"
    others = len(pairs - found.same.keys() - found.apart.keys())
    yield f"apart  {'other pairs':<36} {others:>5} together"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", type=int, nargs="?", default=4000)
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    found = labelled(arguments.size, arguments.seed)
    precision, recall, pairs = measured(found)
    print(*lines(found, pairs), sep="\n")
    print(f"{len(found.works):,} records: precision {precision:.3f}, recall {recall:.3f}")


if __name__ == "__main__":
    main()
