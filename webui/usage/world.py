"""A map of the world with the uses from each country.

``tools/draw_world.py`` made ``world.json``, and ``tools/country_names.py`` ``countries.json``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from webui.words.texts import language, numeral
from webui.words.texts import text as _

_ALL, _FIRST = 12, 10
SHADES = 5
"""Number of colours."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A country of the map; ``label`` is its tooltip, empty if nothing came from there."""

    path: str
    css: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class MapRow:
    """A line of the table beside the map."""

    code: str
    name: str
    investigations: int
    requests: int
    on_map: bool


@dataclass(frozen=True, slots=True)
class WorldMap:
    """The map and its table. The map lacks small countries; the table has all.

    Attributes:
        summary: The text alternative of the map.
        legend: Class and least number of uses of each colour.
    """

    width: int
    height: int
    shapes: tuple[Shape, ...]
    places: tuple[MapRow, ...]
    legend: tuple[tuple[str, int], ...]
    summary: str

    @property
    def first(self) -> tuple[MapRow, ...]:
        """The places that the table shows at once; all of them if the others are few."""
        return self.places if len(self.places) <= _ALL else self.places[:_FIRST]

    @property
    def others(self) -> tuple[MapRow, ...]:
        """The places that are folded."""
        return self.places[len(self.first) :]


def country_name(code: str) -> str:
    """Return the name of a country in the language of the page; of an unknown code, the code.

    Source: Unicode CLDR, "Territories".
    """
    if code in {"", "XX", "ZZ"}:
        return _("Unknown country")
    return str(_read("countries.json")[language()].get(code.upper(), code))


def world_map(countries: Sequence[tuple[str, int, int]]) -> WorldMap:
    """Draw a map.

    Args:
        countries: Code, investigations and requests of each, most used first.
    """
    world = _read("world.json")
    paths: Mapping[str, str] = world["paths"]
    places = tuple(
        MapRow(code.upper(), country_name(code), uses, requests, code.upper() in paths)
        for code, uses, requests in countries
    )
    uses = {one.code: one for one in places}
    drawn = [one.investigations for one in places if one.on_map and one.investigations]
    bounds = _bounds(min(drawn, default=1), max(drawn, default=1))
    shapes = []
    for code, path in paths.items():
        one = uses.get(code)
        if one is None or not one.investigations:
            shapes.append(Shape(path, "land"))
        else:
            shade = sum(one.investigations >= bound for bound in bounds)
            shapes.append(
                Shape(path, f"shade{shade}", f"{one.name}: {numeral(one.investigations)}")
            )
    first = ", ".join(f"{one.name} {numeral(one.investigations)}" for one in places[:3])
    summary = _("Uses by country. Most: {first}.", first=first) if first else _("No uses.")
    legend = tuple((f"shade{place + 1}", bound) for place, bound in enumerate(bounds))
    return WorldMap(world["width"], world["height"], tuple(shapes), places, legend, summary)


def _bounds(least: int, most: int) -> tuple[int, ...]:
    """The least number of each colour, in equal ratios; few countries have most of the uses."""
    factor = (most / least) ** (1 / SHADES)
    return tuple(dict.fromkeys(round(least * factor**one) for one in range(SHADES)))


@cache
def _read(name: str) -> Any:
    return json.loads((files("webui") / "usage" / name).read_text("utf-8"))
