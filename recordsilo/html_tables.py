"""Plain tables in HTML, which notebooks show (pure). Every text is escaped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any, NamedTuple, TypeAlias

from recordsilo.wording import cut_middle

_LONGEST = 300
"""Characters of a cell."""
_MOST = 20
"""Lines or rows of a part that may be long."""
_BRIEF = 3
"""Values of a list in one cell."""
_LEFT = ' style="text-align: left"'


class Link(NamedTuple):
    """A text that links to an address of the web; any other address is left out."""

    text: str
    url: str


class Bar(NamedTuple):
    """How far something is; ``whole`` is None if that is not known."""

    done: int
    whole: int | None


Content: TypeAlias = str | int | Link | Bar | None


def table(rows: Iterable[Sequence[Content]], *, head: Sequence[str] = (), caption: str = "") -> str:
    """A table; numbers stand to the right, and None is an empty cell."""
    lines = ["<table>"]
    if caption:
        lines.append(f"<caption{_LEFT}><b>{_text(caption)}</b></caption>")
    if head:
        names = "".join(f"<th{_LEFT}>{_text(name)}</th>" for name in head)
        lines.append(f"<thead><tr>{names}</tr></thead>")
    lines.append("<tbody>")
    lines += ["<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows]
    return "\n".join([*lines, "</tbody>", "</table>"])


def named(rows: Iterable[tuple[str, Content]], *, caption: str = "") -> str:
    """A table of names and values; those without a value are left out."""
    found = [(name, value) for name, value in rows if value not in (None, "")]
    body = "\n".join(f"<tr><th{_LEFT}>{_text(name)}</th>{_cell(v)}</tr>" for name, v in found)
    title = f"<caption{_LEFT}><b>{_text(caption)}</b></caption>\n" if caption else ""
    return f"<table>\n{title}<tbody>\n{body}\n</tbody>\n</table>"


def lines(texts: Sequence[str], most: int = 200) -> str:
    """Lines as they are, such as those of a diff; of many, the first."""
    shown = [escape(cut_middle(one, 2 * _LONGEST)) for one in texts[:most]]
    if len(texts) > most:
        shown.append(f"… and {len(texts) - most:,} more lines")
    return "<pre>" + "\n".join(shown) + "</pre>"


def sentences(texts: Sequence[str]) -> str:
    """Each a paragraph; of many, the first."""
    shown = [f"<p>{_text(one)}</p>" for one in texts[:_MOST]]
    if len(texts) > _MOST:
        shown.append(f"<p>… and {len(texts) - _MOST:,} more</p>")
    return "\n".join(shown)


class ShownAsTable:
    """A dataclass, such as a receipt, that notebooks show as a table of its values."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = ((name.replace("_", " "), _brief(one)) for name, one in _values(self).items())
        return named(rows, caption=type(self).__name__)


def _values(of: Any) -> dict[str, Any]:
    return {one.name: getattr(of, one.name) for one in fields(of)}


def _brief(value: Any) -> Content:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | None):
        return value
    if is_dataclass(value):
        value = _values(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_brief(one)}" for name, one in value.items() if one)
    if isinstance(value, list | tuple):
        more = [f"and {len(value) - _BRIEF:,} more"] if len(value) > _BRIEF else []
        return "; ".join([*(str(_brief(one)) for one in value[:_BRIEF]), *more])
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def _cell(value: Content) -> str:
    if isinstance(value, Bar):
        far = (
            f' value="{value.done}" max="{max(value.whole, 1)}"' if value.whole is not None else ""
        )
        return f"<td><progress{far}></progress></td>"
    if isinstance(value, int):
        return f'<td style="text-align: right">{value:,}</td>'
    return f"<td{_LEFT}>{_linked(value) if isinstance(value, Link) else _text(value or '')}</td>"


def _linked(link: Link) -> str:
    if not link.url.lower().startswith(("http://", "https://")):
        return _text(link.text)
    return f'<a href="{escape(link.url)}" rel="noopener noreferrer">{_text(link.text)}</a>'


def _text(text: str) -> str:
    return escape(cut_middle(text, _LONGEST))
