"""The face of the page: typeface, sizes, and colours that everybody can read and tell apart."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import pytest

from webui.rendering import STATIC, STYLES, static_content

STATIC_DIR = Path(str(files("webui") / "static"))
FACE = (STATIC_DIR / "face.css").read_text(encoding="utf-8")
OUTCOMES = ("ok", "warn", "bad", "info", "neutral")
READABLE = 4.5  # WCAG 2.2, 1.4.3
TOLD_APART = 0.06  # in OKLab; the least difference that one sees side by side is about 0.02
SIGHTS: Mapping[str, Sequence[Sequence[float]]] = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
"""In linear light. Source: Machado, Oliveira and Fernandes, 2009, severity 1."""

Colour = tuple[float, ...]


def colours(block: str) -> dict[str, Colour]:
    return {
        name: tuple(linear(int(value[at : at + 2], 16) / 255) for at in (0, 2, 4))
        for name, value in re.findall(r"--([a-z-]+): #([0-9a-f]{6});", block)
    }


def linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


LIGHT, _, _dark = FACE.partition("@media (prefers-color-scheme: dark)")
SCHEMES = {"light": colours(LIGHT), "dark": colours(LIGHT) | colours(_dark)}


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def contrast(one: Colour, other: Colour) -> float:
    """Source: WCAG 2.2, "contrast ratio"."""
    weights = (0.2126, 0.7152, 0.0722)
    low, high = sorted(dot(weights, colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen(colour: Colour, sight: str) -> Colour:
    return times(SIGHTS[sight], colour)


def times(rows: Sequence[Sequence[float]], colour: Colour) -> Colour:
    return tuple(min(1.0, max(0.0, dot(row, colour))) for row in rows)


def oklab(colour: Colour) -> Colour:
    """Source: Ottosson, "A perceptual color space for image processing", 2020."""
    cones = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    roots = [math.cbrt(part) for part in times(cones, colour)]
    axes = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    return tuple(dot(axis, roots) for axis in axes)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_can_be_read_on_each_of_its_grounds(scheme: str) -> None:
    named = SCHEMES[scheme]
    pairs = [(name, f"{name}-tint") for name in OUTCOMES]
    pairs += [("ink", f"{name}-tint") for name in OUTCOMES]
    pairs += itertools.product((*OUTCOMES, "accent", "accent-strong", "soft"), ("paper", "card"))
    pairs += itertools.product(("accent", "accent-strong", "soft", "ink"), ("tint",))
    pairs += itertools.product(("on-accent",), ("accent", "accent-strong"))
    for name, ground in pairs:
        assert contrast(named[name], named[ground]) >= READABLE, (name, ground)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_outcomes_can_be_told_apart_by_eyes_of_every_kind(scheme: str, sight: str) -> None:
    for one, other in itertools.combinations(OUTCOMES, 2):
        pair = [oklab(seen(SCHEMES[scheme][name], sight)) for name in (one, other)]
        assert math.dist(*pair) >= TOLD_APART, (one, other)


def test_the_typeface_is_small_and_every_part_of_it_is_used() -> None:
    fonts = {name for name, kind in STATIC.items() if kind == "font/woff2"}
    assert sum(len(static_content(name)) for name in fonts) <= 120_000
    assert set(re.findall(r'url\("([^"]+)"\)', FACE)) == fonts


def test_every_variable_that_a_style_sheet_uses_is_defined() -> None:
    sheets = {name: (STATIC_DIR / name).read_text(encoding="utf-8") for name in STYLES}
    defined = {name for text in sheets.values() for name in re.findall(r"(--[\w-]+)\s*:", text)}
    for sheet, text in sheets.items():
        if not sheet.startswith("vendor/"):
            assert set(re.findall(r"var\((--[\w-]+)", text)) <= defined, sheet


@pytest.mark.parametrize("sheet", [name for name in STYLES if not name.startswith("vendor/")])
def test_colours_and_sizes_of_text_are_those_of_the_scales(sheet: str) -> None:
    text = (STATIC_DIR / sheet).read_text(encoding="utf-8")
    assert not re.findall(r"font-size: [\d.]+(?:px|pt|rem)|font-family: (?!var|\")[^;]+", text)
    printed = text.partition("@media print")[0]
    assert sheet == "face.css" or not re.findall(r"#[0-9a-f]{3,6}\b", printed)
