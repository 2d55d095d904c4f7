"""What people write at the prompt, for type checkers: this file is checked, not run."""

import datetime

import recordsilo
from recordsilo import HarvestedRecord, MetadataDocument, SearchResult, Silo

silo: Silo = recordsilo.open("myrepo")
record: HarvestedRecord = silo["3002"]
title: str | None = record.title
creators: tuple[str, ...] = record.creators
year: int | None = record.year
when: datetime.datetime | None = record.datestamp
curated: bool = record.is_curated and not record.is_deleted
document: MetadataDocument = record.open("oai_dc")
values: tuple[str, ...] = document["title"]
languages = [value.lang for value in document.description.titles]

found: SearchResult = silo.search("solar", year=2016, type=["Thesis", "Article"], has_file=True)
found = silo.search("solar", limit=None, since=datetime.date(2024, 1, 1), sort="newest")
first: HarvestedRecord = found[0]
ten: SearchResult = found[:10]
titles: list[str | None] = [one.title for one in found]
counts: dict[str, int] = {one.value: one.count for one in found.facets["type"]}
total: int = len(found)
rows = [row.title.upper() for row in found.rows]
frame = found.to_pandas()
table = found.to_polars()
arrow = found.to_arrow()

for each in silo.records(state="in work", ids=["3002"]):
    unique = {each, record}
names = {one.item_id for one in silo.values()}
