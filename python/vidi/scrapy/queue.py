"""The requests of a crawl on disk: a table of SQLite, in the order in which they are to be fetched.

A row stays in the table until its request has been dealt with; handing it out does not delete it. So
after a crash everything that was not finished is still there. All changes go into one transaction,
which is always open, and count when `commit` ends it: rows that came in and rows that went out then
reach the disk together or not at all.

The rows that are next are in memory, too, so that handing out costs no query: the *front*, a heap.
Every waiting row that comes before the last one of the front is in it. Once the front has grown too
large, its later half is dropped; once it is empty, the best rows are read from the table. Handed-out
rows are skipped then: there are about as many as Scrapy has requests in progress.

    table   [x x o o o o o o o o o …]    x handed out, o waiting, in the order of fetching
    front        [o o o]
"""

from __future__ import annotations

import heapq
import os
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .keys import Key

FRONT_MOST = 2_048  # requests in memory
FRONT_BYTES = 16 << 20  # and their bytes
REFILL = 256  # rows that are read at a time
WAIT = 1.0  # seconds for which another process may hold the file

_APPLICATION = 0x76696469  # "vidi"
_VERSION = 1
_NUMBER_MOST = (1 << 63) - 1


class Row(NamedTuple):
    """A request on its way out, which compares by the order of fetching."""

    priority: int  # negative, so that the highest comes first
    place: int  # the number of the row; negative if the last come first
    data: bytes


def _connect(path: str) -> sqlite3.Connection:
    """The absolute path, because SQLite may take one that begins with "file:" for a URI."""
    return sqlite3.connect(os.path.abspath(path), timeout=WAIT, isolation_level=None, cached_statements=32)


