"""What only the extension's own files promise: pieces of a batch, hints, forgotten sets, a second import."""
import ctypes
import gc
import importlib
import itertools
import shutil
import signal
import sys

import pytest

import vidi
from support import child
from support.urls import urls


SECOND_IMPORT = """
old = vidi
for name in [name for name in sys.modules if name.split(".")[0] == "vidi"]:
    del sys.modules[name]
import vidi
assert vidi.ClosedError is not old.ClosedError
seen = vidi.Set()
seen.close()
try:
    seen.add(url(1))
except vidi.ClosedError:
    print("caught")
"""


class Interrupt(Exception):
    pass


@pytest.fixture
def interrupted():
    """An iterable of n URLs, at whose end a signal arrives that Python has not noticed yet."""
    def stop(number, frame):
        raise Interrupt

    before = signal.signal(signal.SIGUSR1, stop)
    raise_signal = getattr(ctypes.CDLL(None), "raise")
    # raise() of the C library answers 0: so the last item is left out, and no bytecode runs before the batch does.
    yield lambda n: itertools.compress([*urls(n), "no item"],
                                       itertools.chain([True] * n, map(raise_signal, [signal.SIGUSR1])))
    signal.signal(signal.SIGUSR1, before)


def test_a_signal_ends_a_batch_between_two_pieces_and_its_exception_has_the_answers(interrupted):
    seen = vidi.Set()
    with pytest.raises(Interrupt) as caught:
        seen.add_many(interrupted(5_000))
    answers = caught.value.answers
    added = len(seen)
    assert 0 < added < 5_000
    assert answers == [True] * added + [None] * (5_000 - added)
    assert seen.add_many(urls(5_000)) == [False] * added + [True] * (5_000 - added)


def test_a_signal_ends_new_among_urls_that_are_not_new(interrupted):
    seen = vidi.Set()
    seen.add_many(urls(3))
    feed = itertools.chain(interrupted(3), itertools.repeat(urls(3)[0], 100_000))
    with pytest.raises(Interrupt):
        next(seen.new(feed))


def test_sets_of_a_few_urls_take_little_memory():
    seen = vidi.Set()
    seen.add_many(urls(30))
    assert seen.stats.memory_bytes < 3_000
    seen.add_many(urls(16_000))
    assert seen.stats.memory_bytes < 200_000


def test_a_batch_of_repeats_is_no_reason_to_grow():
    seen = vidi.Set()
    seen.add_many(urls(10) * 50_000)
    assert seen.stats.memory_bytes < 3_000


@pytest.mark.parametrize("way", ["capacity", "expect"])
def test_who_knows_the_number_of_urls_gets_no_other_hints(way):
    seen = vidi.Set(capacity=100) if way == "capacity" else vidi.Set()
    if way == "expect":
        seen.expect(100)
    for url in urls(5_000):
        seen.add(url)
    assert seen.stats.memory_bytes < 60_000


def test_a_finalizer_of_a_subclass_does_not_keep_the_set_open(tmp_path):
    class Forgetful(vidi.Set):
        def __del__(self):
            pass

    seen = Forgetful(tmp_path / "set")
    seen.add("http://example.org/")
    seen.me = seen
    del seen
    gc.collect()
    with vidi.Set(tmp_path / "set") as again:
        assert len(again) == 1


def test_initialising_twice_is_refused_and_the_set_stays(tmp_path):
    seen = vidi.Set()
    seen.add("http://example.org/")
    with pytest.raises(ValueError, match="open already"):
        seen.__init__(tmp_path / "set")
    assert "http://example.org/" in seen
    with vidi.Set(tmp_path / "set") as other:  # closed again, when there was no place for it
        assert len(other) == 0


def test_a_subclass_that_opens_nothing_is_a_closed_set():
    class Lazy(vidi.Set):
        def __init__(self):
            pass

    lazy = Lazy()
    assert lazy.closed and "closed" in repr(lazy)
    with pytest.raises(vidi.ClosedError):
        lazy.add("http://example.org/")
    lazy.close()


def test_after_a_second_import_its_exceptions_are_raised():
    assert child.run(SECOND_IMPORT).strip() == "caught"


def test_sub_interpreters_are_refused():
    interpreters = pytest.importorskip("_xxsubinterpreters")
    other = interpreters.create()
    with pytest.raises(interpreters.RunFailedError, match="main interpreter only"):
        interpreters.run_string(other, f"import sys; sys.path[:] = {sys.path!r}; import vidi")
    interpreters.destroy(other)
    assert importlib.import_module("vidi").Set().add("http://example.org/")


def test_a_folder_that_is_gone_is_not_a_missing_key(tmp_path):
    seen = vidi.Set(tmp_path / "set")
    shutil.rmtree(tmp_path / "set")
    with pytest.raises(vidi.Error) as caught:
        seen.snapshot()
    assert isinstance(caught.value, OSError) and not isinstance(caught.value, KeyError)


@pytest.mark.parametrize("option", [{"kind": "hashset"}, {"params": "bits=40"}, {"capacity": 10}, {"error": 0.1},
                                    {"canon": "none"}, {"tracking": "a"}, {"capacity": 10, "lost": 1}])
def test_like_brings_what_both_sets_must_have_in_common(option):
    with pytest.raises(vidi.OptionError, match="^like brings kind"):
        vidi.Set(like=vidi.Set(), **option)
