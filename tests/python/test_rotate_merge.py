"""Sets as a whole: listing, bytes, merges, epochs, statistics, and functions of URLs.

test_bytes.py, test_stats.py and others check what is promised. These tests know how the extension does it: forms are
kept in a small cache, lists and bytes are copied while the set is locked, and the GIL is released meanwhile.
"""
import _thread
import array
import gc
import itertools
import mmap
import os
import re
import subprocess
import sys
import threading
from dataclasses import fields

import pytest

import vidi
from vidi import _vidi

LISTED = ["hashset", "sorted", "list"]


def filled(n, kind="hashset", **options):
    s = vidi.Set(kind=kind, **options)
    for i in range(n):
        s.add(f"http://example.org/{i}")
    return s


@pytest.fixture
def metered():
    """Fails if sets that a test makes hold memory after it."""
    gc.collect()
    before = _vidi._metered()
    _vidi._meter(True)
    yield
    _vidi._meter(False)
    gc.collect()
    assert _vidi._metered() == before


# ---- functions of URLs ----


def test_more_forms_than_are_kept_can_be_used():
    for _ in range(2):
        for i in range(30):
            assert vidi.canon("http://a/?p1=1&p2=2", "crawl", tracking=f"p{i}") == {
                1: "http://a/?p2=2",
                2: "http://a/?p1=1",
            }.get(i, "http://a/?p1=1&p2=2")


