"""The order in which the steps of ``steps.sql`` run, and how often."""

from typing import Protocol

from crawlmatch.rules import LineRules

MAX_REDIRECTS = 40
MAX_CLIMB = 60


class Steps(Protocol):
    """Interface that runs steps: `silosteps.engine.Engine`, or Spark."""

    def run(self, step: str, **values: object) -> "Steps":
        """Run a step with its parameters."""

    def all(self) -> list[tuple[object, ...]]:
        """Return the rows of the last step."""

    def drop(self, names: list[str]) -> None:
        """Drop tables."""


def make_tables(steps: Steps) -> None:
    """Create the tables that inputs are read into."""
    for name in ("tables", "locations", "captures", "edges", "judged", "seeds"):
        steps.run(f"make_{name}")


def keep_events(steps: Steps, rules: LineRules, source: int) -> None:
    """Add the rows just read to the table ``event``."""
    steps.run("judge_types", hits=rules.hits, pages=rules.pages)
    steps.run("keep_events", source=source)


def cdx_places(fields: str) -> dict[str, int]:
    """Return the parameters of the step ``read_cdx`` for an index with these fields."""
    return {"fields": len(fields)} | {one: fields.find(one) + 1 for one in "abmskr"}


def merge(steps: Steps, rules: LineRules) -> None:
    """Merge events into one page for each address, and the edges that lead to it.

    Of the lines of indexes, those become events that are about pages of no log.
    """
    steps.drop(["raw", "line"])
    if _is_open(steps.run("count_indexed")):
        steps.run("drop_indexed")
    for fields, source in steps.run("layouts").all():
        steps.run("unlogged", fields=fields, source=source)
        steps.run("read_cdx", **cdx_places(str(fields)))
        keep_events(steps, rules, int(str(source)))
    steps.drop(["raw", "line", "judged"])
    steps.run("repeated").run("best_events").run("more_edges")
    steps.run("drop_repeated").run("keep_best").run("best_pages")
    steps.drop(["repeated", "best"])


def match(steps: Steps, rules: LineRules, *, unseeded: bool = True) -> None:
    """Make the table ``result`` from pages and seeds (table ``seed_row``).

    Args:
        steps: Runs the steps.
        rules: What counts as a full text.
        unseeded: Whether full texts without a seed have rows too.
    """
    steps.run("resolve_revisits").run("pages")
    steps.run("seeds").run("seed_rows").run("found").run("sought").run("asked")
    steps.run("found_by_form").run("found_alike")
    steps.run("alike_replaced").run("found_replaced").run("asked_pages")
    steps.run("wanted").run("nodes_needed", walls=rules.walled, defences=rules.defended)
    steps.drop(["event", "known", "sought", "asked", "lossy", "wanted"])
    steps.run("next_known").run("chains_begin").run("make_chains")
    for _ in range(MAX_REDIRECTS + 2):
        steps.run("chains_go_on").run("chains_keep").run("chains_left").run("chains_open")
        if not _is_open(steps):
            break
    steps.run("ways_up").run("climb_begins").run("climb_seen")
    for _ in range(MAX_CLIMB):
        steps.run("climb_on").run("climb_new").run("climb_keep").run("climb_open")
        if not _is_open(steps):
            break
    steps.drop(["climb_next", "climbing", "chain_after"])
    steps.run("marks").run("marks_by_tag")
    steps.run("ends").run("several_ends").run("terminals")
    steps.drop(["ended", "several"])
    steps.run("walled_targets", walls=rules.walled, defences=rules.defended).run("outcomes")
    steps.run("tops_begin", wanted=unseeded).run("tops_open")
    for _ in range(MAX_CLIMB):
        if not _is_open(steps):
            break
        steps.run("tops_on").run("tops_keep").run("tops_open")
    steps.run("capture_lines").run("results")


def _is_open(steps: Steps) -> bool:
    return bool(steps.all()[0][0])
