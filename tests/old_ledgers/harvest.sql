-- .silo/harvest.sqlite
PRAGMA journal_mode = wal;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE endpoints (
    base_url TEXT PRIMARY KEY, quirks TEXT NOT NULL DEFAULT '{}',
    rest_until TEXT, rest_status INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "endpoints" VALUES('http://repo.example/oai','{}','2026-11-28T21:13:31.123456+00:00',503);
CREATE TABLE jobs (
    id TEXT PRIMARY KEY, request TEXT NOT NULL UNIQUE, base_url TEXT NOT NULL,
    said TEXT NOT NULL DEFAULT '', traffic TEXT NOT NULL DEFAULT '[0, 0, 0]'
);
INSERT INTO "jobs" VALUES('20261121T211331.123456Z','request','http://repo.example/oai','the endpoint is down','[0, 0, 0]');
CREATE TABLE listed (
    list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE, digests BLOB NOT NULL
);
INSERT INTO "listed" VALUES(1,X'3132333435363738');
CREATE TABLE lists (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    what TEXT NOT NULL, facts TEXT NOT NULL
);
INSERT INTO "lists" VALUES(1,'20261121T211331.123456Z','{"metadata_prefix": "oai_dc", "set_spec": "a", "from_": "2010-01-01", "until": null, "update": true}','{"promised": 99, "response_date": "2026-11-21T21:13:31.123456+00:00", "begun": true, "single": false, "settled": null, "repairs": [], "remarks": [], "seconds": 0.0}');
INSERT INTO "lists" VALUES(2,'20261121T211331.123456Z','{"metadata_prefix": "pmc", "set_spec": null, "from_": null, "until": null, "update": false}','{"promised": null, "response_date": null, "begun": false, "single": false, "settled": null, "repairs": [], "remarks": [], "seconds": 0.0}');
CREATE TABLE losses (
    list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
    kind TEXT NOT NULL, identifier TEXT NOT NULL, reason TEXT NOT NULL, place TEXT NOT NULL
);
INSERT INTO "losses" VALUES(1,'unreachable','b','is gone','GetRecord');
CREATE TABLE windows (
    id INTEGER PRIMARY KEY, list INTEGER NOT NULL REFERENCES lists ON DELETE CASCADE,
    state TEXT NOT NULL, what TEXT NOT NULL, position TEXT, counts TEXT NOT NULL
);
INSERT INTO "windows" VALUES(1,1,'open','{"from": "2010-01-01", "until": null, "mode": "list", "relists": false, "alone": false, "restarts": 0, "note": "", "pages": 0}',NULL,'{"promised": null, "listed": 0, "new": 0, "updated": 0, "unchanged": 0, "deleted": 0, "duplicates": 0, "quarantined": 0, "unreachable": 0, "kept": 0, "left_out": 0, "stored": 0, "written": 0}');
INSERT INTO "windows" VALUES(2,2,'open','{"from": null, "until": null, "mode": "list", "relists": false, "alone": false, "restarts": 0, "note": "", "pages": 0}',NULL,'{"promised": null, "listed": 0, "new": 0, "updated": 0, "unchanged": 0, "deleted": 0, "duplicates": 0, "quarantined": 0, "unreachable": 0, "kept": 0, "left_out": 0, "stored": 0, "written": 0}');
CREATE INDEX windows_of_list ON windows (list);
CREATE INDEX listed_in_list ON listed (list);
CREATE INDEX losses_of_list ON losses (list, identifier);
COMMIT;
