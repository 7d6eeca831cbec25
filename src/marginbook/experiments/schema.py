"""The tables of the store, and how damage in them is noticed and told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

TABLES = """
CREATE TABLE IF NOT EXISTS results (
    experiment TEXT, dataset TEXT, split INTEGER, method TEXT, profile TEXT,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
    "values" TEXT NOT NULL, seconds REAL, n_rows INTEGER,
    code TEXT, data TEXT, settings TEXT, source TEXT, environment TEXT, error TEXT,
    PRIMARY KEY (experiment, dataset, split, method, profile));
CREATE TABLE IF NOT EXISTS claims (
    experiment TEXT, dataset TEXT, split INTEGER, method TEXT, profile TEXT, pid INTEGER,
    PRIMARY KEY (experiment, dataset, split, method, profile));
-- SQLite does not notice a digit that changed on the disk: the sha256 of a row does. It stands in a table of
-- its own, which a row that is replaced without it leaves, so that other versions can share a store
CREATE TABLE IF NOT EXISTS checks (
    experiment TEXT, dataset TEXT, split INTEGER, method TEXT, profile TEXT, sha256 TEXT NOT NULL,
    PRIMARY KEY (experiment, dataset, split, method, profile));
CREATE TRIGGER IF NOT EXISTS replaced AFTER UPDATE ON results BEGIN
    DELETE FROM checks WHERE experiment = old.experiment AND dataset = old.dataset AND split = old.split
        AND method = old.method AND profile = old.profile;
END;
"""
# a second run may finish the same task: the first current result stays
RECORD = """
INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (experiment, dataset, split, method, profile) DO UPDATE SET
    status = excluded.status, "values" = excluded."values", seconds = excluded.seconds,
    n_rows = excluded.n_rows, code = excluded.code, data = excluded.data, settings = excluded.settings,
    source = excluded.source, environment = excluded.environment, error = excluded.error
WHERE NOT (results.status = 'done' AND results.code = excluded.code AND results.data = excluded.data
    AND results.settings = excluded.settings)
"""
READ = """
SELECT results.*, checks.sha256 FROM results
LEFT JOIN checks USING (experiment, dataset, split, method, profile)
"""


def checksum(row: Sequence[Any]) -> str:
    """Return the sha256 of the columns of a result."""
    return hashlib.sha256(json.dumps(list(row)).encode()).hexdigest()


def is_sound(row: Sequence[Any]) -> bool:
    """Tell whether a row of `READ` is what was written; without a checksum it must at least be readable."""
    *columns, expected = row
    if expected is not None:
        return bool(checksum(columns) == expected)
    try:
        return isinstance(json.loads(columns[6]), dict) and isinstance(json.loads(columns[13]), dict)
    except (ValueError, TypeError):
        return False


def explain(message: str) -> str:
    """Return what an error of SQLite means for a store, and what to do; it follows the name of the file."""
    if "full" in message or "disk I/O" in message:
        return f"cannot be written ({message}); free some space and run again: finished tasks are kept"
    if "readonly" in message or "unable to open" in message:
        return f"cannot be written ({message}); give another with --store PATH"
    if "not a database" in message or "no such column" in message:
        return f"is not a store of results ({message}); move it away, or give another with --store PATH"
    if "malformed" in message or "UTF-8" in message:
        return f"is damaged ({message}); move it away and run again: exported results are not touched"
    if "locked" in message:
        return "is locked by another program for more than a minute; run again when that one has ended"
    return f"failed: {message}"
