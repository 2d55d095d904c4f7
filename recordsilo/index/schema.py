"""The tables of the index. Increase `TABLES` to force a rebuild."""

import hashlib
import os
from functools import cache

from recordsilo import formats
from recordsilo.formats import signature

TABLES = 19
"""Increase this number when the tables, or what is written into them, change."""
VERSION = TABLES << 16 | signature()
"""The schema's number; it also changes with the formats and their readers."""

_DESCRIBING = (
    "first_rows.py", "packing.py", "projection.py", "query_syntax.py", "rows.py", "schema.py",
    "../records/description.py",
)  # fmt: skip


@cache
def code_digest() -> bytes:
    """A digest of the code that describes records; descriptions by other code may differ.

    Cost: once per process, reads 30 small files.
    """
    here = os.path.dirname(__file__)
    paths = [os.path.join(here, name) for name in _DESCRIBING]
    for below, _, names in os.walk(os.path.dirname(formats.__file__)):
        paths += [os.path.join(below, name) for name in names if name.endswith(".py")]
    found = hashlib.blake2b(digest_size=12)
    for path in sorted(paths):
        with open(path, "rb") as file:
            found.update(hashlib.blake2b(file.read()).digest())
    return found.digest()


TEXT_COLUMNS = ("title", "creators", "subjects", "abstract", "identifiers", "harvested_title")
"""The texts of a row, in the order of `recordsilo.index.projection.Text`."""
WEIGHTS = {
    "abstract": 1.0, "title": 8.0, "creators": 4.0, "subjects": 2.0, "identifiers": 4.0,
    "harvested_title": 4.0,
}  # fmt: skip
"""The columns of the full text in their order → what a word in them counts for the rank.

The longest is the first, because FTS5 writes two bytes less for each word and record in it."""
TOKENIZE = 'tokenize = "unicode61 remove_diacritics 2"'
LONGEST_PREFIX = 3
"""Prefixes of words up to this length may have bitmaps; longer ones match few words."""

TEXT_TABLE = f"""
CREATE VIRTUAL TABLE text USING fts5 (  -- words only; `record` has the texts, packed
    {", ".join(WEIGHTS)}, {TOKENIZE}, content = ''
);
"""
RECENT_TABLE = f"""
CREATE VIRTUAL TABLE recent USING fts5 (  -- which records of the last, unfinished block have a word
    words, {TOKENIZE}, detail = none, columnsize = 0, content = ''
);
"""

_WHOLE = """CASE substr({name}, 1, 1)
    WHEN '=' THEN (SELECT beginning FROM common WHERE id = 1) || substr({name}, 2)
    ELSE substr({name}, 2) END"""
IDENTIFIER = _WHOLE.format(name="name")
"""SQL: the identifier of a row's name."""


_NAME = """CASE WHEN substr({given}, 1, length(beginning)) = beginning
    THEN '=' || substr({given}, length(beginning) + 1)
    WHEN {given} < beginning THEN '<' || {given} ELSE '>' || {given} END"""
_COMMON = "CROSS JOIN common WHERE common.id = 1"
NAME = f"(SELECT {_NAME.format(given='given')} FROM (SELECT ? AS given) {_COMMON})"  # noqa: S608
"""SQL: the name of the identifier that is a parameter.

A name leaves out what most identifiers of the Silo begin with. Its first character is ``=`` if it
does, ``<`` if the identifier comes before all that begin so, and ``>`` if it comes after them. So
names have the order of their identifiers."""
NAMES = f"(SELECT {_NAME.format(given='value')} FROM json_each(?) {_COMMON})"  # noqa: S608
"""SQL: the names of the identifiers in a parameter, a list in JSON."""

SCHEMA = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE common (
    id        INTEGER PRIMARY KEY,     -- 1
    beginning TEXT NOT NULL            -- of identifiers, which names leave out; see `NAME`
);

CREATE TABLE entry (                   -- read as `record`
    id              INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused
    name            TEXT NOT NULL UNIQUE,  -- of the record, see `NAME`
    datestamp       TEXT,              -- if `seconds` does not say it in the usual form
    title           TEXT NOT NULL,
    current_version TEXT NOT NULL,
    versions        INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    seconds         INTEGER NOT NULL,  -- the datestamp, since 0001-01-01
    flags           INTEGER NOT NULL,  -- see columns.FLAGS
    facets          BLOB NOT NULL,     -- numbers of facet values, see packing.py
    facets_large    BLOB NOT NULL,     -- the same of columns.LARGE_FIELDS
    packed          BLOB NOT NULL,     -- the texts of which the table text has the words
    described       BLOB NOT NULL,     -- digest of all that was read from the files, see rows.py;
                                       -- empty if one of them could not be read
    mtime_ns        INTEGER NOT NULL,  -- of the manifest that was read
    size            INTEGER NOT NULL,
    inode           INTEGER NOT NULL,
    changed         INTEGER NOT NULL,  -- when the record was changed here, since 0001-01-01
    change          INTEGER NOT NULL,  -- number of the change that wrote the row
    generation      INTEGER NOT NULL   -- of the last reindex that saw it
);

