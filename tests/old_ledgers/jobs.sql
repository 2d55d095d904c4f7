-- curation/jobs/ledger.sqlite
PRAGMA journal_mode = delete;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
CREATE TABLE job (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    arguments TEXT NOT NULL,
    agent TEXT NOT NULL,
    made TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    wish TEXT NOT NULL DEFAULT '',
    sent INTEGER NOT NULL DEFAULT 0,
    begun TEXT NOT NULL DEFAULT '',
    ended TEXT NOT NULL DEFAULT '',
    crashes INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER,
    step TEXT NOT NULL DEFAULT '',
    counts TEXT NOT NULL DEFAULT '{}',
    text TEXT NOT NULL DEFAULT '',
    report TEXT NOT NULL DEFAULT '{}',
    sentence TEXT NOT NULL DEFAULT '',
    problems INTEGER NOT NULL DEFAULT 0,
    mark TEXT NOT NULL DEFAULT '{}',
    revision INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID
;
INSERT INTO "job" VALUES('20261121T222100Z-0a1b2c','audit','Audit','{"share": 0.5}','ada','2026-11-22T22:52:46.921899','running','',0,'2026-11-22T22:52:46.934213','',0,3,10,'reading','{}','','{}','',1,'{"place": "oa"}',3);
INSERT INTO "job" VALUES('20261121T222101Z-0a1b2d','change','Types','{"job": "x"}','bob','2026-11-22T22:52:46.969958','queued','',0,'','',0,0,NULL,'','{}','','{}','',0,'{}',0);
CREATE TABLE ledger (id TEXT NOT NULL);
INSERT INTO "ledger" VALUES('e4105074ffbd7486b616df656862f424');
CREATE TABLE problem (
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    identifier TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID
;
INSERT INTO "problem" VALUES('20261121T222100Z-0a1b2c',1,'a:1','is gone');
COMMIT;
