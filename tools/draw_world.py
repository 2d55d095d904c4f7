"""Make ``world.json`` from the countries of Natural Earth 1:110m (public domain).

They are in the wheel of geopandas 0.14.4; the codes of most are found by the names of the IANA time
zone database (``iso3166.tab``, public domain). Run once, and again for other data:

    pip download --no-deps geopandas==0.14.4
    python tools/draw_world.py geopandas-0.14.4-py3-none-any.whl > webui/usage/world.json
"""

import json
import struct
import sys
import zipfile
from collections.abc import Iterator
from itertools import pairwise

ISO = "/usr/share/zoneinfo/iso3166.tab"
LAYER = "geopandas/datasets/naturalearth_lowres/naturalearth_lowres"
WIDTH, HEIGHT, TOP = 1000, 440, 84.0
"""Degrees become units of an equirectangular map from 84° north to 74.4° south of the equator."""
SMALL = {"AQ"}
"""Left out of the map: it would take a quarter of it."""
CODES = {
    "Bosnia and Herz.": "BA", "Central African Rep.": "CF", "Congo": "CG", "Czechia": "CZ",
    "Côte d'Ivoire": "CI", "Dem. Rep. Congo": "CD", "Dominican Rep.": "DO", "Eq. Guinea": "GQ",
    "Falkland Is.": "FK", "Fr. S. Antarctic Lands": "TF", "Kosovo": "XK", "Laos": "LA",
    "Macedonia": "MK", "N. Cyprus": "CY", "North Korea": "KP", "North Macedonia": "MK",
    "S. Sudan": "SS", "Solomon Is.": "SB", "Somaliland": "SO", "South Korea": "KR",
    "Timor-Leste": "TL", "United Kingdom": "GB", "United States of America": "US",
    "W. Sahara": "EH", "eSwatini": "SZ", "Eswatini": "SZ", "Bahamas": "BS", "Myanmar": "MM",
}  # fmt: skip
NAMES = {"GB": "United Kingdom", "XK": "Kosovo", "KR": "South Korea", "KP": "North Korea"}


def main() -> None:
    """Print the map."""
    with open(ISO, encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))
        names = {code: name.replace(" & ", " and ") for code, name in rows} | NAMES
    by_name = {name: code for code, name in names.items()}
    paths: dict[str, str] = {}
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        labels = list(_labels(wheel.read(f"{LAYER}.dbf")))
        shapes = list(_shapes(wheel.read(f"{LAYER}.shp")))
    for label, rings in zip(labels, shapes, strict=True):
        code = CODES.get(label) or by_name.get(label)
        if code is None:
            sys.exit(f"no code for {label!r}")
        if code not in SMALL:
            paths[code] = paths.get(code, "") + "".join(map(_path, rings))
    world = {"width": WIDTH, "height": HEIGHT, "paths": dict(sorted(paths.items()))}
    print(json.dumps(world, ensure_ascii=False, indent=0))  # noqa: T201


def _labels(content: bytes) -> Iterator[str]:
    count, head, size = struct.unpack_from("<IHH", content, 4)
    fields, place, offset = {}, 32, 1
    while content[place] != 0x0D:
        name = content[place : place + 11].split(b"\0")[0].decode()
        fields[name] = (offset, content[place + 16])
        offset += content[place + 16]
        place += 32
    start, length = fields["name"]
    for row in range(count):
        begin = head + row * size + start
        yield content[begin : begin + length].decode("latin-1").strip()


def _shapes(content: bytes) -> Iterator[list[list[tuple[float, float]]]]:
    place = 100
    while place < len(content):
        (words,) = struct.unpack_from(">I", content, place + 4)
        parts, points = struct.unpack_from("<II", content, place + 44)
        starts = [*struct.unpack_from(f"<{parts}I", content, place + 52), points]
        numbers = struct.unpack_from(f"<{2 * points}d", content, place + 52 + 4 * parts)
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        yield [pairs[a:b] for a, b in pairwise(starts)]
        place += 8 + 2 * words


def _path(ring: list[tuple[float, float]]) -> str:
    scale = WIDTH / 360
    points = [(round((x + 180) * scale), round((TOP - y) * scale)) for x, y in ring]
    steps = [points[0]]
    for point in points[1:]:
        if point != steps[-1]:
            steps.append(point)
    if len(steps) < 4:
        return ""
    moves = (f"{x - a} {y - b}" for (a, b), (x, y) in pairwise(steps[:-1]))
    return f"M{steps[0][0]} {steps[0][1]}l{' '.join(moves)}z".replace(" -", "-")


if __name__ == "__main__":
    main()
