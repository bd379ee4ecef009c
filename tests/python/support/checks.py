"""
The checkers: what must hold for anything that claims to be a set. Each takes `make`, which is called as vidi.Set is,
and fails with AssertionError. test_checkers.py gives them sets with faults, each of which must be noticed.
"""
import gc
import random
import threading

from support import child
from support.urls import url, urls


def check_single_adds(make):
    """Adds and lookups of one URL at a time agree with a Python set."""
    seen, model, rng = make(), set(), random.Random(1)
    for _ in range(2000):
        link = url(rng.randrange(500))
        assert (link in seen) == (link in model), link
        assert seen.add(link) == (link not in model), link
        model.add(link)
    assert len(seen) == len(model)


def check_batches(make):
    """Batches agree with a Python set, also where they repeat URLs."""
    seen, model, rng = make(), set(), random.Random(2)
    for size in (1, 2, 100, 1000, 3000):
        batch = [url(rng.randrange(2000)) for _ in range(size)]
        expected = []
        for link in batch:
            expected.append(link not in model)
            model.add(link)
        assert seen.add_many(batch) == expected
        assert seen.has_many(urls(2500)) == [link in model for link in urls(2500)]
    assert len(seen) == len(model)


def check_new(make):
    """new() yields each new URL once, and adds it when the next one is asked for."""
    seen = make()
    walk = seen.new(urls(5) + urls(5))
    for number in range(5):
        assert next(walk) == url(number)
        assert seen.has_many(urls(5)) == [index < number for index in range(5)]
    assert list(walk) == [] and len(seen) == 5


def check_threads(make, count=4, rounds=60):
    """Of several threads that add the same URLs, exactly one is told True for each."""
    seen = make()
    news = [[] for _ in range(count)]
    start = threading.Barrier(count)
    failures = []

    def work(index):
        rng = random.Random(index)
        try:
            start.wait()
            for number in range(rounds):
                links = urls(64, f"round{number}")
                rng.shuffle(links)
                if rng.random() < 0.5:
                    answers = seen.add_many(links)
                else:
                    answers = [seen.add(link) for link in links]
                news[index] += [link for link, answer in zip(links, answers) if answer]
        except BaseException as failure:  # noqa: BLE001 (told to the main thread)
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    told = sum(news, [])
    expected = [link for number in range(rounds) for link in urls(64, f"round{number}")]
    assert len(told) == len(set(told)), "a URL was new twice"
    assert set(told) == set(expected), "a URL was new to nobody"
    assert all(seen.has_many(expected))


KILLED = """
import importlib
module, _, name = sys.argv[1].partition(":")
make = getattr(importlib.import_module(module), name)
path, point = sys.argv[2:]
seen = make(path, manual_commit=True, sync="no")
seen.add_many(urls(50, "committed"))
mark = seen.mark()
seen.add_many(urls(50, "staged"))
if point == "before the commit":
    die()
seen.commit_to(mark)
seen.sync()
if point == "after the sync":
    die()
seen.commit()
seen.sync()
seen.add(url(0, "later"))
die()
"""


def check_kill_around_commit(make_name, folder):
    """After a kill, what was committed and synced is seen, and what was not committed is new."""
    import vidi  # the truth is read with the real one

    for point, committed, staged in (("before the commit", False, False), ("after the sync", True, False),
                                     ("at the end", True, True)):
        path = folder / point.replace(" ", "-")
        child.run_killed(KILLED, make_name, path, point)
        with vidi.Set(path) as seen:
            assert seen.has_many(urls(50, "committed")) == [committed] * 50, point
            assert seen.has_many(urls(50, "staged")) == [staged] * 50, point
            assert url(0, "later") not in seen, point


KILLED_IN_NEW = """
import importlib
module, _, name = sys.argv[1].partition(":")
make = getattr(importlib.import_module(module), name)
path, number = sys.argv[2:]
seen = make(path, sync="always")
for link in seen.new(urls(20)):
    if link == url(number):
        die()
"""


def check_kill_inside_new(make_name, folder):
    """After a kill, the item that was being handled is new again, and all before it are seen."""
    import vidi

    for number in (0, 1, 13):
        path = folder / f"new-{number}"
        child.run_killed(KILLED_IN_NEW, make_name, path, number)
        with vidi.Set(path) as seen:
            assert list(seen.new(urls(20))) == urls(20 - number, start=number)


def check_no_leaks(make, work, rounds=5):
    """`work` on a new set leaves no memory of the library behind once the set is gone."""
    from vidi import _vidi

    _vidi._meter(True)
    try:
        gc.collect()
        before = _vidi._metered()
        for _ in range(rounds):
            seen = make()
            assert _vidi._metered() > before, "the meter counts nothing"
            work(seen)
            del seen
        gc.collect()
        assert _vidi._metered() == before, f"{_vidi._metered() - before} bytes are left"
    finally:
        _vidi._meter(False)
