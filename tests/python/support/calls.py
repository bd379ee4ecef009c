"""
Random sequences of calls, with good and bad arguments of all types. Whatever is called, nothing may crash, every
exception must be one that the package documents, with a sentence, and no memory may be left in the end.

    python3 -m support.calls SEED FIRST LAST FOLDER [PROGRESS-FILE]

runs the sequences FIRST to LAST - 1. A sequence depends on the seed and its number alone, so it can be run by itself.
VIDI_TEST_SERVER is the address of a server with the module, redis://host:port: then some sequences have a set on it.
"""
import contextlib
import copy
import functools
import gc
import os
import pickle
import random
import shutil
import sys
import threading
from urllib.parse import urlsplit

import vidi
from support.refusal import INTERNAL
from vidi import _vidi

KINDS = ["fingerprint", "hashset", "sorted", "list", "classic", "blocked", "scalable", "counting", "multilayer",
         "eigen", "spatial"]
DOCUMENTED = (vidi.Error, TypeError, ValueError, OverflowError, MemoryError)


class Planned(Exception):
    """What an argument of ours raises: it must come through as it is."""


class Link:
    """A URL whose code does something first."""

    scheme = "http"

    def __init__(self, action, text):
        self.action, self.text = action, text

    def __str__(self):
        self.action()
        return self.text


class Number:
    """A number whose code does something first."""

    def __init__(self, action, number):
        self.action, self.number = action, number

    def __index__(self):
        self.action()
        return self.number

    def __float__(self):
        self.action()
        return float(self.number)

    def __fspath__(self):
        self.action()
        return "relative/path\0"


def check(exception):
    """Fails if an exception is not one that a caller may expect."""
    if isinstance(exception, Planned):
        return
    text = str(exception)
    if not isinstance(exception, DOCUMENTED) or isinstance(exception, INTERNAL):
        raise AssertionError(f"not a documented exception: {exception!r}") from exception
    if len(text.split()) < 3:
        raise AssertionError(f"not a sentence: {exception!r}") from exception


@functools.cache
def streams():
    """What from_bytes takes, before the sequence has made some of its own."""
    made = []
    for kind in ("fingerprint", "hashset", "classic"):
        with vidi.Set(kind=kind, capacity=50) as seen:
            seen.add_many(f"http://example.org/{number}" for number in range(10))
            seen.rotate(keep_previous=True)
            seen.add("http://example.org/1")
            made.append(seen.to_bytes(previous=True))
    return made


