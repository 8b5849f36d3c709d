-- How far somebody has looked. A mark, not an event: moving it changes no history.
CREATE TABLE viewers(
  viewer     TEXT PRIMARY KEY CHECK(length(viewer) BETWEEN 1 AND 64),
  through_id INTEGER NOT NULL CHECK(through_id >= 0),
  looked_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The newest key events of each workspace, as one small row kept by the writer.
-- An index by workspace has a last page of its own for every workspace, and each
-- commit had to write them all. Its ids: keys.go.
CREATE TABLE keys(
  workspace INTEGER PRIMARY KEY,
  ids       BLOB NOT NULL CHECK(length(ids) > 0)
) STRICT;
DROP INDEX events_key_ws;

-- Only the monthly sweep asked by time, and it can look at every slot there is.
DROP INDEX slots_at;
