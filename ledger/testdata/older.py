"""Makes older ledgers with Python's own sqlite3: older.py KIND FILE."""
import json
import sqlite3
import sys

kind, path = sys.argv[1], sys.argv[2]
db = sqlite3.connect(path)

EVENTS = """CREATE TABLE events(id INTEGER PRIMARY KEY AUTOINCREMENT, ts TEXT NOT NULL, actor TEXT NOT NULL, type TEXT NOT NULL, object_id TEXT, object_type TEXT,
  workspace_id TEXT, outcome TEXT, file_path TEXT, metrics TEXT, injectable INTEGER DEFAULT 1, session_id TEXT)"""


def event(i):
    return (
        f"2025-03-{i % 28 + 1:02d}T10:00:{i % 60:02d}.250000+00:00", f"agent-{i % 5}", ["done", "failed", "progress"][i % 3], f"task-{i % 7}", "task",
        "studio", f"step {i} 下载", f"src/{i}.py", json.dumps({"tests": i, "cov": 91.5, "name": "x", "c": 1, "d": 2}), i % 2, "s1",
    )


INSERT = """INSERT INTO events(ts, actor, type, object_id, object_type, workspace_id, outcome, file_path, metrics, injectable, session_id)
  VALUES(?,?,?,?,?,?,?,?,?,?,?)"""

if kind in ("events", "both", "wal"):
    if kind == "wal":
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_autocheckpoint=0")
    db.execute(EVENTS)
    db.executemany(INSERT, [event(i) for i in range(30)])
    if kind == "both":
        db.execute("""CREATE TABLE handoffs(id TEXT PRIMARY KEY, target TEXT, status TEXT, instruction TEXT, attachments TEXT, idempotency_key TEXT UNIQUE,
          source_session_id TEXT, worker_session_id TEXT, outcome TEXT, error TEXT, created_at TEXT, claimed_at TEXT, finished_at TEXT)""")
        db.executemany("INSERT INTO handoffs VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", [
            ("h1", "studio", "pending", "export the stems", json.dumps([{"path": "/a.wav"}]), "k1", "s1", None, None, None, "2025-03-01T10:00:00Z", None, None),
            ("h2", "mastering", "done", "master it", None, "k2", "s1", "w1", "mastered", None, "2025-03-01T10:00:00Z", "2025-03-01T11:00:00Z", "2025-03-01T12:00:00Z"),
            ("h3", "dj", "failed", "plan the set", None, "k3", "s1", "w2", None, "no tracks", "2025-03-01T10:00:00Z", "2025-03-01T11:00:00Z", "2025-03-01T12:00:00Z"),
        ])
elif kind == "odd":
    # another order, other names, numbers for times, two columns nobody knows
    db.execute("CREATE TABLE Events(metrics_json TEXT, Outcome TEXT, TYPE TEXT, mood TEXT, created_at REAL, ACTOR TEXT, event_id INTEGER, colour TEXT)")
    db.executemany("INSERT INTO events VALUES(?,?,?,?,?,?,?,?)", [(None, "o" * 600, "done", "fine", 1740823200.5 + i, "a", 100 - i, None) for i in range(10)])
elif kind == "bare":
    # no id, no time; two rows alike
    db.execute("CREATE TABLE events(actor TEXT, type TEXT)")
    db.executemany("INSERT INTO events VALUES(?,?)", [("a", "done"), ("a", "done"), ("b", "note"), (None, "done"), ("", "done")])
elif kind == "large":
    db.execute(EVENTS)
    db.executemany(INSERT, (event(i) for i in range(int(sys.argv[3]))))
elif kind == "other":
    db.execute("CREATE TABLE events(starts TEXT, ends TEXT)")
db.commit()
if kind == "wal":
    import os

    os._exit(0)  # leave the write-ahead log behind, as a crash would
db.close()
