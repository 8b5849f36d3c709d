-- How far somebody has looked. A mark, not an event: moving it changes no history.
CREATE TABLE viewers(
  viewer     TEXT PRIMARY KEY CHECK(length(viewer) BETWEEN 1 AND 64),
  through_id INTEGER NOT NULL CHECK(through_id >= 0),
  looked_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
