"""The tables of the index. Another number, and the index is made anew."""

VERSION = 1

SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE record (
    id              INTEGER PRIMARY KEY,
    identifier      TEXT NOT NULL UNIQUE,
    datestamp       TEXT NOT NULL,
    title           TEXT NOT NULL,
    sets            TEXT NOT NULL,     -- JSON list
    deleted         INTEGER NOT NULL,
    curated         INTEGER NOT NULL,
    upstream_newer  INTEGER NOT NULL,
    current_version TEXT NOT NULL,
    versions        INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    generation      INTEGER NOT NULL   -- of the last reindex that saw it
);
CREATE INDEX record_deleted ON record (identifier) WHERE deleted;
CREATE INDEX record_curated ON record (identifier) WHERE curated;
CREATE INDEX record_upstream_newer ON record (identifier) WHERE upstream_newer;

CREATE TABLE record_set (
    set_spec   TEXT NOT NULL,
    identifier TEXT NOT NULL,
    PRIMARY KEY (set_spec, identifier)
) WITHOUT ROWID;
CREATE INDEX record_set_identifier ON record_set (identifier, set_spec);

CREATE TABLE unsettled (identifier TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE problem (path TEXT PRIMARY KEY, sentence TEXT NOT NULL) WITHOUT ROWID;

CREATE TRIGGER record_counted AFTER INSERT ON record BEGIN
    UPDATE about SET value = value + 1 WHERE key = 'records';
END;
CREATE TRIGGER record_uncounted AFTER DELETE ON record BEGIN
    UPDATE about SET value = value - 1 WHERE key = 'records';
END;

INSERT INTO about VALUES ('records', 0), ('generation', 1), ('complete', 0);
"""
