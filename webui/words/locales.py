"""The languages of the page, and how each writes numbers and dates (pure).

Source: Unicode CLDR 47, "Number Elements", "Date & Time" (medium).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Locale:
    """How a language writes numbers and dates.

    Attributes:
        name: The language's own name.
        group: Between groups of three digits.
        decimal: Before the decimals.
        percent: ``{n}`` and the sign.
        day: ``{day}``, ``{month}`` by number or ``{name}``, ``{year}``.
        months: Abbreviated names, from January.
    """

    name: str
    group: str
    decimal: str
    percent: str
    day: str
    months: tuple[str, ...] = ()


LOCALES: Mapping[str, Locale] = {
    "en": Locale(
        "English", ",", ".", "{n}%", "{day} {name} {year}",
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    ),
    "de": Locale("Deutsch", ".", ",", "{n}\N{NO-BREAK SPACE}%", "{day:02}.{month:02}.{year:04}"),
    "fr": Locale(
        "Français", "\N{NARROW NO-BREAK SPACE}", ",", "{n}\N{NO-BREAK SPACE}%",
        "{day} {name} {year}",
        ("janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.",
         "nov.", "déc."),
    ),
}  # fmt: skip
"""By language tag. A new language has a line here and a file in ``locale/``."""


def grouped(number: float, language: str, decimals: int | None = None) -> str:
    """Return a number in groups of three digits.

    Args:
        number: What is written.
        language: How.
        decimals: How many; None: as many as it has, at most six.
    """
    one = LOCALES[language]
    text = f"{number:,}" if isinstance(number, int) else f"{number:,.{decimals or 6}f}"
    if decimals is None and not isinstance(number, int):
        text = text.rstrip("0").rstrip(".")
    whole, _, after = text.partition(".")
    return whole.replace(",", one.group) + (one.decimal + after if after else "")


def percent(number: float, language: str) -> str:
    """Return a number of hundredths with its sign: ``97.5%``, ``97,5 %``."""
    return LOCALES[language].percent.format(n=grouped(number, language))


def day(moment: datetime, language: str) -> str:
    """Return a date: ``24 Jun 2004``, ``24.06.2004``."""
    one = LOCALES[language]
    name = one.months[moment.month - 1] if one.months else ""
    return one.day.format(day=moment.day, month=moment.month, name=name, year=moment.year)
