"""The table of requests that the scheduler for Scrapy keeps on disk: order, commits, bounded memory."""
import os
import random
import sqlite3

import pytest

from vidi.scrapy import queue as module
from vidi.scrapy.queue import RequestQueue, count_rows
from vidi.scrapy.slots import Turns

LANES = 4
LONG = os.environ.get("VIDI_TEST_LONG") == "1"


@pytest.fixture(name="path")
def fixture_path(tmp_path):
    return str(tmp_path / "requests.sqlite")


@pytest.fixture(autouse=True)
def fixture_small(monkeypatch):
    """With a front of eight requests, a short test goes through all of its states."""
    monkeypatch.setattr(module, "FRONT_MOST", 8)
    monkeypatch.setattr(module, "LANES_MOST", LANES)
    monkeypatch.setattr(module, "REFILL", 3)
    monkeypatch.setattr(module, "WAIT", 0)


def data_of(number):
    return b"request %d" % number


class Model:
    """What the queue promises, in a few lines."""

    def __init__(self, fifo, fair=False):
        self.fifo, self.fair = fifo, fair
        self.waiting = {}  # number: (priority, start, slot)
        self.out = set()

    def active(self, slot):
        """How many requests of a slot the downloader has."""
        return sum(1 for _, (*_, other) in self.out if other == slot)

    def place(self, number):
        priority, start, _ = self.waiting[number]
        sign = start or (1 if self.fifo else -1)
        return -priority, bool(start), sign * number

    def judge(self, number):
        """The slot is the least busy one, and the row the best of its slot."""
        if number is None:
            return not self.waiting
        slot = self.waiting[number][-1]
        best = min((n for n in self.waiting if not self.fair or self.waiting[n][-1] == slot), key=self.place)
        least = min(self.active(other) for *_, other in self.waiting.values())
        if self.fair and len({other for *_, other in (*self.waiting.values(), *dict(self.out).values())}) > LANES:
            return number == best and bool(self.active(slot)) == bool(least)  # busy slots may be out of memory
        return number == best and (not self.fair or self.active(slot) == least)


@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("fifo, starts", [(False, 1), (True, 1), (False, -1), (True, -1)])
@pytest.mark.parametrize("seed", range(20 if LONG else 2))
def test_requests_come_in_the_order_of_the_model(path, seed, fifo, starts, fair):
    """Also with rows in the table alone, after the front was cut, and after restarts that commit or do not."""
    chance = random.Random(f"{seed} {fifo} {starts}")
    model = Model(fifo, fair)
    names = ["", "a", "b", "ccc", "d", "é", "f"][: chance.choice([2, 7])]

    def opened(first=1):
        turns = Turns(lambda slot: model.active(slot)) if fair else None
        return RequestQueue(path, fifo=fifo, first=first, turns=turns)

    queue = opened()
    saved = {}
    for _ in range(1500 if LONG else 250):
        what = chance.random()
        if what < 0.45:
            about = chance.choice([0, 0, 0, 1, -1, 7]), chance.choice([0, 0, 0, starts]), chance.choice(names)
            number = queue.push(about[0], None, data_of(queue.last + 1), *about[1:])
            model.waiting[number] = about
        elif what < 0.8:
            number, data = queue.pop() or (None, None)
            assert model.judge(number), f"seed {seed}"
            if number is not None:
                assert data == data_of(number)
                model.out.add((number, model.waiting.pop(number)))
        elif what < 0.93:
            gone = chance.sample(sorted(model.out), chance.randint(0, len(model.out)))
            queue.delete(number for number, _ in gone)
            model.out.difference_update(gone)
        elif what < 0.97:
            queue.commit()
            saved = {**model.waiting, **dict(model.out)}
        else:
            last = queue.last
            queue.close()
            model = Model(fifo, fair)
            model.waiting = dict(saved)
            queue = opened(last + 1)
        assert len(queue) == len(model.waiting) and queue.rows == len(model.waiting) + len(model.out)
        assert queue._front_rows <= 8 and len(queue._lanes) <= LANES  # pylint: disable=protected-access
    queue.close()