CREATE VIEW record AS SELECT
    *, {IDENTIFIER} AS identifier,
    flags & 1 AS deleted, flags & 2 AS curated, flags & 4 AS upstream_newer  -- 0 or not
FROM entry;

CREATE TABLE gone (id INTEGER PRIMARY KEY, change INTEGER NOT NULL);

CREATE TABLE dictionary (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);  -- see packing.py

CREATE TABLE facet_value (
    id    INTEGER PRIMARY KEY,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (field, value)
);

CREATE TABLE beside (                  -- values of facets that other packages contribute
    facet TEXT NOT NULL,
    id    INTEGER NOT NULL,            -- of the record
    value INTEGER NOT NULL,            -- number of a facet value
    PRIMARY KEY (facet, id, value)
) WITHOUT ROWID;

CREATE TABLE beside_facet (
    facet   TEXT PRIMARY KEY,
    stamp   TEXT NOT NULL,             -- the package's stamp when they were read
    change  INTEGER NOT NULL,          -- the last change of records that they include
    version INTEGER NOT NULL           -- increases when they change
) WITHOUT ROWID;

CREATE TABLE beside_change (           -- for copies of the index, once there are any
    id     INTEGER PRIMARY KEY,        -- of the record
    change INTEGER NOT NULL            -- the last change of its values in `beside`
);

CREATE VIRTUAL TABLE recent_word USING fts5vocab (recent, row);
CREATE VIRTUAL TABLE recent_instance USING fts5vocab (recent, instance);
INSERT INTO text (text, rank) VALUES ('hashsize', 33554432);  -- octets; fewer, larger segments
INSERT INTO recent (recent, rank) VALUES ('hashsize', 33554432);
INSERT INTO text (text, rank) VALUES ('automerge', 8);  -- instead of 4: less is written twice
INSERT INTO recent (recent, rank) VALUES ('automerge', 16);  -- it is emptied at each full block

CREATE TABLE frequent (                -- words and prefixes that have bitmaps, see words.py
    id         INTEGER PRIMARY KEY,
    expression TEXT NOT NULL UNIQUE    -- FTS5 query for it
);

CREATE TABLE bitmap (                  -- in the order of blocks, so that pages are filled
    id   INTEGER PRIMARY KEY,          -- says block, `frequent` and place, see words.py
    part BLOB NOT NULL                 -- all parts: a bit for each row id, the first highest; zlib
);

CREATE TABLE word (                    -- of the blocks done; for queries that are misspelt
    term    TEXT PRIMARY KEY,
    records INTEGER NOT NULL           -- that had it when their block was done
) WITHOUT ROWID;

CREATE TABLE unsettled (identifier TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE problem (path TEXT PRIMARY KEY, sentence TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE unreadable (              -- records; their rows have what was last read, if anything
    identifier TEXT PRIMARY KEY,
    path       TEXT NOT NULL,          -- of the record's directory
    sentence   TEXT NOT NULL,          -- why
    state      TEXT NOT NULL,          -- of its manifest's file, which changes when it is mended
    was_read   INTEGER NOT NULL        -- whether the row has anything but the identifier
) WITHOUT ROWID;

CREATE TRIGGER record_counted AFTER INSERT ON entry BEGIN
    UPDATE about SET value = value + 1 WHERE key = 'records';
END;
CREATE TRIGGER record_uncounted AFTER DELETE ON entry BEGIN
    UPDATE about SET value = value - 1 WHERE key = 'records';
    DELETE FROM beside_change WHERE id = old.id;
    DELETE FROM unreadable WHERE identifier = {_WHOLE.format(name="old.name")};
END;

INSERT INTO about VALUES ('records', 0), ('generation', 1), ('complete', 0), ('change', 0),
    ('beside', 0),                     -- number of the last change of `beside`
    ('blocks', 0);                     -- how many of `frequent` are done
"""  # noqa: S608 - constants

INDEXES = (
    "CREATE INDEX IF NOT EXISTS record_deleted ON entry (name) WHERE flags & 1",
    "CREATE INDEX IF NOT EXISTS record_curated ON entry (name) WHERE flags & 2",
    "CREATE INDEX IF NOT EXISTS record_upstream_newer ON entry (name) WHERE flags & 4",
    "CREATE INDEX IF NOT EXISTS record_partial ON entry (name) WHERE described = x''",
    "CREATE INDEX IF NOT EXISTS record_versions ON entry (versions) WHERE versions <> 1",
    "CREATE INDEX IF NOT EXISTS record_change ON entry (change)",
)
"""Indexes for readers, created once the index is complete, which is faster than row by row."""
