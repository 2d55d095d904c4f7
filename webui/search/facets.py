"""The values of a facet as links."""

from collections.abc import Iterator
from dataclasses import dataclass

from recordsilo.index import FacetValue
from recordsilo.index.facets import contributed_names, labels_of
from recordsilo.index.search_values import FLAGS
from webui.search.request import SearchRequest
from webui.site import Site
from webui.words.texts import text as _


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet: choosing it leads to `url`, and so does taking it off again."""

    value: str
    label: str
    count: int
    url: str
    is_chosen: bool


def choices(
    site: Site, request: SearchRequest, name: str, values: tuple[FacetValue, ...]
) -> Iterator[Choice]:
    """The values of a facet as links."""
    toggled = request.toggling()
    for found in values:
        yield Choice(
            found.value,
            value_label(site, name, found.value),
            found.count,
            toggled(name, found.value),
            (name, found.value) in request.chosen,
        )


def value_label(site: Site, name: str, value: str) -> str:
    """A value as people read it: a set by its name, a finding in words, a truth as yes or no."""
    if name == "set":
        return site.set_name(value)
    if name == "finding":
        return _(labels_of(name).get(value, value)).capitalize()
    if name in FLAGS:
        return _("Yes") if value == "true" else _("No")
    said = labels_of(name).get(value) if name in contributed_names() else None
    return value if said is None else f"{value}: {_(said)}"
