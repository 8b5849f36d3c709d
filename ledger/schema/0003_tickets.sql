-- Questions to a person: state beside the events that tell its story.
CREATE TABLE tickets(
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  status          INTEGER NOT NULL CHECK(status BETWEEN 0 AND 3), -- as recorded: pending answered expired cancelled
  stream          TEXT NOT NULL,
  asked_by        TEXT NOT NULL,
  question        TEXT NOT NULL,
  options         TEXT,
  context         TEXT,
  urgency         INTEGER NOT NULL CHECK(urgency BETWEEN 0 AND 2),
  default_answer  TEXT,
  reversible      INTEGER NOT NULL CHECK(reversible IN (0, 1)),
  idempotency_key TEXT,
  digest          BLOB NOT NULL CHECK(length(digest) = 32),
  card            TEXT NOT NULL,                                  -- equal for tickets that may be answered as one
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  answer          TEXT,
  answered_by     TEXT CHECK(answered_by IN ('human', 'default')),
  answered_at     INTEGER,
  delivered       INTEGER NOT NULL DEFAULT 0 CHECK(delivered IN (0, 1)), -- the asker was handed the answer
  revoked         INTEGER NOT NULL DEFAULT 0 CHECK(revoked IN (0, 1))    -- and is to be told that it was taken back
) STRICT;
CREATE UNIQUE INDEX tickets_key ON tickets(asked_by, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX tickets_pending  ON tickets(expires_at)  WHERE status = 0;
CREATE INDEX tickets_answered ON tickets(answered_at) WHERE status = 1;
CREATE INDEX tickets_short    ON tickets(substr(id, -4));
CREATE TABLE ticket_events(
  ticket   INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  PRIMARY KEY(ticket, event_id)
) STRICT, WITHOUT ROWID;
