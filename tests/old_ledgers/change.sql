-- curation/jobs/20261122T225247Z-324d8e.sqlite
PRAGMA journal_mode = delete;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
CREATE TABLE job (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "job" VALUES('kind','"rules"');
INSERT INTO "job" VALUES('title','"Types"');
CREATE TABLE record (
    number INTEGER PRIMARY KEY,
    identifier TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    given TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    cursor TEXT NOT NULL DEFAULT '',
    made INTEGER NOT NULL DEFAULT 0,
    mark_before TEXT NOT NULL DEFAULT '',
    mark_after TEXT NOT NULL DEFAULT '',
    state_before TEXT,
    files BLOB,
    changed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "record" VALUES(1,'a:1','done','','','2','1',1,'b','a','s',X'7801AB56AA50B252508A293530484B53D25150AA0472F34A73726A015E00076E',2);
INSERT INTO "record" VALUES(2,'a:2','begun','{"n": 1}','','','',0,'','',NULL,NULL,0);
INSERT INTO "record" VALUES(3,'a:3','planned','','','','',0,'','',NULL,NULL,0);
CREATE INDEX record_state ON record (state, number);
COMMIT;
