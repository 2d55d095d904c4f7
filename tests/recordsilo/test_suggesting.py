"""What a Silo suggests while one types."""

from collections.abc import Callable

import pytest

from recordsilo import Silo

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title>'
    "<dc:creator>{}</dc:creator><dc:subject>{}</dc:subject></oai_dc:dc>"
)


@pytest.fixture
def silo_of_swans(silo: Silo, harvest: Callable[..., str]) -> Silo:
    for number, (title, creator, subject) in enumerate((
        ("Swans in winter", "Swan, Élise", "Birds"),
        ("On the swan", "Swan, Élise", "Water birds"),
        ("Lakes", "Swanson, Bo", "Birds"),
    )):  # fmt: skip
        harvest(silo, f"oai:a.org:{number}", DC.format(title, creator, subject).encode())
    return silo


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("swa", ["title Swans in winter 1", "title On the swan 1", "creator Swan, Élise 2",
                 "creator Swanson, Bo 1"]),
        ("elise sw", ["creator Swan, Élise 2"]),
        ("elise", ["creator Swan, Élise 2"]),
        ("bird", ["subject Birds 2", "subject Water birds 1"]),
        ("oai:a.org:1", ["identifier oai:a.org:1 1"]),
        ("s", []),
        ('"((', []),
        ("", []),
    ],
)  # fmt: skip
def test_what_begins_as_typed_is_suggested(
    silo_of_swans: Silo, typed: str, suggested: list[str]
) -> None:
    found = [f"{one.kind} {one.text} {one.records}" for one in silo_of_swans.suggested(typed)]
    assert found == suggested
    assert len(silo_of_swans.suggested(typed, each=1)) <= 4
