PRAGMA application_id = 0x53545752; -- 'STWR'

-- Every short text that repeats, once.
CREATE TABLE names(
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE CHECK(length(name) BETWEEN 1 AND 128)
) STRICT;
CREATE TRIGGER names_insert BEFORE INSERT ON names
  WHEN NEW.id <= (SELECT max(id) FROM names) OR EXISTS(SELECT 1 FROM names WHERE name = NEW.name)
  BEGIN SELECT RAISE(ABORT, 'names are append-only'); END;
CREATE TRIGGER names_update BEFORE UPDATE ON names BEGIN SELECT RAISE(ABORT, 'names are append-only'); END;
CREATE TRIGGER names_delete BEFORE DELETE ON names BEGIN SELECT RAISE(ABORT, 'names are append-only'); END;

-- What happened. The id is given by the writer, dense, and the only order.
CREATE TABLE events(
  id          INTEGER PRIMARY KEY CHECK(id > 0),
  at          INTEGER NOT NULL,            -- milliseconds UTC, the wall clock at commit
  said_at     INTEGER,                     -- when it was said, if earlier
  actor       INTEGER NOT NULL REFERENCES names,
  type        INTEGER NOT NULL REFERENCES names,
  object      INTEGER REFERENCES names,
  object_type INTEGER REFERENCES names,
  workspace   INTEGER REFERENCES names,
  session     INTEGER REFERENCES names,
  caller      INTEGER REFERENCES names,
  injectable  INTEGER NOT NULL CHECK(injectable IN (0, 1)),
  source      INTEGER NOT NULL DEFAULT 0 CHECK(source BETWEEN 0 AND 4),
  outcome     TEXT CHECK(length(outcome) <= 512),
  file        TEXT CHECK(length(file) <= 4096),
  metrics     TEXT CHECK(length(metrics) <= 1024),
  data        TEXT CHECK(length(data) <= 16384),
  hash        BLOB NOT NULL CHECK(length(hash) = 32)
) STRICT;
-- INSERT OR REPLACE deletes without the delete trigger, so the insert itself is refused.
CREATE TRIGGER events_insert BEFORE INSERT ON events
  WHEN NEW.id <= (SELECT max(id) FROM events)
  BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE INDEX events_key    ON events(injectable) WHERE injectable = 1;
CREATE INDEX events_key_ws ON events(workspace)  WHERE injectable = 1 AND workspace IS NOT NULL;

-- Maintained by the writer, recomputable from events (verify does it). Name 0 means none.
CREATE TABLE head(
  one        INTEGER PRIMARY KEY CHECK(one = 1),
  last_id    INTEGER NOT NULL,
  last_key   INTEGER NOT NULL,
  hash       BLOB NOT NULL CHECK(length(hash) = 32),
  unresolved INTEGER NOT NULL CHECK(unresolved >= 0)
) STRICT;
INSERT INTO head VALUES(1, 0, 0, zeroblob(32), 0);

CREATE TABLE lanes(
  actor     INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  last_id   INTEGER NOT NULL,
  last_at   INTEGER NOT NULL,
  n         INTEGER NOT NULL,
  bucket    INTEGER NOT NULL,                         -- last_at in units of two minutes, the newest in recent
  recent    BLOB NOT NULL CHECK(length(recent) = 30), -- events in each of the last 15 buckets, uint16, newest first
  PRIMARY KEY(actor, workspace)
) STRICT, WITHOUT ROWID;
CREATE INDEX lanes_last    ON lanes(last_id);
CREATE INDEX lanes_ws_last ON lanes(workspace, last_id);

CREATE TABLE failures(
  actor     INTEGER NOT NULL,
  object    INTEGER NOT NULL,
  workspace INTEGER NOT NULL,
  first_id  INTEGER NOT NULL,
  last_id   INTEGER NOT NULL,
  n         INTEGER NOT NULL,
  PRIMARY KEY(actor, object, workspace)
) STRICT, WITHOUT ROWID;
CREATE INDEX failures_last    ON failures(last_id);
CREATE INDEX failures_ws_last ON failures(workspace, last_id);

CREATE TABLE focus(                                   -- workspace -1: of all, the newest
  workspace INTEGER PRIMARY KEY,
  event_id  INTEGER NOT NULL
) STRICT;

CREATE TABLE tallies(                                 -- unresolved per workspace, handoffs per status
  what TEXT NOT NULL,
  part INTEGER NOT NULL,
  n    INTEGER NOT NULL,
  PRIMARY KEY(what, part)
) STRICT, WITHOUT ROWID;

-- Exactly once: the last call of each of a bridge's slots, and its reply.
CREATE TABLE slots(
  bridge BLOB NOT NULL,
  slot   INTEGER NOT NULL CHECK(slot BETWEEN 0 AND 31),
  seq    INTEGER NOT NULL,
  digest BLOB NOT NULL CHECK(length(digest) = 32),
  reply  TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY(bridge, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX slots_at ON slots(at);
CREATE TABLE spooled(file TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- What is still to be done: state beside the events that tell its story.
CREATE TABLE handoffs(
  seq               INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  target            TEXT NOT NULL,
  status            INTEGER NOT NULL CHECK(status BETWEEN 0 AND 5), -- pending claimed running done failed cancelled
  instruction       TEXT NOT NULL,
  attachments       TEXT,
  context           TEXT,
  idempotency_key   TEXT NOT NULL UNIQUE,
  digest            BLOB NOT NULL CHECK(length(digest) = 32),
  source_session_id TEXT,
  caller            TEXT,
  worker_session_id TEXT,
  fence             INTEGER NOT NULL DEFAULT 0,
  outcome           TEXT,
  metrics           TEXT,
  error             TEXT,
  created_at        INTEGER NOT NULL,
  claimed_at        INTEGER,
  running_at        INTEGER,
  finished_at       INTEGER
) STRICT;
-- One index with the status, since each change of a status moves the row in it; lists merge its runs.
CREATE INDEX handoffs_target_status ON handoffs(target, status, seq);
CREATE INDEX handoffs_short         ON handoffs(substr(id, -4));
CREATE TABLE handoff_events(
  handoff  INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  PRIMARY KEY(handoff, event_id)
) STRICT, WITHOUT ROWID;

-- Followers read the events behind the writer; through_id is how far each has come.
CREATE TABLE followers(name TEXT PRIMARY KEY, through_id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO followers VALUES('search', 0);
-- Contentless: the text is in events. One language's words cut, the other's characters apart.
CREATE VIRTUAL TABLE search USING fts5(body, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2');

-- What was taken over from an older ledger, so that a second run takes nothing twice.
CREATE TABLE imported(digest BLOB PRIMARY KEY CHECK(length(digest) = 32), event_id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
