-- curation/exports/2ecc627a1f5f3715e43e431f.sqlite
PRAGMA journal_mode = wal;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "about" VALUES('key','files /tmp/x');
INSERT INTO "about" VALUES('shown','the directory x');
CREATE TABLE created (
    run TEXT NOT NULL,
    identifier TEXT NOT NULL,
    uri TEXT NOT NULL,
    UNIQUE (run, uri)
);
INSERT INTO "created" VALUES('20261122T225248Z-afaa21','a:1','u');
CREATE TABLE deposit (
    number INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    identifier TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT NOT NULL,
    files TEXT NOT NULL,
    withdrawal INTEGER NOT NULL,
    state TEXT NOT NULL,
    facts TEXT NOT NULL DEFAULT '{}',
    uri TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL
);
INSERT INTO "deposit" VALUES(1,'20261122T225248Z-afaa21','a:1','1','k1','f1',0,'done','{"path":"p"}','u/1','','2026-11-22T22:52:48+00:00');
INSERT INTO "deposit" VALUES(2,'20261122T225248Z-afaa21','a:2','1','k2','f2',0,'open','{}','','','2026-11-22T22:52:48+00:00');
CREATE TABLE object (
    identifier TEXT PRIMARY KEY,
    uri TEXT NOT NULL,
    version_uri TEXT NOT NULL,
    token TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT NOT NULL,
    deposits INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL,
    withdrawn_as TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "object" VALUES('a:1','u','u/1','t','1','k1',1,0,'');
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    arguments TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT NOT NULL DEFAULT '',
    how TEXT NOT NULL DEFAULT '',
    counts TEXT NOT NULL DEFAULT '{}'
);
INSERT INTO "run" VALUES(1,'20261122T225248Z-afaa21','{"jobs": 1}','2026-11-22T22:52:48+00:00','2026-11-22T22:52:48+00:00','done','{"records": 1}');
CREATE TABLE sha512 (
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha512 TEXT NOT NULL,
    PRIMARY KEY (sha256, size)
) WITHOUT ROWID;
CREATE TABLE version (
    number INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL,
    version TEXT NOT NULL,
    key TEXT NOT NULL,
    files TEXT NOT NULL,
    version_uri TEXT NOT NULL,
    UNIQUE (identifier, version)
);
INSERT INTO "version" VALUES(1,'a:1','1','k1','f1','u/1');
CREATE INDEX deposit_of ON deposit (identifier, number);
CREATE INDEX deposit_unfinished ON deposit (state, number) WHERE state IN ('open', 'committing');
COMMIT;
