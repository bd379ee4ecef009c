"""Faults that are planted into the scheduler, so that the tests prove that they would notice them.

They are planted from outside, through what the scheduler uses: the engine's set of requests in progress, the set of
URLs, and SQLite. So they do not depend on how the scheduler is written.
"""
import gc
import sqlite3

from scrapy.core import engine as scrapy_engine

import vidi

SLOT = "Slot" if hasattr(scrapy_engine, "Slot") else "_Slot"  # since Scrapy 2.13


def slot_class():
    """What the engine keeps its requests in progress in."""
    return getattr(scrapy_engine, SLOT)


def plant(name, journal):
    """Plants the fault of this name into the running process; None plants nothing."""
    if name is not None:
        globals()["plant_" + name](journal)


# ---- a request's row is deleted when it is handed out ----

class Unseen(set):
    """A set that seems empty to all who ask for what is in it."""

    def __contains__(self, _):
        return False

    def __iter__(self):
        return iter(())


def plant_deletes_at_once(_):
    """To the scheduler, every request has left the engine as soon as it is handed out."""
    class Slot(slot_class()):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.inprogress = Unseen()
    setattr(scrapy_engine, SLOT, Slot)


# ---- the set of URLs is committed before the transaction ----

def open_sets():
    """Sets in folders that the scheduler or anything below it refers to."""
    level, known, found = [o for o in gc.get_objects() if str(type(o).__module__).startswith("vidi.scrapy")], set(), []
    for _ in range(4):
        level = [o for o in gc.get_referents(*level) if id(o) not in known]
        known.update(map(id, level))
        found += [o for o in level if isinstance(o, vidi.Set) and not o.closed and o.path]
    return found


def plant_commits_first(journal):
    """What is staged in the set is committed before a transaction deletes something or is committed."""
    real_statement, sets = journal.statement, []

    def statement(text):
        if text.upper().startswith(("DELETE", "COMMIT")):
            sets.extend(() if sets else open_sets())
            for found in sets:
                found.commit()
        real_statement(text)
    journal.statement = statement


# ---- rows are not written ----

class ForgetfulCursor(sqlite3.Cursor):
    """Forgets every fourth row that is to be inserted."""

    inserted = 0

    def is_forgotten(self):
        ForgetfulCursor.inserted += 1
        return ForgetfulCursor.inserted % 4 == 0

    def execute(self, statement, *arguments):
        if statement.lstrip().upper().startswith("INSERT") and self.is_forgotten():
            return self
        return super().execute(statement, *arguments)

    def executemany(self, statement, rows):
        if statement.lstrip().upper().startswith("INSERT"):
            rows = [row for row in rows if not self.is_forgotten()]
        return super().executemany(statement, rows)


class ForgetfulConnection(sqlite3.Connection):
    """A connection with such cursors."""

    def cursor(self, factory=ForgetfulCursor):
        return super().cursor(factory)

    def execute(self, *arguments):
        return self.cursor().execute(*arguments)

    def executemany(self, *arguments):
        return self.cursor().executemany(*arguments)


def plant_forgets_rows(_):
    """Some of the buffered rows never reach the table."""
    connect = sqlite3.connect
    sqlite3.connect = lambda *arguments, **options: connect(*arguments, **{**options, "factory": ForgetfulConnection})