class Sequence:
    server = os.environ.get("VIDI_TEST_SERVER")

    def __init__(self, seed, number, folder):
        self.rng = random.Random(f"{seed}-{number}")
        self.folder = os.path.join(folder, str(number))
        self.sets, self.walks, self.data = [], [], [b"noise", *streams()]
        self.in_folders = self.rng.random() < 0.02
        self.address = f"{self.server}/calls-{os.getpid()}-{seed}-{number}" if self.server else None
        self.on_server = self.rng.random() < 0.03 and self.address is not None
        self.depth = 0

    # ---- arguments ----

    def url(self):
        rng = self.rng
        text = f"http://example.org/{rng.randrange(15)}"
        form = rng.randrange(12)
        if form < 6:
            return text
        if form < 9:
            return text.encode()
        return rng.choice([text.upper(), bytearray(text.encode()), memoryview(text.encode()), urlsplit(text),
                           Link(self.back, text), Link(self.fail, text), "http://", "", b"\xff\xfe",
                           "http://bücher.example/\u20ac",
                           "http://a/" + "x" * 9000, text + "#f", b"http://a/\0b"])

    def wrong(self):
        rng = self.rng
        return rng.choice([
            None, 7, -1, 1.5, float("nan"), 1 << 64, -(1 << 70), True, 1j, [], ["http://a/"], {}, object(), Ellipsis,
            "\ud800", "http://a/\udcff", vidi.Set, len, self, b"",
            "", "a\0b", Number(self.back, rng.randrange(-1, 5)), Number(self.fail, 1),
            rng.choice(self.sets or [None]), Planned])

    def item(self):
        return self.url() if self.rng.random() < 0.93 else self.wrong()

    def feed(self):
        """Something to iterate over, or not."""
        rng = self.rng
        items = [self.item() if rng.random() < 0.1 else self.url() for _ in range(rng.choice((0, 1, 2, 5, 20)))]
        form = rng.randrange(14)
        if form < 6:
            return items
        if form < 8:
            return tuple(items)
        if form < 10:
            return iter(items)
        if form == 10:
            return self.calling(items)
        if form == 11:
            return rng.choice(self.walks or [items])
        if form == 12:
            return rng.choice(self.sets or [items])
        return self.wrong()

    def calling(self, items):
        for item in items:
            yield item
            if self.rng.random() < 0.2:
                self.back()
            if self.rng.random() < 0.05:
                raise Planned("the feed broke")

    def back(self):
        """Calls from inside a call."""
        if self.depth < 3:
            self.depth += 1
            try:
                self.call()
            finally:
                self.depth -= 1

    def fail(self):
        raise Planned("a number broke")

    def number(self):
        return self.rng.choice((0, 0, 1, 10, 100, 1000, 1000)) if self.rng.random() < 0.85 else self.wrong()

    def share(self):
        return self.rng.choice((0.0, 1e-6, 0.01, 0.5)) if self.rng.random() < 0.85 else self.wrong()

    def one_of(self, *values):
        return self.rng.choice(values) if self.rng.random() < 0.93 else self.wrong()

    def some(self, **makers):
        """A few of these options."""
        return {name: make() for name, make in makers.items() if self.rng.random() < 0.25}

    def a_set(self):
        if not self.sets or self.rng.random() < 0.03:
            return vidi.Set()
        return self.rng.choice(self.sets)

    def another(self):
        return self.a_set() if self.rng.random() < 0.9 else self.wrong()

    def path(self):
        rng = self.rng
        if rng.random() < 0.1:
            return self.wrong() if rng.random() < 0.5 else "/nowhere/at/all"
        return os.path.join(self.folder, rng.choice("abc")) if self.in_folders else None

    def access(self):
        return {**self.local_access(), **(self.far_access() if self.rng.random() < 0.05 else {})}

    def far_access(self):
        return self.some(lease=lambda: self.one_of(None, 1, 60.5, 0), patience=lambda: self.one_of(1, None),
                         wait_replicas=lambda: self.rng.choice((0, 0, -1, "1")), ca_file=lambda: self.one_of(None, "/nowhere"))

    def local_access(self):
        return self.some(memory_limit=lambda: self.one_of(0, 1 << 16, 1 << 20, 1 << 30),
                         invalid=lambda: self.one_of("keep", "drop", "fail"),
                         sync=lambda: self.one_of("everysec", "no", "always"),
                         manual_commit=lambda: self.one_of(True, False),
                         read_only=lambda: self.one_of(True, False, False, False),
                         accept_damage=lambda: self.one_of(True, False),
                         owner=lambda: self.one_of(None, None, "crawl", "x" * 64))

    def making(self):
        return self.some(kind=lambda: self.one_of(*KINDS),
                         params=lambda: self.one_of("", "multiset=on", "bits=40", "k=3", "x=1"),
                         capacity=self.number, error=self.share, keep_previous=lambda: self.one_of(True, True, False))

    # ---- calls ----

    def keep(self, made):
        if made is not None:
            if len(self.sets) > 2:
                old = self.sets.pop(self.rng.randrange(len(self.sets)))
                if self.rng.random() < 0.5:
                    old.close()
            self.sets.append(made)

    def keep_walk(self, walk):
        self.walks = [*self.walks[-3:], walk]

    def make(self):
        options = {**self.making(), **self.access()}
        options.update(self.some(canon=lambda: self.one_of("whatwg", "crawl", "none", "key=host", "surt", "w3lib", "x"),
                                 tracking=lambda: self.one_of("utm_*\n", "@builtin\nx\n"),
                                 key=lambda: self.one_of(bytes(16), b"x"),
                                 headroom=lambda: self.one_of(0.0, 1.25, 0.5))
                       if self.rng.random() < 0.3 else {})
        if self.rng.random() < 0.05:
            options["lost"] = self.one_of(0.1, 1, 1000)
        if self.rng.random() < 0.05:
            options["like"] = self.a_set()
        if self.rng.random() < 0.1:
            options["urls"] = self.feed()
        if self.rng.random() < 0.02:
            options["colour"] = "red"
        self.keep(vidi.Set(self.path(), **options) if self.rng.random() < 0.8 else vidi.Set(self.feed()))

    def reach(self):
        """Makes a set on the server, opens it or removes it."""
        if not self.on_server:
            return
        options = {**self.making(), **self.far_access(),
                   **self.some(manual_commit=lambda: self.one_of(True, False), owner=lambda: self.one_of("me", None),
                               invalid=lambda: self.one_of("keep", "drop", "fail"), urls=self.feed,
                               read_only=lambda: self.one_of(True, False, False, False))}
        form = self.rng.randrange(8)
        if form < 3:
            self.keep(vidi.Set.create(self.address, **options, **self.some(shards=lambda: self.one_of(0, 1, 3))))
        elif form < 7:
            self.keep(vidi.Set(self.address, **options))
        else:
            vidi.Set.drop(self.address, **self.far_access())

    def remove_from_server(self):
        with contextlib.suppress(vidi.NotFoundError):
            vidi.Set.drop(self.address)

    def create(self):
        path = self.path() if self.in_folders else self.wrong()
        if path in ("", b""):
            return
        self.keep(vidi.Set.create(path, **self.making(), **self.access()))

    def check_shards(self):
        self.a_set().check()

    def claim(self):
        seen, rng = self.a_set(), self.rng
        keys = [self.one_of(b"http://example.org/1", b"http://example.org/2", b"!") for _ in range(rng.randrange(4))]
        payloads = [self.one_of(b"", b"1") for _ in keys]
        owner, lease = self.one_of("a", "b"), self.one_of(1, 1000, 60_000)
        rng.choice([lambda: seen._claim(owner, lease, keys, payloads), lambda: seen._claim(owner, lease, keys, self.wrong()),
                    lambda: seen._finish(owner, keys, self.one_of("commit", "release", "drop")),
                    lambda: seen._renew(owner, lease), lambda: seen._abandon(owner),
                    lambda: seen._reclaim(self.one_of(0, 1, 9), owner, lease, self.one_of(1, 1000)),
                    lambda: seen._claims(self.one_of(owner, None), self.one_of(0, 2), self.one_of(0, 1, 10)),
                    lambda: seen._form(self.one_of(b"HTTP://A/", b"!", b"http://a/" + b"x" * 9000))])()

    def add(self):
        self.a_set().add(self.item())

    def missing(self):
        return self.some(missing=lambda: self.one_of("skip", "skip", "fail"))

    def add_many(self):
        self.a_set().add_many(self.feed(), **self.missing())

    def has_many(self):
        self.a_set().has_many(self.feed(), **self.missing())

    def update(self):
        if self.rng.random() < 0.5:
            self.a_set().update(*(self.feed() for _ in range(self.rng.randrange(3))), **self.missing())
        else:
            seen = self.a_set()
            seen |= self.feed()

    def clear(self):
        self.a_set().clear()

    def contains(self):
        self.item() in self.a_set()

    def new(self):
        self.keep_walk(self.a_set().new(self.feed(), **self.missing()))

    def step(self):
        if self.walks:
            walk = self.rng.choice(self.walks)
            for _ in range(self.rng.choice((1, 1, 2, 10))):
                next(walk, None)
            if self.rng.random() < 0.1 and hasattr(walk, "close"):
                walk.close()

    def discard(self):
        self.a_set().discard(self.item())

    def remove(self):
        self.a_set().remove(self.item())

    def count(self):
        self.a_set().count(self.item())

    def length(self):
        len(self.a_set()), bool(self.a_set())

    def iterate(self):
        self.keep_walk(iter(self.a_set()))

    def hashes(self):
        self.keep_walk(self.a_set().hashes())

    def commit(self):
        seen = self.a_set()
        mark = seen.mark()
        mark = mark if self.rng.random() < 0.7 else self.number()
        self.rng.choice([seen.commit, lambda: seen.commit_to(mark),
                         lambda: seen.commit_note(mark, self.one_of(b"", b"note", bytes(4096), bytes(4097)))])()

    def store(self):
        seen = self.a_set()
        self.rng.choice([seen.sync, seen.snapshot, seen.verify, seen.drop_previous])()

    def rotate(self):
        self.a_set().rotate(**(self.making() if self.rng.random() < 0.5 else {"keep_previous": True}))

    def previous(self):
        self.a_set().seen_previously(self.item())

    def merge(self):
        self.a_set().merge(self.another(), **self.some(force=lambda: self.one_of(True, False)))

    def like(self):
        self.keep(vidi.Set.like(self.another(), self.path(), **self.access()))

    def copy(self):
        self.keep(self.a_set().copy())

    def to_bytes(self):
        self.data = [*self.data[-3:], self.a_set().to_bytes(**self.some(previous=lambda: self.one_of(True, False)))]

    def from_bytes(self):
        data = self.rng.choice(self.data)
        if self.rng.random() < 0.4 and data:
            data = bytearray(data)
            data[self.rng.randrange(len(data))] ^= 1 << self.rng.randrange(8)
            data = bytes(data[:self.rng.randrange(len(data) + 1)] if self.rng.random() < 0.3 else data)
        self.keep(vidi.Set.from_bytes(data if self.rng.random() < 0.95 else self.wrong(), self.path(), **self.access()))

    def tell(self):
        seen = self.a_set()
        repr(seen), str(seen)
        for name in self.rng.sample(("stats", "epochs", "path", "kind", "canon", "read_only", "closed", "note"), 3):
            getattr(seen, name)

    def digest(self):
        self.a_set().content_digest()

    def expect(self):
        self.a_set().expect(self.number())

    def close(self):
        self.a_set().close()

    def leave(self):
        with self.a_set() as seen:
            seen.add(self.url())

    def drop(self):
        if self.sets:
            self.sets.pop(self.rng.randrange(len(self.sets)))
        if self.walks:
            self.walks.pop()

    def canon(self):
        options = self.some(profile=lambda: self.one_of("whatwg", "crawl", "surt", "key=site", "none", "w3lib", "x"),
                            base=self.item, tracking=lambda: self.one_of("utm_*\n", "@builtin\n"))
        vidi.canon(self.item(), **options)

    def join(self):
        vidi.urljoin(self.item(), self.item())

    def plan(self):
        vidi.plan(**self.some(urls=self.number, memory=self.number, error=self.share, lost=lambda: self.one_of(1, 0.1),
                              kind=lambda: self.one_of(*KINDS), params=lambda: self.one_of("", "k=3"),
                              exact=lambda: self.one_of(True, False), url_bytes=lambda: self.one_of(0.0, 80.0)))

    def odd(self):
        seen = self.a_set()
        self.rng.choice([lambda: pickle.dumps(seen), lambda: copy.copy(seen), lambda: copy.deepcopy(seen),
                         lambda: vidi.Set.__new__(vidi.Set).add("x"), lambda: repr(vidi.Set.__new__(vidi.Set)),
                         lambda: seen.__init__(), lambda: vidi.Set.add(self.wrong(), "x"), lambda: seen == self.wrong(),
                         lambda: hash(seen) if type(seen).__hash__ else None, vidi.kinds, lambda: gc.collect(0),
                         lambda: seen.add(), lambda: seen.add("a", "b"), lambda: seen.__exit__(None, None, None)])()

    CALLS = {make: 8, add: 14, add_many: 10, update: 4, clear: 1, has_many: 5, contains: 6, new: 8, step: 12,
             discard: 6, remove: 3,
             count: 3, length: 3, iterate: 4, hashes: 3, commit: 5, store: 3, rotate: 4, previous: 3, merge: 4, like: 2,
             copy: 2, reach: 3, create: 1, check_shards: 1, claim: 2, to_bytes: 3, from_bytes: 4, tell: 5, digest: 2, expect: 2, close: 1, leave: 1, drop: 2, canon: 5,
             join: 3, plan: 0.5, odd: 4}
    NAMES, WEIGHTS = list(CALLS), list(CALLS.values())

    def call(self):
        """One call. Only a documented exception may come out of it, and it ends here."""
        function = self.rng.choices(self.NAMES, self.WEIGHTS)[0]
        try:
            function(self)
        except AssertionError:
            raise
        except Exception as exception:  # noqa: BLE001 (checked)
            check(exception)

    def run(self):
        with contextlib.ExitStack() as stack:
            if self.in_folders:
                os.mkdir(self.folder)
                stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            if self.on_server:
                self.keep(vidi.Set.create(self.address, kind=self.rng.choice(KINDS[:2]), shards=2))
                stack.callback(self.remove_from_server)
            self.keep(vidi.Set(kind=self.rng.choice(KINDS + KINDS[:2] * 3), capacity=100))
            if self.rng.random() < 0.6:
                self.sets[0].add_many(f"http://example.org/{number}" for number in range(15))
            if self.rng.random() < 0.01:
                self.run_threads()
            for _ in range(self.rng.randrange(4, 12)):
                self.call()
            self.sets.clear(), self.walks.clear()

    def run_threads(self):
        """Two more sequences on the same sets, each with random numbers of its own."""
        failures = []

        def work(other):
            try:
                for _ in range(40):
                    other.call()
            except BaseException as failure:  # noqa: BLE001 (told below)
                failures.append(failure)

        others = []
        for number in range(2):
            other = Sequence(self.rng.random(), number, self.folder)
            other.sets, other.in_folders, other.folder = list(self.sets), self.in_folders, self.folder
            other.on_server, other.address = self.on_server, self.address
            others.append(threading.Thread(target=work, args=(other,)))
        for thread in others:
            thread.start()
        for thread in others:
            thread.join()
        if failures:
            raise failures[0]


def run(seed, first, last, folder, progress=None):
    """Runs these sequences and returns the bytes that are left of them. `progress` is a file for the number."""
    _vidi._meter(True)
    gc.freeze()  # so that collecting garbage is quick
    for number in range(first, last):
        if progress is not None:
            os.pwrite(progress, b"%12d" % number, 0)
        try:
            Sequence(seed, number, folder).run()
        except BaseException:
            print(f"sequence {number} of seed {seed}", file=sys.stderr)
            raise
    gc.collect()
    return _vidi._metered()


if __name__ == "__main__":
    import faulthandler

    faulthandler.enable()
    descriptor = os.open(sys.argv[5], os.O_WRONLY | os.O_CREAT, 0o600) if len(sys.argv) > 5 else None
    left = run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], descriptor)
    sys.exit(f"{left} bytes are left" if left else 0)
