"""Sets shared by threads: one True per URL, closing beside adds, and who holds the interpreter's lock meanwhile."""
import random
import sys
import threading
import time

import pytest

import vidi
from support import checks, child
from support.urls import url, urls

pytest_plugins = ["support.folders"]


def run_threads(*works):
    """Runs each function in a thread of its own; the first exception is raised here."""
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 (told below)
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.fixture(params=[1e-6, 0.005])
def switching(request):
    """Thread switches all the time, and as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "blocked"])
def test_of_many_threads_one_is_told_true(kind, switching):
    checks.check_threads(lambda: vidi.Set(kind=kind))


def test_of_many_threads_one_is_told_true_in_a_folder(quick_folder, switching):
    checks.check_threads(lambda: vidi.Set(quick_folder / "set"))
    checks.check_threads(lambda: vidi.Set(quick_folder / "manual", manual_commit=True))


def test_iterators_of_new_in_threads_share_the_work(switching):
    seen, told = vidi.Set(), [[] for _ in range(4)]

    def work(index):
        def go():
            links = urls(1500)
            random.Random(index).shuffle(links)
            told[index] += seen.new(links)
        return go

    run_threads(*map(work, range(4)))
    every = sum(told, [])
    assert sorted(every) == sorted(urls(1500)) and len(seen) == 1500


def test_closing_waits_for_calls_and_later_calls_are_told(quick_folder, switching):
    for turn in range(10):
        path = quick_folder / str(turn)
        seen = vidi.Set(path, kind="hashset")
        told, started = [[] for _ in range(3)], threading.Barrier(4)

        def work(index, seen=seen, told=told, started=started):
            def go():
                started.wait()
                try:
                    for number in range(10**9):
                        links = urls(40, f"{index}-{number}")
                        if index == 0:
                            told[index] += [link for link in links if seen.add(link)]
                        else:
                            told[index] += [link for link, new in zip(links, seen.add_many(links)) if new]
                except vidi.ClosedError:
                    pass
            return go

        def closer(seen=seen, started=started, told=told):
            started.wait()
            while not all(told[1:]):
                pass
            seen.close()

        run_threads(*map(work, range(3)), closer)
        every = sum(told, [])
        with vidi.Set(path) as again:
            assert all(again.has_many(every))
            # of the call that close() met, single adds may have been dropped from `told` but not from the set
            assert len(again) - len(every) <= 40


CLOSED_IN_A_BATCH = """
sys.setswitchinterval(1e6)  # the other thread gets its turn when the batch lets the lock go, and not before
batch = urls(60_000)
cut = 0
for turn in range(12):
    path = sys.argv[1] and f"{sys.argv[1]}{turn}"
    seen = vidi.Set(path or None, kind="hashset", sync="no")
    begin = threading.Event()
    def closer():
        begin.wait()
        seen.close()
        assert seen.closed
    thread = threading.Thread(target=closer)
    thread.start()
    begin.set()
    try:
        answers = seen.add_many(batch)
        assert answers == [True] * len(batch)
    except vidi.ClosedError as error:
        answers = getattr(error, "answers", [None] * len(batch))
        assert set(answers) <= {True, None}
    cut += None in answers
    thread.join()
    assert seen.closed
    if path:
        with vidi.Set(path) as again:
            assert again.has_many(batch) == [answer is True for answer in answers]
print("done")
"""


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_closing_in_the_middle_of_a_batch_waits_for_it_or_ends_it_in_order(quick_folder, where):
    """What was answered is in the set, and nothing else is."""
    assert child.run(CLOSED_IN_A_BATCH, quick_folder / "set" if where == "folder" else "") == "done\n"


INTERRUPTED = """
class Stop(Exception):
    pass

def stop(*_):
    raise Stop("enough for now")

signal.signal(signal.SIGUSR1, stop)
sys.setswitchinterval(1e6)
batch, main = urls(200_000), threading.main_thread().ident
while True:  # until the signal has come in the middle of a batch
    seen, begin = vidi.Set(key=bytes(16)), threading.Event()
    def interrupt():
        begin.wait()
        signal.pthread_kill(main, signal.SIGUSR1)
    thread = threading.Thread(target=interrupt)
    thread.start()
    answers = None
    try:
        begin.set()
        answers = seen.add_many(batch)
        thread.join()
    except Stop as error:
        answers = getattr(error, "answers", answers)
    thread.join()
    if answers and None in answers:
        assert set(answers) == {True, None}
        assert seen.has_many(batch) == [answer is True for answer in answers]
        assert seen.add_many(batch) == [answer is None for answer in answers]
        print("done")
        break
