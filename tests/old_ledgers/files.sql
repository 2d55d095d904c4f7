-- .silo/files.sqlite
PRAGMA journal_mode = delete;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
CREATE TABLE done (choice TEXT, identifier TEXT, revision INTEGER, PRIMARY KEY (choice, identifier)) WITHOUT ROWID;
INSERT INTO "done" VALUES('all','a:1',3);
COMMIT;