class RequestQueue:
    """Rows in a file. Every error is a sqlite3.Error; nothing that was not committed counts then."""

    def __init__(self, path: str, *, fifo: bool = False, first: int = 1) -> None:
        """Opens or makes the file. Rows get numbers above those in the table, from `first` on at least."""
        self.path = path
        self._sign = 1 if fifo else -1
        self._front: list[Row] = []
        self._front_bytes = 0
        self._end: tuple[int, int] | None = None  # rows from here on are not in the front; None: there are none
        self._out: set[int] = set()  # rows that were handed out
        self._db = _connect(path)
        try:
            self._prepare(fifo)
            (self.rows, last) = self._one("SELECT COUNT(*), MAX(id) FROM requests")
        except BaseException:
            self._db.close()
            raise
        self.committed = int(self.fact("last") or 0)  # the highest number of all rows that were ever committed
        self.last = max(last or 0, first - 1, self.committed)
        if self.rows:
            self._end = (-_NUMBER_MOST - 1, 0)

    def _one(self, question: str) -> tuple[int, ...]:
        row: tuple[int, ...] = self._db.execute(question).fetchone()
        return row

    def _prepare(self, fifo: bool) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("PRAGMA journal_size_limit = 67108864")
        self._db.execute("BEGIN IMMEDIATE")  # fails if another process is in such a transaction
        (version,) = self._one("PRAGMA user_version")
        (application,) = self._one("PRAGMA application_id")
        if (application, version) not in ((0, 0), (_APPLICATION, _VERSION)):
            raise sqlite3.DatabaseError("it was made by another program, or by a later version of vidi")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, key, "
            "data BLOB NOT NULL)"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT)")
        # Keys of rows that came and went in the last transaction, for a crash before they are in the set.
        self._db.execute("CREATE TABLE IF NOT EXISTS brief (id INTEGER PRIMARY KEY, key NOT NULL)")
        # The index has the order of fetching, so that reading the next rows never sorts.
        wanted, other, direction = ("fifo", "lifo", "ASC") if fifo else ("lifo", "fifo", "DESC")
        self._db.execute(f"DROP INDEX IF EXISTS {other}")
        self._db.execute(f"CREATE INDEX IF NOT EXISTS {wanted} ON requests (priority DESC, id {direction})")
        self._next = f"SELECT id, priority, data FROM requests ORDER BY priority DESC, id {direction} LIMIT ?"
        self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {_VERSION}")
        self._end_transaction()

    # ---- rows come in ----

    def push(self, priority: int, key: Key | None, data: bytes) -> int:
        """Adds a row and returns its number."""
        self.insert(self.last + 1, priority, key, data)
        return self.last

    def insert(self, number: int, priority: int, key: Key | None, data: bytes) -> None:
        """Adds a row with a number that no row has had."""
        priority = max(-_NUMBER_MOST, min(priority, _NUMBER_MOST))  # what a column can hold
        self._db.execute("INSERT INTO requests VALUES (?, ?, ?, ?)", (number, priority, key, data))
        self.last = max(self.last, number)
        self.rows += 1
        row = Row(-priority, self._sign * number, data)
        if self._end is None or row[:2] < self._end:
            heapq.heappush(self._front, row)
            self._front_bytes += len(data)
            if len(self._front) > FRONT_MOST or self._front_bytes > FRONT_BYTES:
                self._shrink()

    def _shrink(self) -> None:
        """Drops the later half of the front; the rows are still in the table."""
        self._front.sort()
        half = len(self._front) // 2
        self._end = self._front[half][:2]
        del self._front[half:]
        self._front_bytes = sum(len(row.data) for row in self._front)

    # ---- rows go out ----

    def __len__(self) -> int:
        """The number of rows that wait."""
        return self.rows - len(self._out)

    def pop(self) -> tuple[int, bytes] | None:
        """Hands out the next row: its number and data. It stays in the table until `delete`."""
        if not self._front:
            if self._end is None:
                return None
            self._refill()
            if not self._front:
                return None
        row = heapq.heappop(self._front)
        self._front_bytes -= len(row.data)
        number = self._sign * row.place
        self._out.add(number)
        return number, row.data

    def _refill(self) -> None:
        """Reads the next rows into the empty front."""
        most = REFILL + len(self._out)
        read = 0
        last = self._end
        rows = self._db.execute(self._next, (most,))
        for number, priority, data in rows:
            read += 1
            last = (-priority, self._sign * number)
            if number not in self._out:
                self._front.append(Row(*last, data))  # in order, so it is a heap
                self._front_bytes += len(data)
                if self._front_bytes > FRONT_BYTES // 2:
                    break
        else:
            if read < most:
                last = None  # those were all
        rows.close()
        self._end = (last[0], last[1] + 1) if last else None

    def delete(self, numbers: Iterable[int]) -> None:
        """Removes rows that were handed out."""
        gone = list(numbers)
        self._db.executemany(
            "INSERT INTO brief SELECT id, key FROM requests WHERE id = ? AND key IS NOT NULL",
            [(number,) for number in gone if number > self.committed],
        )
        self._db.executemany("DELETE FROM requests WHERE id = ?", [(number,) for number in gone])
        self._out.difference_update(gone)
        self.rows -= len(gone)

    def commit(self) -> None:
        """Brings all changes to disk and begins the next transaction. All keys committed before are in the set."""
        self._db.execute("DELETE FROM brief WHERE id <= ?", (self.committed,))
        if self.committed < self.last:
            self.set_fact("last", str(self.last))
        self._end_transaction()
        self.committed = self.last

    def _end_transaction(self) -> None:
        self._db.execute("COMMIT")
        self._db.execute("BEGIN IMMEDIATE")

    # ---- for opening and closing ----

    def keys_after(self, number: int) -> Iterator[Key]:
        """The keys of the rows above that number, also of those that have come and gone."""
        rows = "SELECT key FROM requests WHERE id > :number AND key IS NOT NULL"
        brief = "SELECT key FROM brief WHERE id > :number"
        for (key,) in self._db.execute(f"{rows} UNION ALL {brief}", {"number": number}):
            yield key

    def forget_brief(self) -> None:
        """For the end of a crawl, when all keys are in the set: a new epoch must not find them here."""
        if self._db.execute("DELETE FROM brief").rowcount:
            self._end_transaction()

    def fact(self, name: str) -> str | None:
        """What `set_fact` has said about the file."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set_fact(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Closes the file; changes that were not committed are gone."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._db.close()


def count_rows(path: str) -> int:
    """How many rows there are in a file, which need not exist."""
    if not os.path.exists(path):
        return 0
    database = _connect(path)
    try:
        (tables,) = database.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'requests'").fetchone()
        (rows,) = database.execute("SELECT COUNT(*) FROM requests").fetchone() if tables else (0,)
    except sqlite3.Error as error:
        raise OSError(f"cannot read {path}: {error}") from error
    finally:
        database.close()
    return int(rows)
