"""A plain MCP stdio server on the Python standard library.

It stands for what a careful person writes in an afternoon: one tool,
report_done, one autocommit INSERT a call, and the sqlite3 module's defaults
(rollback journal DELETE, synchronous FULL) with a busy time-out of 5 seconds.
Every workspace runs its own copy, and all of them share one file.

    python3 peer.py /path/to/ledger.db
"""

import json
import sqlite3
import sys
import time

COLUMNS = ("actor", "type", "object_id", "outcome", "file", "metrics", "injectable")

TOOL = {
    "name": "report_done",
    "description": "Leave a receipt: who did what, with what outcome.",
    "inputSchema": {
        "type": "object",
        "required": ["actor"],
        "additionalProperties": False,
        "properties": {
            "actor": {"type": "string", "maxLength": 128},
            "type": {"type": "string", "maxLength": 64},
            "object_id": {"type": "string", "maxLength": 128},
            "outcome": {"type": "string", "maxLength": 512},
            "file": {"type": "string", "maxLength": 4096},
            "metrics": {"type": "object"},
            "injectable": {"type": "boolean"},
        },
    },
}


def open_ledger(path):
    db = sqlite3.connect(path, timeout=5.0, isolation_level=None)
    db.execute(
        "CREATE TABLE IF NOT EXISTS events(id INTEGER PRIMARY KEY, at INTEGER NOT NULL,"
        " actor TEXT NOT NULL, type TEXT NOT NULL, object_id TEXT, outcome TEXT,"
        " file TEXT, metrics TEXT, injectable INTEGER NOT NULL)"
    )
    return db


def report_done(db, args):
    unknown = sorted(set(args) - set(COLUMNS))
    if unknown:
        raise ValueError("unknown field: " + ", ".join(unknown))
    if not isinstance(args.get("actor"), str) or not args["actor"]:
        raise ValueError("actor: required")
    at = time.time_ns() // 1_000_000
    metrics = args.get("metrics")
    row = db.execute(
        "INSERT INTO events(at, actor, type, object_id, outcome, file, metrics, injectable)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        (
            at,
            args["actor"],
            args.get("type", "done"),
            args.get("object_id"),
            args.get("outcome"),
            args.get("file"),
            None if metrics is None else json.dumps(metrics),
            int(args.get("injectable", True)),
        ),
    )
    return {"event_id": row.lastrowid, "recorded_at": at}


def answer(db, message):
    method = message.get("method")
    if method == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "peer", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        try:
            facts = report_done(db, message["params"].get("arguments") or {})
        except (ValueError, sqlite3.Error) as problem:
            return {"content": [{"type": "text", "text": str(problem)}], "isError": True}
        return {
            "content": [{"type": "text", "text": json.dumps(facts)}],
            "structuredContent": facts,
        }
    return {}


def main():
    db = open_ledger(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(db, message)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


main()