@pytest.mark.parametrize("turns", [None, Turns(lambda slot: 0)], ids=["plain", "fair"])
@pytest.mark.parametrize("fifo", [False, True])
def test_reading_the_next_rows_never_sorts_the_table(path, fifo, turns):
    queue = RequestQueue(path, fifo=fifo, turns=turns)
    plan = queue._db.execute("EXPLAIN QUERY PLAN " + queue._next, ("",)).fetchall()  # pylint: disable=protected-access
    queue.close()
    assert len(plan) == 1 and "USING INDEX" in plan[0][3], plan


def test_the_order_may_change_between_two_crawls(path):
    queue = RequestQueue(path)
    for number in range(1, 21):
        queue.push(0, None, data_of(number))
    queue.commit()
    queue.close()
    for fifo, wanted in [(True, list(range(1, 21))), (False, list(range(20, 0, -1)))]:
        queue = RequestQueue(path, fifo=fifo)
        assert [number for number, _ in iter(queue.pop, None)] == wanted
        queue.close()


def test_large_requests_do_not_stay_in_memory(path, monkeypatch):
    monkeypatch.setattr(module, "FRONT_MOST", 1000)
    monkeypatch.setattr(module, "FRONT_BYTES", 10_000)
    queue = RequestQueue(path)
    for number in range(1, 101):
        queue.push(0, None, b"x" * (2000 + number))
        assert queue._front_bytes <= 10_000  # pylint: disable=protected-access
    queue.push(0, None, b"y" * 50_000)
    assert len(queue.pop()[1]) == 50_000
    sizes = []
    while (found := queue.pop()) is not None:
        sizes.append(len(found[1]))
        assert queue._front_bytes <= 10_000  # pylint: disable=protected-access
    assert sizes == list(range(2100, 2000, -1))
    queue.close()


def test_a_priority_may_be_any_number(path):
    queue = RequestQueue(path)
    for priority in (10**30, -(10**30), 0, 1 << 63):
        queue.push(priority, None, str(priority).encode())
    assert [int(data) for _, data in iter(queue.pop, None)] == [1 << 63, 10**30, 0, -(10**30)]
    queue.close()


def test_only_what_was_committed_is_found_again(path):
    queue = RequestQueue(path)
    queue.push(0, "a", b"a")
    queue.push(0, b"b", b"b")
    queue.commit()
    queue.push(0, "c", b"c")
    queue.delete([queue.pop()[0], queue.pop()[0]])
    assert count_rows(path) == 2
    queue.close()
    queue = RequestQueue(path)
    assert list(queue.keys_after(0)) == ["a", b"b"] and list(queue.keys_after(1)) == [b"b"]
    assert [data for _, data in iter(queue.pop, None)] == [b"b", b"a"]
    queue.close()


def test_numbers_go_on_where_the_set_knows_of_more(path):
    """Otherwise a row with a number that the set has noted before would not get its key into the set."""
    queue = RequestQueue(path, first=41)
    assert queue.push(0, None, b"a") == 41
    queue.close()


def test_a_file_of_another_program_is_refused_and_unharmed(path):
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA application_id = 7")
    with pytest.raises(sqlite3.Error, match="another program"):
        RequestQueue(path)
    assert sqlite3.connect(path).execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (0,)


def test_a_file_that_is_in_use_is_refused(path):
    queue = RequestQueue(path)
    with pytest.raises(sqlite3.Error, match="locked"):
        RequestQueue(path)
    queue.close()


def test_rows_are_counted_in_a_file_that_need_not_be_there(tmp_path, path):
    assert count_rows(path) == 0
    empty = tmp_path / "empty"
    empty.touch()
    assert count_rows(str(empty)) == 0
    (tmp_path / "text").write_text("not a database, but long enough to be read as one" * 10)
    with pytest.raises(OSError, match="text"):
        count_rows(str(tmp_path / "text"))
