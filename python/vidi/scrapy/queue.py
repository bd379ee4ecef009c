"""The requests of a crawl on disk: a table of SQLite, in the order in which they will be fetched.

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

Such a front, with the place in the table where it ends, is a *lane*. A queue that is fair to download
slots (slots.py) has a lane per slot, and its index begins with the slot; otherwise there is one lane
for all. Lanes are no more than a cache: if there are too many, some are dropped, and a *round* through
the names of the slots in the table, in their order, finds them again.
"""

from __future__ import annotations

import heapq
import os
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .keys import Key
from .slots import Turns

FRONT_MOST = 2_048  # requests in memory, in all lanes together
FRONT_BYTES = 16 << 20  # and their bytes
LANES_MOST = 2_048  # lanes in memory
REFILL = 256  # rows that are read at a time
WAIT = 1.0  # seconds for which another process may hold the file

_APPLICATION = 0x76696469  # "vidi"
_VERSION = 2
_NUMBER_MOST = (1 << 63) - 1
_BEGIN = (-_NUMBER_MOST - 1, 0, 0)  # comes before all rows


class Row(NamedTuple):
    """A request on its way out, which compares by the order of fetching."""

    priority: int  # negative, so that the highest comes first
    turn: int  # 0, or for a start request a number above 0: these come last
    place: int  # the number of the row; negative if the last come first
    data: bytes


class Lane:
    """Rows that are next, and where the others begin."""

    __slots__ = ("front", "end")

    def __init__(self, end: tuple[int, int, int] | None) -> None:
        self.front: list[Row] = []  # a heap
        self.end = end  # rows from here on are not in the front; None: there are none


def _connect(path: str) -> sqlite3.Connection:
    """The absolute path, because SQLite may take one that begins with "file:" for a URI."""
    return sqlite3.connect(os.path.abspath(path), timeout=WAIT, isolation_level=None, cached_statements=32)