def test_forms_in_use_are_not_thrown_out():
    """Long URLs let other threads run, which need more forms than are kept."""
    long = "http://a/" + "x" * 300_000
    wrong = []

    def work(number):
        for i in range(12):
            name = f"p{(number * 5 + i) % 24}"
            if vidi.canon(f"{long}?{name}=1&z=2", "crawl", tracking=name) != long + "?z=2":
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("length", [0, 1000, 2030, 2040, 2048, 2060, 70_000, 300_000])
def test_results_may_have_any_length(length):
    path = "ä" * (length // 2)
    assert vidi.canon("http://a/" + path) == "http://a/" + "%C3%A4" * (length // 2)
    assert vidi.urljoin("http://a/b", b"/" + path.encode()) == b"http://a/" + b"%C3%A4" * (length // 2)


# ---- arguments ----


@pytest.mark.parametrize(
    "call",
    [
        lambda s: vidi.canon(),
        lambda s: vidi.canon("a", "b", "c"),
        lambda s: vidi.canon("a", url="a"),
        lambda s: vidi.canon("a", word=1),
        lambda s: vidi.canon("http://a/", b"whatwg"),
        lambda s: vidi.canon("http://a/", tracking=7),
        lambda s: vidi.canon("http://a/", base=7),
        lambda s: vidi.plan(1),
        lambda s: vidi.plan(urls="1"),
        lambda s: vidi.plan(urls=1, lost="1"),
        lambda s: vidi.Set.like(),
        lambda s: vidi.Set.like(s, None, 1),
        lambda s: vidi.Set.like(s, other=s),
        lambda s: vidi.Set.like(s, kind="hashset"),
        lambda s: vidi.Set.from_bytes("x"),
        lambda s: vidi.Set.from_bytes([1, 2]),
        lambda s: vidi.Set.from_bytes(b"", 7),
        lambda s: s.merge("x"),
        lambda s: s.merge(),
        lambda s: s.rotate("hashset"),
        lambda s: s.rotate(kind=b"hashset"),
        lambda s: s.to_bytes(True),
    ],
)
def test_wrong_types_are_type_errors(call):
    with pytest.raises(TypeError) as caught:
        call(vidi.Set())
    assert str(caught.value)


@pytest.mark.parametrize("count", [-1, 1.5, float("nan"), float("inf"), -1e9, 2**64, 1e30, 10**400])
def test_counts_are_whole_numbers(count):
    with pytest.raises(ValueError, match="urls must be a whole number"):
        vidi.plan(urls=count, lost=1)
    with pytest.raises(ValueError, match="capacity must be a whole number"):
        vidi.Set().rotate(capacity=count)


def test_errors_in_an_argument_are_passed_on():
    class Odd:
        def __bool__(self):
            raise LookupError("odd")

        def __float__(self):
            raise LookupError("odd")

        __index__ = __float__

    for call in (
        lambda: vidi.Set().to_bytes(previous=Odd()),
        lambda: vidi.plan(urls=Odd()),
        lambda: vidi.plan(urls=1, lost=Odd()),
        lambda: vidi.Set().rotate(keep_previous=Odd()),
    ):
        with pytest.raises(LookupError, match="odd"):
            call()


# ---- listing ----


@pytest.mark.parametrize("kind", LISTED)
def test_a_list_is_of_one_moment(kind, metered):
    s = filled(10, kind)
    urls = iter(s)
    assert urls.__length_hint__() == 10
    first = next(urls)
    s.add("http://example.org/more")
    s.discard(first)
    s.close()
    rest = list(urls)
    assert {first, *rest} == {f"http://example.org/{i}" for i in range(10)}
    assert urls.__length_hint__() == 0 and list(urls) == []


def test_a_kind_without_urls_says_so_even_if_empty():
    for s in (vidi.Set(), filled(1, "fingerprint"), vidi.Set(kind="spatial", params="inner=fingerprint")):
        with pytest.raises(TypeError, match="hashes()"):
            iter(s)
        assert len(list(s.hashes())) == len(s)
    for s in (vidi.Set(kind="classic", capacity=10), filled(1, "blocked", capacity=10)):
        with pytest.raises(TypeError):
            iter(s)
        with pytest.raises(TypeError):
            s.hashes()


def test_bytes_that_are_not_utf8_come_back_as_surrogates():
    s = vidi.Set(kind="list", canon="none")
    urls = [b"\xff\x00\xfe", "ä".encode(), b"", b"x" * 100_000]
    assert all(s.add(url) for url in urls)
    assert sorted(url.encode("utf-8", "surrogateescape") for url in s) == sorted(urls)


def test_what_is_not_a_url_has_no_mark_in_a_list_of_keys():
    s = vidi.Set(kind="hashset", canon="key=host")
    assert s.add("http://example.org/x") and s.add("no URL")
    assert sorted(s) == ["example.org", "no URL"]


def test_hashes_are_those_of_the_program(tmp_path):
    program = os.path.join(os.environ.get("VIDI_BUILD", "build"), "vidi")
    if not os.path.exists(program):
        pytest.skip("the program was not built")
    for kind in ("fingerprint", "hashset"):
        folder = tmp_path / kind
        with vidi.Set(folder, kind=kind) as s:
            for i in range(20):
                s.add(f"http://example.org/{i}")
            mine = {f"{number:032x}" for number in s.hashes()}
        output = subprocess.run([program, "list", "--hashes", str(folder)], capture_output=True, text=True, check=True)
        assert mine == set(output.stdout.split()) and len(mine) == 20


# ---- bytes ----


def test_every_sort_of_bytes(metered, tmp_path):
    data = filled(500).to_bytes()
    file = tmp_path / "set"
    file.write_bytes(data)
    spread = bytearray(2 * len(data))
    spread[::2] = data
    with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        sorts = [data, bytearray(data), memoryview(data), array.array("B", data), mapped, memoryview(spread)[::2]]
        for sort in sorts:
            assert len(vidi.Set.from_bytes(sort)) == 500


def test_a_bytearray_may_change_while_it_is_read(metered):
    data = filled(20_000).to_bytes()
    changing = bytearray(data)
    stop = False

    def change():
        while not stop:
            changing.clear()
            changing.extend(data)

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(20):
        try:
            assert len(vidi.Set.from_bytes(changing)) == 20_000
        except vidi.FormatError:
            pass  # it was empty
    stop = True
    thread.join()


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "blocked"])
def test_damaged_bytes_are_refused_and_leave_nothing(kind, metered, tmp_path):
    data = filled(40, kind, capacity=40).to_bytes()
    damaged = [data[:length] for length in range(0, len(data), 7)]
    damaged += [data[:i] + bytes([data[i] ^ 1 << i % 8]) + data[i + 1 :] for i in range(0, len(data), 5)]
    damaged += [data + b"\0", data + data, data[1:], b"\0" * len(data)]
    for number, bad in enumerate(damaged):
        path = tmp_path / "set" if number % 10 == 0 else None
        with pytest.raises(vidi.FormatError) as caught:
            vidi.Set.from_bytes(bad, path)
        assert str(caught.value)
    assert not (tmp_path / "set").exists()


def test_derived_classes_make_sets_of_their_own_class():
    class Mine(vidi.Set):
        pass

    s = Mine()
    for made in (s.copy(), Mine.like(s), Mine.from_bytes(s.to_bytes())):
        assert type(made) is Mine and made.add("http://example.org/")
    assert type(vidi.Set.like(s)) is vidi.Set


def test_a_copy_is_used_like_its_original(tmp_path):
    s = vidi.Set(tmp_path / "set", invalid="fail")
    assert s.add("http://example.org/")
    copy = s.copy()
    with pytest.raises(vidi.InvalidURL):
        copy.add("no URL")
    assert copy.path is None and not copy.add("http://example.org/")
    assert copy.content_digest() == s.content_digest()


# ---- mapped sets ----


REPEATS = "multiset=on"


@pytest.mark.parametrize("removes", [False, True])
@pytest.mark.parametrize(
    "kind, params",
    [("counting", None)]
    + [(kind, params) for kind in ("hashset", "sorted", "fingerprint") for params in (None, REPEATS)],
)
def test_a_reader_gives_what_the_writer_would(tmp_path, metered, kind, params, removes):
    """Of a mapped set, part is in the snapshot and part in the log, which may repeat URLs or remove some."""
    with vidi.Set(tmp_path / "set", capacity=100, kind=kind, params=params) as s:
        s.add_many(f"http://example.org/{i}" for i in range(10))
        s.snapshot()
        s.add_many(f"http://example.org/{i}" for i in range(5, 15))
        if removes:
            s.discard("http://example.org/1")
            s.discard("http://example.org/12")
        want = s.content_digest(), len(s), sorted(s.hashes()) if kind != "counting" else None
        merged = vidi.Set.like(s)
        read = vidi.Set.from_bytes(s.to_bytes())
    with vidi.Set(tmp_path / "set", read_only=True) as s:
        assert s.content_digest() == want[0] == read.content_digest()
        assert vidi.Set.from_bytes(s.to_bytes()).content_digest() == want[0]
        if kind != "counting":
            assert sorted(s.hashes()) == want[2] and len(want[2]) == want[1]
        if kind in LISTED:
            assert sorted(s) == sorted(read)
        merged.merge(s)
        assert merged.content_digest() == want[0]


# ---- merges ----


def test_merging_with_itself_changes_nothing():
    for s in (filled(10), filled(10, "fingerprint"), filled(10, "blocked", capacity=100)):
        before = s.content_digest()
        s.merge(s)
        assert s.content_digest() == before


def test_two_threads_merge_two_sets_into_each_other(metered):
    a = filled(3000, "fingerprint")
    b = vidi.Set.like(a)
    for i in range(3000):
        b.add(f"http://example.com/{i}")

    def merge(into, other):
        for _ in range(10):
            into.merge(other)

    threads = [threading.Thread(target=merge, args=pair) for pair in ((a, b), (b, a)) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(a) == len(b) == 6000 and a.content_digest() == b.content_digest()


def test_closing_waits_for_a_merge(metered):
    for number in range(30):
        a, b = filled(500), filled(500)
        failed = []

        def merge():
            try:
                for _ in range(5):
                    a.merge(b)
            except vidi.ClosedError:
                failed.append(True)

        thread = threading.Thread(target=merge)
        thread.start()
        (a if number % 2 else b).close()
        thread.join()
        if number % 2 == 0:
            assert len(a) == 500
        with pytest.raises(vidi.ClosedError):
            a.merge(b)


def test_merges_that_lose_too_much_are_refused():
    a = filled(1000, "classic", capacity=1000, error=1e-3)
    b = vidi.Set.like(a)
    for i in range(1000):
        b.add(f"http://example.com/{i}")
    before = a.content_digest()
    with pytest.raises(vidi.RateError):
        a.merge(b)
    assert a.content_digest() == before
    a.merge(b, force=True)
    assert a.content_digest() != before


# ---- epochs ----


def test_what_a_set_keeps_of_its_last_epoch():
    s = filled(2, keep_previous=True)
    s.rotate()
    assert s.seen_previously("http://example.org/1")
    s.rotate(capacity=10)
    with pytest.raises(vidi.CannotError):
        s.seen_previously("http://example.org/1")
    s.rotate(keep_previous=True)
    s.rotate(keep_previous=False)
    with pytest.raises(vidi.CannotError):
        s.seen_previously("http://example.org/1")


def test_invalid_urls_in_the_previous_epoch():
    for policy in ("keep", "drop", "fail"):
        s = vidi.Set(invalid=policy, keep_previous=True)
        if policy == "keep":
            s.add("no URL")
        s.rotate()
        if policy == "fail":
            with pytest.raises(vidi.InvalidURL):
                s.seen_previously("no URL")
        else:
            assert s.seen_previously("no URL") is (policy == "keep")


def test_a_rotation_that_fails_changes_nothing():
    s = filled(5)
    for wrong in ({"kind": "nothing"}, {"params": "no=1"}, {"headroom": 5000}, {"kind": "classic", "error": 2}):
        with pytest.raises(vidi.OptionError):
            s.rotate(**wrong)
    assert len(s) == 5 and s.epochs == [] and s.stats.epoch == 0


# ---- statistics ----


def test_records_have_all_fields_of_the_header():
    source = os.environ.get("VIDI_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
    header = ""
    for name in ("vidi.h", "cluster.h"):
        with open(os.path.join(source, "include/vidi", name), encoding="utf-8") as file:
            header += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for struct, record in (
        ("vidi_stats", vidi.Stats),
        ("vidi_epoch_stats", vidi.EpochStats),
        ("vidi_cluster_stats", vidi.ClusterStats),
        ("vidi_plan_entry", vidi.Plan),
        ("vidi_kind_info", vidi.Kind),
        ("vidi_recovery", vidi.Recovery),
    ):
        body = re.search(r"typedef struct %s \{(.*?)\}" % struct, header, re.S).group(1)
        names = set(re.findall(r"(\w+)(?:\[\w+\])?[;,]", body)) - {"size"}
        assert len(names) >= 3 and names == {field.name for field in fields(record)} - {"cluster"}


def test_statistics_tell_each_value_under_its_name():
    """Values that all differ would show two that were mixed up."""
    s = vidi.Set(kind="hashset", memory_limit=10**8)
    for i in range(7):
        s.add(f"http://example.org/{i}")
    for _ in range(5):
        s.add("http://example.org/0")
    for _ in range(3):
        s.add("no URL")
    "http://example.org/" in s
    s.discard("http://example.org/1")
    stats = s.stats
    assert (stats.count, stats.answered_new, stats.answered_seen, stats.answered_invalid) == (7, 8, 7, 3)
    assert (stats.asked, stats.removed, stats.memory_limit, stats.past_epochs) == (1, 1, 10**8, 0)
    assert (stats.kind, stats.canon, stats.fp_meaning, stats.hash_trust) == ("hashset", s.canon, "exact", "keyed")
    assert stats.can == {"delete", "count", "merge", "iterate", "grow"} and stats.bytes < stats.memory_bytes
    s.rotate(kind="classic", capacity=1000, params="hash=murmur2")
    assert s.stats.hash_trust == "trusting" and s.stats.can == {"merge"} and s.stats.capacity == 1000
    (epoch,) = s.epochs
    assert (epoch.epoch, epoch.count, epoch.answered_new, epoch.answered_seen, epoch.fp_end) == (0, 7, 8, 7, 0)
    with pytest.raises(AttributeError):
        stats.count = 0


def test_a_reader_tells_what_is_missing(tmp_path):
    folder = tmp_path / "set"
    with vidi.Set(folder, sync="always") as s:
        assert s.recovered.is_whole and s.recovered.logs <= 1
        for i in range(100):
            s.add(f"http://example.org/{i}")
    with vidi.Set(folder, read_only=True) as s:
        assert s.recovered.is_whole and (s.recovered.urls, len(s)) == (100, 100)
    (log,) = [file for file in folder.iterdir() if file.name.startswith("log")]
    data = log.read_bytes()
    log.write_bytes(data[: len(data) // 2] + b"\0" * 8 + data[len(data) // 2 + 8 :])
    with vidi.Set(folder, read_only=True) as s:
        found = s.recovered
        assert not found.is_whole and found.damaged_places == 1 and found.damaged_log == log.name
        assert 0 < found.damaged_at <= len(data) // 2 and found.damaged_bytes > 0 and len(s) < 100
    with pytest.raises(vidi.DamagedError):
        vidi.Set(folder)
    log.unlink()
    with vidi.Set(folder, accept_damage=True) as s:
        assert s.recovered.missing_files == 1 and s.recovered.missing_file == log.name
    assert vidi.Set().recovered is None


# ---- the interpreter's lock ----


def runs_beside(call):
    """Does another thread get to run during one of many calls? Python itself does not switch threads meanwhile.

    The calls must release the GIL for most of their time, because the other thread has to wake up just then. Results
    are kept, because closing a set releases it, too.
    """
    interval = sys.getswitchinterval()
    gate, ran, results = _thread.allocate_lock(), [], []
    gate.acquire()
    started = _thread.allocate_lock()
    started.acquire()

    def other():
        started.release()
        gate.acquire()
        ran.append(True)

    _thread.start_new_thread(other, ())
    started.acquire()
    try:
        sys.setswitchinterval(1000)
        gate.release()
        for _ in range(500):
            results.append(call())
            if ran:
                return True
    finally:
        sys.setswitchinterval(interval)
    return False


LONG_URL = "http://a/" + "x" * 100_000
LONG_CALLS = {
    "to_bytes": lambda s, other, data: s.to_bytes(),
    "from_bytes": lambda s, other, data: vidi.Set.from_bytes(data),
    "copy": lambda s, other, data: s.copy(),
    "like": lambda s, other, data: vidi.Set.like(s),
    "merge": lambda s, other, data: s.merge(other),
    "rotate": lambda s, other, data: s.rotate(kind="classic", capacity=200_000),
    "iter": lambda s, other, data: iter(s),
    "hashes": lambda s, other, data: s.hashes(),
    "content_digest": lambda s, other, data: s.content_digest(),
    "plan": lambda s, other, data: vidi.plan(urls=1e6, lost=1),
    "canon": lambda s, other, data: vidi.canon(LONG_URL),
    "urljoin": lambda s, other, data: vidi.urljoin(LONG_URL, "x"),
}
SHORT_CALLS = {
    "drop_previous": lambda s, other, data: s.drop_previous(),
    "seen_previously": lambda s, other, data: s.seen_previously("http://a/"),
    "stats": lambda s, other, data: s.stats,
    "epochs": lambda s, other, data: s.epochs,
    "recovered": lambda s, other, data: s.recovered,
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_other_threads_run_meanwhile(name):
    if name == "like":
        s = vidi.Set(kind="classic", capacity=200_000)
    else:
        s = filled(3000)
    other, data = s.copy(), s.to_bytes()
    assert runs_beside(lambda: LONG_CALLS[name](s, other, data))


def test_the_check_notices_a_lock_that_is_kept():
    assert not runs_beside(lambda: vidi.canon("http://a/"))


def test_a_garbage_collection_may_ask_the_set():
    """Objects are made after the set is unlocked: what runs then may use it."""

    class Asks:
        def __init__(self):
            self.cycle = self

        def __del__(self):
            asked.append("http://example.org/1" in s and len(s) and s.stats.count)

    s = filled(2000)
    asked = []
    thresholds = gc.get_threshold()
    try:
        gc.set_threshold(1)
        for call in (lambda: list(s), lambda: list(s.hashes()), lambda: s.stats, lambda: s.epochs, s.to_bytes, s.copy):
            Asks()
            call()
    finally:
        gc.set_threshold(*thresholds)
    gc.collect()
    assert asked == [2000] * 6


SHORT_OF_MEMORY = """
import resource, vidi
s = vidi.Set(kind="hashset")
s.add_many("http://example.org/%0100d" % i for i in range(100_000))
data = s.to_bytes()
digest = s.content_digest()
calls = {
    "to_bytes": lambda: s.to_bytes(),
    "iter": lambda: iter(s),
    "copy": lambda: s.copy(),
    "from_bytes": lambda: vidi.Set.from_bytes(data),
    "from bytearray": lambda: vidi.Set.from_bytes(memoryview(data)),
    "canon": lambda: vidi.canon(data, "none"),
}
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 2**21, resource.RLIM_INFINITY))
for name, call in calls.items():
    try:
        call()
        print(name, "had memory")
    except MemoryError:
        pass
    except vidi.KernelError:
        assert name == "copy"  # it starts a thread, whose stack needs memory, too
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for name, call in calls.items():
    call()
assert s.content_digest() == digest and len(s) == 100_000
print("done")
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer needs all of the address space")
def test_no_memory_is_a_memory_error():
    ran = subprocess.run([sys.executable, "-B", "-c", SHORT_OF_MEMORY], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("done\n", "")


@pytest.mark.parametrize("name", sorted({*LONG_CALLS, *SHORT_CALLS} - {"plan", "canon", "urljoin", "from_bytes"}))
def test_closed_sets_say_so(name):
    s = filled(1)
    s.close()
    with pytest.raises(vidi.ClosedError, match="the set is closed"):
        {**LONG_CALLS, **SHORT_CALLS}[name](s, s, b"")
    for call in (lambda: s.merge(vidi.Set()), lambda: vidi.Set().merge(s), lambda: vidi.Set(like=s)):
        with pytest.raises(vidi.ClosedError):
            call()


def test_many_threads_use_one_set_in_every_way(metered):
    s = filled(200, "fingerprint")
    calls = [
        s.to_bytes,
        s.copy,
        lambda: list(s.hashes()),
        lambda: s.stats,
        lambda: s.merge(s),
        lambda: vidi.Set.like(s).merge(s),
        s.content_digest,
        lambda: s.epochs,
    ]
    errors = []

    def work(first):
        try:
            for call in itertools.islice(itertools.cycle(calls[first:] + calls[:first]), 60):
                call()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number % len(calls),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for number in range(2000):
        s.add(f"http://example.com/{number}")
    for thread in threads:
        thread.join()
    assert not errors and len(s) == 2200