"""


def test_a_signal_ends_a_long_batch_and_the_answers_so_far_are_kept():
    """Ctrl-C works, and nothing is lost by it."""
    assert child.run(INTERRUPTED) == "done\n"


def test_many_threads_may_close(switching):
    for _ in range(20):
        seen = vidi.Set()
        seen.add_many(urls(100))
        run_threads(*[seen.close] * 4)
        assert seen.closed


def test_the_folder_is_free_when_any_close_returns(quick_folder, switching):
    """The thread that comes last to the barrier begins to close; the other one must wait until that is complete."""
    for turn in range(10):
        path = quick_folder / str(turn)
        seen, begin = vidi.Set(path, kind="hashset"), threading.Barrier(2)
        seen.add_many(urls(20_000))

        def opens(seen=seen, begin=begin, path=path):
            begin.wait()
            seen.close()
            with vidi.Set(path) as again:
                assert len(again) == 20_000

        def closes(seen=seen, begin=begin):
            begin.wait()
            seen.close()

        run_threads(opens, closes)


def test_everything_may_happen_at_once(quick_folder, switching):
    """All calls that may run beside one another do so; the URLs that were there from the beginning stay."""
    seen = vidi.Set(quick_folder / "set", kind="hashset", sync="no")
    other = vidi.Set.like(seen)
    other.add_many(urls(50, "other"))
    seen.add_many(urls(200))

    def adds():
        for number in range(40):
            seen.add_many(urls(20, f"batch{number}"))
            seen.add(url(number, "single"))

    def asks():
        for number in range(40):
            assert seen.has_many(urls(200)) == [True] * 200
            assert url(number) in seen and len(seen) >= 200

    def walks():
        for _ in range(8):
            found = list(seen)
            assert len(found) == len(set(found)) and set(urls(200)) <= set(found)

    def saves():
        for _ in range(4):
            seen.sync(), seen.commit()
            assert len(vidi.Set.from_bytes(seen.to_bytes())) >= 200
            assert len(seen.copy()) >= 200 and seen.stats.count >= 200
            seen.content_digest(), seen.epochs, repr(seen)
        seen.snapshot()

    def merges():
        for _ in range(5):
            seen.merge(other)

    run_threads(adds, asks, walks, saves, merges)
    assert len(seen) == 200 + 50 + 800 + 40
    seen.close()


class Neighbour:
    """A thread that counts whenever it gets the interpreter's lock. With switches by force out of the way, it counts
    during a call exactly if that call lets the lock go."""

    def __init__(self):
        self.count = 0

    def __enter__(self):
        self.before = sys.getswitchinterval()
        sys.setswitchinterval(1e6)  # before the thread begins, which would wait by the old one otherwise
        self.stop = False
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        return self

    def work(self):
        from time import sleep

        while not self.stop:
            self.count += 1
            sleep(0)  # lets the lock go

    def __exit__(self, *_):
        sys.setswitchinterval(self.before)
        self.stop = True
        self.thread.join()

    def counts_during(self, call):
        before = self.count
        call()
        return self.count != before

    def counts_during_some(self, call, attempts=None):
        """The neighbour is woken in some of the calls if they let the lock go, and in none otherwise.

        Without a number of attempts, they go on for a time that no machine needs."""
        if attempts is not None:
            return any(self.counts_during(call) for _ in range(attempts))
        until = time.monotonic() + child.PATIENCE
        while time.monotonic() < until:
            if self.counts_during(call):
                return True
        return False


def test_the_neighbour_notices_a_call_that_keeps_the_lock():
    """The proof of the tests below: sorting keeps the interpreter's lock, sleeping does not."""
    from time import sleep

    numbers = list(range(100_000))
    with Neighbour() as neighbour:
        assert not neighbour.counts_during_some(lambda: sorted(numbers), 30)
        assert neighbour.counts_during_some(lambda: sleep(0.001))