class RequestQueue:
    """Rows in a file. Every error is a sqlite3.Error; nothing that was not committed counts then."""

    def __init__(self, path: str, *, fifo: bool = False, first: int = 1, turns: Turns | None = None) -> None:
        """Opens or makes the file. Rows get numbers above those in the table, from `first` on at least.

        With `turns`, the next row is the best one of the slot whose turn it is; without, the best of all.
        """
        self.path = path
        self._sign = 1 if fifo else -1
        self._is_fair = turns is not None
        self._turns = Turns(lambda slot: 0) if turns is None else turns
        self._lanes: dict[str, Lane] = {}
        self._front_rows = self._front_bytes = 0  # of all lanes
        self._is_apart = False  # there may be slots that have waiting rows and no lane
        self._is_left_out = False  # a slot came to be without a lane since the round began
        self._last_slot: str | int = 0  # how far the round is; a number comes before all names
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
        if self.rows and self._is_fair:
            self._is_apart = True
        elif self.rows:
            self._add_lane("", _BEGIN)

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
            raise sqlite3.DatabaseError("it was made by another program, or by another version of vidi")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, "
            "turn INTEGER NOT NULL, slot NOT NULL, key, data BLOB NOT NULL)"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT)")
        # Keys of rows that came and went in the last transaction, for a crash before they are in the set.
        self._db.execute("CREATE TABLE IF NOT EXISTS brief (id INTEGER PRIMARY KEY, key NOT NULL)")
        # The index has the order of fetching, so that reading the next rows never sorts.
        order = f"priority DESC, turn, id {'ASC' if fifo else 'DESC'}"
        wanted = ("fair_" if self._is_fair else "") + ("fifo" if fifo else "lifo")
        for other in {"fifo", "lifo", "fair_fifo", "fair_lifo"} - {wanted}:
            self._db.execute(f"DROP INDEX IF EXISTS {other}")
        columns, which = ("slot, ", "slot = ?") if self._is_fair else ("", "? = ''")
        self._db.execute(f"CREATE INDEX IF NOT EXISTS {wanted} ON requests ({columns}{order})")
        self._next = f"SELECT id, priority, turn, data FROM requests WHERE {which} ORDER BY {order}"
        self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {_VERSION}")
        self._end_transaction()

    # ---- rows come in ----

    def push(self, priority: int, key: Key | None, data: bytes, start: int = 0, slot: str = "") -> int:
        """Adds a row and returns its number."""
        self.insert(self.last + 1, priority, key, data, start, slot)
        return self.last

    def insert(
        self, number: int, priority: int, key: Key | None, data: bytes, start: int = 0, slot: str = ""
    ) -> None:
        """Adds a row with a number that no row has had.

        `start`: 0, or a start request, which comes after all others of its priority. Among these the earliest comes
        first for 1, the latest for -1.
        """
        priority = max(-_NUMBER_MOST, min(priority, _NUMBER_MOST))  # what a column can hold
        turn = number if start > 0 else _NUMBER_MOST - number if start else 0
        self._db.execute("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?)", (number, priority, turn, slot, key, data))
        self.last = max(self.last, number)
        self.rows += 1
        lane = self._lane_for(slot if self._is_fair else "")
        row = Row(-priority, turn, self._sign * number, data)
        if lane is not None and (lane.end is None or row[:3] < lane.end):
            self._keep(lane, row)
            if self._is_over(FRONT_MOST, FRONT_BYTES):
                self._shrink()

    def _lane_for(self, slot: str) -> Lane | None:
        """The lane of a slot that has just got a row. None if it has none for now."""
        lane = self._lanes.get(slot)
        if lane is None and not self._is_apart and len(self._lanes) < LANES_MOST:
            return self._add_lane(slot, None)
        if lane is None:
            self._is_apart = self._is_left_out = True
        return lane

    def _add_lane(self, slot: str, end: tuple[int, int, int] | None) -> Lane:
        lane = self._lanes[slot] = Lane(end)
        self._turns.add(slot)
        return lane

    def _remove_lane(self, slot: str) -> None:
        self._turns.remove(slot)
        lane = self._lanes.pop(slot)
        self._front_rows -= len(lane.front)
        self._front_bytes -= sum(len(row.data) for row in lane.front)

    def _keep(self, lane: Lane, row: Row) -> None:
        heapq.heappush(lane.front, row)
        self._front_rows += 1
        self._front_bytes += len(row.data)

    def _is_over(self, rows: int, size: int) -> bool:
        return self._front_rows > rows or self._front_bytes > size

    def _shrink(self) -> None:
        """Drops the later half of each front; the rows are still in the table."""
        self._front_rows = self._front_bytes = 0
        for lane in self._lanes.values():
            if lane.front:
                lane.front.sort()
                half = len(lane.front) // 2
                lane.end = lane.front[half][:3]
                del lane.front[half:]
                self._front_rows += half
                self._front_bytes += sum(len(row.data) for row in lane.front)

    # ---- rows go out ----

    def __len__(self) -> int:
        """The number of rows that wait."""
        return self.rows - len(self._out)

    def pop(self) -> tuple[int, bytes] | None:
        """Hands out the next row: its number and data. It stays in the table until `delete`."""
        slot = self._next_slot() if len(self) else None
        if slot is None:
            return None
        lane = self._lanes[slot]  # a lane always has waiting rows, in its front or in the table
        if not lane.front:
            self._refill(slot, lane)
        row = heapq.heappop(lane.front)
        self._front_rows -= 1
        self._front_bytes -= len(row.data)
        if not lane.front and lane.end is None:
            self._remove_lane(slot)
        else:
            self._turns.served(slot)
        number = self._sign * row.place
        self._out.add(number)
        return number, row.data

    def _next_slot(self) -> str | None:
        """The slot whose turn it is. Before any has a second turn, the round goes on."""
        rounds = 0
        while (slot := self._turns.idle()) is None and self._is_apart and rounds < 2:  # the first one began somewhere
            rounds += not self._read_slot()
        return slot if slot is not None else self._turns.least_busy()

    def _read_slot(self) -> bool:
        """Makes a lane for the next slot in the table. False if the round is over."""
        question = "SELECT slot FROM requests WHERE slot > ? ORDER BY slot LIMIT 1"
        found = self._db.execute(question, (self._last_slot,)).fetchone()
        if found is None:
            self._is_apart, self._is_left_out, self._last_slot = self._is_left_out, False, 0
            return False
        (self._last_slot,) = (slot,) = found
        if slot not in self._lanes:
            if len(self._lanes) >= LANES_MOST:
                self._remove_lane(self._turns.last_served())
                self._is_left_out = True
            self._refill(slot, self._add_lane(slot, _BEGIN))
            if not self._lanes[slot].front:  # all of its rows were handed out
                self._remove_lane(slot)
        return True

    def _refill(self, slot: str, lane: Lane) -> None:
        """Reads the next rows into an empty front."""
        while self._is_over(FRONT_MOST // 2, FRONT_BYTES // 2):
            self._shrink()
        wanted = max(1, min(REFILL, FRONT_MOST // (2 * len(self._lanes))))
        lane.end = None
        rows = self._db.execute(self._next, (slot,))
        for number, priority, turn, data in rows:
            row = Row(-priority, turn, self._sign * number, data)
            if number in self._out:
                continue
            if len(lane.front) == wanted or (lane.front and self._front_bytes > FRONT_BYTES // 2):
                lane.end = row[:3]
                break
            self._keep(lane, row)
        rows.close()

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
