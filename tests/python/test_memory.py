"""No operation leaves memory of the library behind, not even one that fails; and Python's own may run out."""
import gc

import pytest

import vidi
from support import child
from support.checks import check_no_leaks
from support.urls import url, urls
from vidi import _vidi

pytest_plugins = ["support.folders"]


def failing(call, *arguments, **options):
    """The call must fail; only its leftovers are of interest here."""
    with pytest.raises(Exception):  # noqa: B017 (any)
        call(*arguments, **options)


def broken_feed():
    yield url(1)
    raise LookupError


def half_walked(seen):
    walk = seen.new(urls(10))
    next(walk), next(walk)
    return walk


def damaged(data):
    return data[:len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1:]


IN_MEMORY = {
    "nothing": lambda s: None,
    "single calls": lambda s: [(s.add(u), u in s, s.count(u), s.discard(u)) for u in urls(100)],
    "batches": lambda s: (s.add_many(urls(3000)), s.has_many(urls(3000))),
    "new": lambda s: list(s.new(urls(100))),
    "new, given up": half_walked,
    "new, closed": lambda s: half_walked(s).close(),
    "iteration": lambda s: (s.add_many(urls(500)), list(s), list(s.hashes())),
    "iteration, given up": lambda s: (s.add_many(urls(500)), next(iter(s)), next(s.hashes())),
    "copies": lambda s: (s.add_many(urls(500)), s.copy(), vidi.Set.like(s), vidi.Set(like=s)),
    "bytes": lambda s: (s.add_many(urls(500)), vidi.Set.from_bytes(s.to_bytes()), s.to_bytes(previous=True)),
    "merge": lambda s: (s.add_many(urls(500)), vidi.Set.like(s).merge(s)),
    "rotation": lambda s: (s.add_many(urls(500)), s.rotate(keep_previous=True), s.rotate(kind="list"),
                            s.drop_previous()),
    "statistics": lambda s: (s.rotate(), s.stats, s.epochs, repr(s), s.content_digest(), s.note, s.canon),
    "closing": lambda s: (s.close(), s.close()),
    "long URLs": lambda s: (s.add("http://a/" + "x" * 100_000), s.add_many(["http://A/" + "y" * 100_000] * 3)),
    "wrong items": lambda s: (failing(s.add, None), failing(s.add_many, [url(1), None]), failing(s.has_many, [7]),
                              failing(s.add, "\ud800"), failing(s.add_many, [url(1), "\ud800"])),
    "broken feeds": lambda s: (failing(s.add_many, broken_feed()), failing(list, s.new(broken_feed()))),
    "wrong sets": lambda s: (failing(s.merge, vidi.Set()), failing(s.merge, None), failing(vidi.Set.like, None)),
    "wrong bytes": lambda s: (s.add_many(urls(50)), failing(vidi.Set.from_bytes, damaged(s.to_bytes())),
                              failing(vidi.Set.from_bytes, b""), failing(vidi.Set.from_bytes, s.to_bytes() + b"x")),
    "wrong options": lambda s: (failing(vidi.Set, kind="x"), failing(vidi.Set, canon="x"),
                                failing(vidi.Set, params="x=1"), failing(s.rotate, kind="x"),
                                failing(vidi.Set, invalid="x"), failing(vidi.Set, key=b"x"),
                                failing(vidi.Set, capacity=10, error=3.0), failing(vidi.Set, lost=1),
                                failing(vidi.Set, "/nowhere/at/all"), failing(vidi.Set, "a\0b", canon="crawl"),
                                failing(vidi.Set, tracking=7, canon="crawl"), failing(vidi.Set, like=s, colour=1)),
    "forms": lambda s: [vidi.canon("HTTP://A/?b&a", p) for p in ("whatwg", "crawl", "surt", "key=host", "none")],
    "wrong URLs": lambda s: (failing(vidi.canon, "http://"), failing(vidi.canon, "a", "nonsense"),
                             failing(vidi.urljoin, "a", "b"), failing(vidi.canon, "a", base="b")),
    "plans": lambda s: (vidi.plan(urls=1e6, lost=1), vidi.kinds(), failing(vidi.plan),
                        failing(vidi.plan, urls=1, kind="x")),
    "a limit": lambda s: failing(vidi.Set(kind="list", memory_limit=1 << 18).add_many, urls(20_000)),
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_nothing_is_left_of_a_set_in_memory(name):
    check_no_leaks(lambda: vidi.Set(kind="hashset"), IN_MEMORY[name], rounds=3)


IN_A_FOLDER = {
    "adds": lambda s: (s.add_many(urls(500)), s.add(url(1, "x")), s.discard(url(1))),
    "commits": lambda s: (s.add_many(urls(500)), s.commit_to(s.mark()), s.add(url(1, "x")),
                          s.commit_note(s.mark(), b"n")),
    "staged adds": lambda s: (s.add_many(urls(500)), s.mark(), failing(s.commit_note, s.mark(), bytes(5000))),
    "snapshots": lambda s: (s.add_many(urls(500)), s.commit(), s.snapshot(), s.rotate(keep_previous=True), s.sync()),
    "a second writer": lambda s: failing(vidi.Set, s.path),
    "readers": lambda s: (s.add_many(urls(500)), s.commit(), s.sync(), read(s)),
}


def read(seen):
    with vidi.Set(seen.path, read_only=True) as reader:
        assert all(reader.has_many(urls(500)))
        list(reader), reader.verify(), reader.copy(), reader.stats
        failing(reader.add, url(1))


@pytest.mark.parametrize("name", IN_A_FOLDER)
@pytest.mark.parametrize("end", ["close", "del"])
def test_nothing_is_left_of_a_set_in_a_folder(quick_folder, name, end):
    def work(seen):
        IN_A_FOLDER[name](seen)
        if end == "close":
            seen.close()

    paths = iter(quick_folder / str(number) for number in range(100))
    check_no_leaks(lambda: vidi.Set(next(paths), kind="hashset", manual_commit=True), work, rounds=2)


def test_damaged_folders_leave_nothing(quick_folder):
    path = quick_folder / "set"
    with vidi.Set(path, kind="hashset") as seen:
        seen.add_many(urls(100))
    for file in path.iterdir():
        data = file.read_bytes()
        if len(data) > 64:
            file.write_bytes(damaged(data))
    _vidi._meter(True)
    try:
        before = _vidi._metered()
        for options in ({}, {"read_only": True}, {"accept_damage": True}):
            try:
                vidi.Set(path, **options).close()
            except vidi.Error:
                pass
        gc.collect()
        assert _vidi._metered() == before
    finally:
        _vidi._meter(False)


def test_python_objects_are_not_leaked():
    """The number of references to everything that is passed in or shared stays the same."""
    import sys

    seen = vidi.Set(kind="hashset")
    link = url(1)

    def rounds():
        for _ in range(50):
            seen.add(link), link in seen, seen.add_many([link, link]), seen.has_many((link,)), list(seen)
            list(seen.new([link])), seen.discard(link), list(seen.new([link])), seen.count(link)
            seen.stats, seen.epochs, repr(seen), list(seen.hashes()), seen.canon, seen.kind
            for wrong in (None, 7, "\ud800"):
                failing(seen.add, wrong), failing(seen.add_many, [link, wrong])
            failing(vidi.Set, kind="nonsense"), failing(vidi.canon, "http://"), vidi.canon(link), vidi.kinds()

    def state():
        gc.collect()
        return [sys.getrefcount(thing) for thing in (link, seen, None, True, False, vidi.Set, vidi.Error, vidi.Stats)]

    rounds()
    before = state()
    rounds()
    after = state()
    assert all(abs(new - old) < 20 for new, old in zip(after, before)), (before, after)


def test_blocks_of_python_memory_are_not_leaked():
    import sys

    seen = vidi.Set(kind="hashset")
    seen.add_many(urls(100))

    def blocks():
        for _ in range(20):
            seen.add_many(urls(100)), list(seen), list(seen.new(urls(100))), seen.stats, seen.copy(), repr(seen)
            list(seen.hashes()), seen.to_bytes(), vidi.plan(urls=1000, lost=1), vidi.kinds(), vidi.Set.like(seen)
            failing(seen.add_many, urls(100) + [None]), failing(seen.merge, None), failing(vidi.canon, "a", "b")
            fresh = vidi.Set()
            walks = [fresh.new(urls(10, f"{start}") + urls(10, "same")) for start in range(3)]
            for walk in walks * 3:
                next(walk)
        gc.collect()
        sys._clear_type_cache()  # holds up to 4,096 names of attributes, of which each lookup from C makes another
        return sys.getallocatedblocks()

    blocks()
    before = blocks()
    assert blocks() - before < 50


HEAP = """
import ctypes

class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Heap

def used():
    gc.collect()
    heap = libc.mallinfo2()
    return heap.uordblks + heap.hblkhd

def fails(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except (TypeError, ValueError, OSError):
        return
    raise AssertionError("it did not fail")

seen = vidi.Set(kind="hashset")
seen.add_many(urls(2000))
batch, wrong = urls(2000), urls(2000) + [None]
kept = []
operations = [
    lambda: iter(seen), lambda: list(seen), lambda: next(iter(seen)), seen.hashes, lambda: list(seen.hashes()),
    seen.to_bytes, seen.copy, lambda: vidi.Set.from_bytes(seen.to_bytes()), lambda: seen.add_many(batch),
    lambda: seen.has_many(batch), lambda: list(seen.new(batch)), lambda: fails(seen.add_many, wrong),
    lambda: fails(list, vidi.Set().new(wrong)), lambda: vidi.canon("HTTP://A/" + "x" * 20_000),
    lambda: vidi.urljoin("http://a/", "x" * 20_000), lambda: vidi.plan(urls=1000, lost=1),
    lambda: fails(vidi.canon, "http://a b/" + "x" * 20_000), lambda: vidi.Set(canon="crawl", tracking="xyz\\n" * 5000),
    lambda: fails(vidi.Set, "x" * 20_000, kind="nonsense"), lambda: fails(vidi.Set.from_bytes, bytes(20_000)),
    lambda: seen.stats, lambda: seen.content_digest(), lambda: [next(w) for w in [vidi.Set().new(batch)] * 50],
]
if sys.argv[1] == "plant":
    operations = [lambda: kept.append(bytes(20_000))]
for operation in operations:
    for _ in range(3):
        operation()
    before = used()
    for _ in range(25):
        operation()
    grown = used() - before
    assert grown < 100_000, (operations.index(operation), grown)
print("done" if before > 0 else "no figures")
"""


@pytest.fixture
def plain_malloc(monkeypatch):
    """All memory of Python comes from malloc, one piece at a time, so that it can be counted."""
    monkeypatch.setenv("PYTHONMALLOC", "malloc")


def test_the_heap_does_not_grow(plain_malloc):
    """Memory that neither the set's allocator nor Python's small blocks know about: each operation is repeated."""
    answer = child.run(HEAP, "")
    if answer == "no figures\n":
        pytest.skip("malloc is not that of the C library")
    assert answer == "done\n"


def test_a_heap_that_grows_is_noticed(plain_malloc):
    status, output, errors = child.finish(child.start(HEAP, "plant"))
    assert output == "no figures\n" or (status != 0 and "AssertionError: (0, " in errors)


NO_MEMORY = """
import _testcapi

def attempts(call):
    '''Lets the first, the second, … allocation of Python fail inside the call, until none fails.'''
    for index in range(3000):
        _testcapi.set_nomemory(index, index + 1 if sys.argv[1] == "once" else 0)
        try:
            result = call()
        except MemoryError:
            continue
        except SystemError:
            raise
        finally:
            _testcapi.remove_mem_hooks()
        return result
    raise AssertionError("it never succeeded")

link, batch, more = url(1), urls(5), urls(7, "more")
seen, other = vidi.Set(kind="hashset"), vidi.Set(kind="hashset")
other.add_many(urls(6, "other"))
data = other.to_bytes()
def add_checked():
    before = len(seen)
    try:
        return seen.add_many(more)
    except MemoryError:
        _testcapi.remove_mem_hooks()
        assert len(seen) == before, "something was added although the call failed"
        raise
assert attempts(add_checked) == [True] * 7
attempts(lambda: seen.add(link))
assert attempts(lambda: link in seen)
attempts(lambda: seen.add_many(iter(batch)))
assert attempts(lambda: seen.has_many(batch)) == [True] * 5
assert len(attempts(lambda: list(seen))) == 12
assert len(attempts(lambda: list(seen.hashes()))) == 12
assert attempts(lambda: list(seen.new(batch))) == []
attempts(lambda: seen.stats), attempts(lambda: seen.epochs), attempts(lambda: repr(seen))
attempts(lambda: seen.copy()), attempts(lambda: seen.merge(other)), attempts(lambda: seen.rotate())
assert len(attempts(lambda: other.to_bytes())) == len(data)
assert len(attempts(lambda: vidi.Set.from_bytes(data))) == 6
attempts(lambda: vidi.Set(kind="hashset", canon="crawl", invalid="drop", sync="no", key=bytes(16)))
attempts(lambda: vidi.plan(urls=1000, lost=1, kind="classic")), attempts(vidi.kinds)
assert attempts(lambda: vidi.canon("HTTP://A/")) == "http://a/"
assert attempts(lambda: vidi.urljoin("http://a/", "b")) == "http://a/b"
assert len(attempts(lambda: list(vidi.Set().new(batch)))) == 5
def wrong():
    try:
        vidi.canon("http://")
    except vidi.InvalidURL:
        return "refused"
assert attempts(wrong) == "refused"
print("done")
"""


@pytest.mark.parametrize("mode", ["once", "from then on"])
def test_pythons_memory_may_run_out_at_any_allocation(mode):
    """Each call raises MemoryError and can be repeated; nothing crashes."""
    pytest.importorskip("_testcapi")
    assert child.run(NO_MEMORY, mode) == "done\n"