LETTING = ["add_many", "has_many", "sync", "commit", "commit_to", "commit_note", "snapshot", "merge", "rotate", "list",
           "hashes", "to_bytes", "from_bytes", "copy", "content_digest", "open"]


@pytest.mark.parametrize("name", LETTING)
def test_calls_that_may_take_long_let_the_lock_go(tmp_path, name):
    seen = vidi.Set(tmp_path / "set", kind="hashset", sync="always", manual_commit=True)
    lazy = vidi.Set(tmp_path / "lazy", sync="no")
    other = vidi.Set.like(seen)
    batch, other_batch = urls(3000), urls(3000, "other")
    seen.add_many(batch), other.add_many(other_batch)
    seen.commit()
    data = seen.to_bytes()
    fresh = iter(range(10**9))
    calls = {
        "add_many": lambda: seen.add_many(batch), "has_many": lambda: seen.has_many(batch),
        "sync": lambda: (lazy.add(url(next(fresh), "x")), lazy.sync()), "snapshot": seen.snapshot,
        "commit": lambda: (seen.add(url(next(fresh), "x")), seen.commit()),
        "commit_to": lambda: (seen.add(url(next(fresh), "x")), seen.commit_to(seen.mark())),
        "commit_note": lambda: (seen.add(url(next(fresh), "x")), seen.commit_note(seen.mark(), b"%d" % next(fresh))),
        "merge": lambda: seen.merge(other), "rotate": seen.rotate, "list": lambda: iter(seen), "hashes": seen.hashes,
        "to_bytes": seen.to_bytes, "from_bytes": lambda: vidi.Set.from_bytes(data), "copy": seen.copy,
        "content_digest": seen.content_digest,
        "open": lambda: vidi.Set(tmp_path / f"other{next(fresh)}"),
    }
    with Neighbour() as neighbour:
        assert neighbour.counts_during_some(calls[name])


def test_single_calls_keep_the_lock():
    seen = vidi.Set()
    links = urls(200)

    def singles():
        for link in links:
            seen.add(link), link in seen, seen.discard(link)

    with Neighbour() as neighbour:
        assert not neighbour.counts_during_some(singles, 20)


def test_a_single_add_that_may_sleep_on_the_disk_lets_the_lock_go(tmp_path):
    seen = vidi.Set(tmp_path / "set", sync="always")
    fresh = iter(range(10**9))
    with Neighbour() as neighbour:
        assert neighbour.counts_during_some(lambda: seen.add(url(next(fresh))))


def test_the_batch_may_be_changed_by_others_meanwhile():
    """The items stay alive although the list loses them while the batch is being added."""
    seen = vidi.Set()
    with_others = threading.Event()

    def feed(number):
        return [url(item, f"list{number}") for item in range(4000)]

    batch = feed(0)

    def clears():
        while not with_others.is_set():
            batch.clear()

    thread = threading.Thread(target=clears)
    thread.start()
    try:
        for number in range(1, 40):
            batch.extend(feed(number))
            answers = seen.add_many(batch)
            assert set(answers) <= {True, False}
    finally:
        with_others.set()
        thread.join()


FINALIZER = """
seen = vidi.Set(sys.argv[1] or None, kind="hashset")
seen.add_many(urls(2000))
asked = []

class Nosy:
    def __init__(self):
        self.me = self
    def __del__(self):
        asked.append((url(1) in seen, seen.add(url(len(asked), "nosy")), len(seen), len(seen.has_many(urls(3)))))
        if len(asked) % 50 == 0:
            list(seen), seen.stats, seen.to_bytes(), seen.hashes()

gc.set_threshold(1, 1, 1)
for turn in range(3):
    links = []
    for link in seen:
        links.append([link])
        Nosy()
    assert set(urls(2000)) <= {link for link, in links}
    seen.add_many([link for link, in links] + [url(turn, "more")])
    list(seen.hashes()), list(seen.new(urls(30, f"turn{turn}"))), seen.copy(), seen.stats, seen.epochs
gc.set_threshold(700, 10, 10)
gc.collect()
assert len(asked) > 1000 and all(answer[0] for answer in asked)
print("done")
"""


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_a_finalizer_may_ask_the_set_that_is_being_iterated(tmp_path, where):
    assert child.run(FINALIZER, tmp_path / "set" if where == "folder" else "") == "done\n"
