"""Readers of tables, by the rules of the importers that these tables are for.

Source: samvera/bulkrax 9.4, csv_parser.rb, csv_entry.rb, application_matcher.rb; the
documentation of Islandora Workbench, and its workbench_utils.py.
"""

import csv
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Imported:
    """What Bulkrax would make: identifier of an entry → its values."""

    collections: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    works: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    file_sets: dict[str, dict[str, list[str]]] = field(default_factory=dict)


def by_bulkrax(directory: Path, split: str | None = None) -> Imported:
    """Read a table as Bulkrax does, with the mapping beside it, or one that splits all fields.

    Args:
        split: A regular expression for all fields, instead of the mapping's.
    """
    mapping = json.loads((directory / "field_mappings.json").read_text())["Bulkrax::CsvParser"]
    by_column = {one: to for to, how in mapping.items() for one in how["from"]}
    with (directory / "bulkrax.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, strict=True)
        head = [re.sub(r"[^\w. -]+", "", one).strip() for one in next(rows)]
        assert head[0] == "source_identifier"
        found = [dict(zip(head, row, strict=True)) for row in rows]
    imported = Imported()
    for row in found:
        values: dict[str, list[str]] = {}
        for column, cell in row.items():
            name = by_column[re.sub(r"_\d+$", "", column)]
            text = re.sub(r"\s", " ", cell).strip()
            pattern = split or mapping[name].get("split")
            parts = re.split(pattern, text) if pattern else [text]
            values.setdefault(name, []).extend(one.strip() for one in parts if one.strip())
        assert values["title"], "a required element is missing"
        identifier = row["source_identifier"]
        kinds = {"collection": imported.collections, "fileset": imported.file_sets}
        kind = kinds.get(row["model"].casefold(), imported.works)
        assert identifier not in kind
        kind[identifier] = values
    known = {*imported.collections, *imported.works}
    for one in (*imported.collections.values(), *imported.works.values()):
        assert set(one.get("parents", [])) <= set(imported.collections)
    for one in imported.file_sets.values():
        assert set(one["parents"]) <= known
        (name,) = one["file"]
        assert (directory / "files" / name.strip().replace(" ", "_")).is_file()
    return imported


@dataclass
class Node:
    """What Workbench would make of a row."""

    title: str
    model: str
    parent: str
    file: Path | None
    fields: dict[str, list[str]]


def by_workbench(directory: Path) -> dict[str, Node]:
    """Read a table as Workbench does with the configuration beside it; ID of a row → node."""
    import yaml  # noqa: PLC0415

    config: dict[str, Any] = yaml.safe_load((directory / "workbench.yml").read_text())
    assert (config["task"], config["input_dir"]) == ("create", ".")
    delimiter = config["subdelimiter"]
    with (directory / config["input_csv"]).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, restval="stringtopopulateextrafields"))
    nodes: dict[str, Node] = {}
    for line in rows:
        if next(iter(line.values())).strip().startswith("#"):
            continue  # a comment
        row = {name: _cleaned(cell, config, delimiter) for name, cell in line.items()}
        assert row["id"] not in nodes
        parent = row.get("parent_id", "")
        assert not parent or parent in nodes, "a parent comes before its children"
        place = directory / config["input_dir"] / row["file"] if row["file"] else None
        assert place is None or place.is_file()
        fields = {name: cell.split(delimiter) for name, cell in row.items()
                  if name.startswith("field_") and cell}  # fmt: skip
        for agent in fields.get("field_linked_agent", []):
            assert re.match("^[0-9a-zA-Z]+:[0-9a-zA-Z]+:.+$", agent)
            assert agent.split(":", 2)[2].partition(":")[0] in {"person", "corporate_body"}
        for date in fields.get("field_edtf_date_issued", []):
            assert re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", date)
        nodes[row["id"]] = Node(row["title"], row["field_model"], parent, place, fields)
    return nodes


def _cleaned(cell: str, config: dict[str, Any], delimiter: str) -> str:
    if "smart_quotes" not in config["clean_csv_values_skip"]:
        cell = re.sub("[“”]", '"', cell)
    return re.sub(" +", " ", cell).strip().strip(delimiter)
