"""Arguments whose own code calls the set, closes it, or changes the arguments while a call reads them."""
import gc
import os

import pytest

import vidi
from support.calls import Number
from support.refusal import refused
from support.urls import url, urls


class Calling:
    """An iterable that does something between its items."""

    def __init__(self, items, action):
        self.items, self.action = items, action

    def __iter__(self):
        for index, item in enumerate(self.items):
            if index == 2:
                self.action()
            yield item


BATCHES = {"add_many": lambda s, items: s.add_many(items), "has_many": lambda s, items: s.has_many(items),
           "new": lambda s, items: list(s.new(items))}


def test_an_iterable_may_add_to_the_set_that_reads_it():
    """All items are taken before the first is added, so what the iterable adds was there before."""
    seen = vidi.Set()
    assert seen.add_many(Calling(urls(5), lambda: seen.add(url(0)))) == [False, True, True, True, True]
    assert seen.has_many(Calling(urls(6), lambda: seen.add(url(5)))) == [True] * 6


def test_new_sees_what_its_iterable_adds():
    seen = vidi.Set()
    assert list(seen.new(Calling(urls(5), lambda: seen.add(url(3))))) == [url(0), url(1), url(2), url(4)]


@pytest.mark.parametrize("name", BATCHES)
def test_an_iterable_may_close_the_set_that_reads_it(name):
    seen = vidi.Set()
    refused(vidi.ClosedError, BATCHES[name], seen, Calling(urls(5), seen.close))
    assert seen.closed


@pytest.mark.parametrize("name", BATCHES)
def test_an_iterable_may_rotate_the_set_or_walk_through_it(name):
    seen = vidi.Set(kind="hashset")
    seen.add_many(urls(3, "before"))
    BATCHES[name](seen, Calling(urls(5), seen.rotate))
    BATCHES[name](seen, Calling(urls(5), lambda: list(seen)))
    BATCHES[name](seen, Calling(urls(5), lambda: BATCHES[name](seen, Calling(urls(4), seen.to_bytes))))
    assert seen.stats.epoch == 1


def test_an_iterator_may_ask_its_own_iterator_of_new():
    """A generator that is asked for an item while it makes one: Python's ValueError comes through."""
    seen = vidi.Set()

    def feed():
        yield url(0)
        try:
            next(walk)
        except (ValueError, RuntimeError):
            yield url(1)
        yield url(2)

    walk = seen.new(feed())
    assert list(walk) == [url(0), url(1), url(2)]
    assert seen.has_many(urls(3)) == [True] * 3


def test_asking_for_an_item_while_one_is_made_is_refused():
    seen = vidi.Set()

    class Feed:
        left = iter(urls(4))

        def __iter__(self):
            return self

        def __next__(self):
            refused(ValueError, next, walk)
            refused(ValueError, walk.close)
            return next(self.left)

    walk = seen.new(Feed())
    assert list(walk) == urls(4) and len(seen) == 4


def test_an_iterable_may_close_the_iterator_of_new_that_reads_it():
    seen = vidi.Set()
    walk = seen.new(Calling(urls(5), lambda: walk.close()))
    found = []
    try:
        for link in walk:
            found.append(link)
    except (ValueError, RuntimeError):
        pass
    assert found[:2] == urls(2) and url(0) in seen


def test_a_length_hint_that_lies_does_no_harm():
    class Hinting:
        def __init__(self, hint):
            self.hint, self.left = hint, iter(urls(300))

        def __length_hint__(self):
            if isinstance(self.hint, Exception):
                raise self.hint
            return self.hint

        def __iter__(self):
            return self

        def __next__(self):
            return next(self.left)

    for hint in (0, 1, 299, 301, 10**6, 1 << 60, (1 << 63) - 1):
        try:
            assert len(vidi.Set().add_many(Hinting(hint))) == 300
        except MemoryError:
            assert hint > 10**6  # Python's own list does the same
    for hint in (-1, "many", OSError("no hint"), 1 << 70):
        try:
            assert len(vidi.Set().add_many(Hinting(hint))) == 300
        except (ValueError, TypeError, OverflowError, OSError):
            pass  # as list() does


def test_a_list_that_changes_while_it_is_read():
    """A subclass of list whose iterator shortens it; and one whose length lies."""
    class Shrinking(list):
        def __iter__(self):
            while self:
                yield self.pop()
                self and self.pop()

    class Lying(list):
        def __len__(self):
            return 10**6

        def __getitem__(self, index):
            raise AssertionError("not a list any more")

    assert all(vidi.Set().add_many(Shrinking(urls(301))))
    try:
        assert vidi.Set().add_many(Lying(urls(10))) == [True] * 10
    except AssertionError as exception:
        assert "not a list" in str(exception)


def test_str_subclasses_with_methods_of_their_own_are_read_as_their_text():
    class Trap(str):
        def __str__(self):
            raise AssertionError

        def __hash__(self):
            raise AssertionError

        def __eq__(self, other):
            raise AssertionError

        def encode(self, *_):
            raise AssertionError

        def __len__(self):
            raise AssertionError

    seen = vidi.Set()
    assert seen.add(Trap(url(1))) is True and url(1) in seen
    assert seen.add_many([Trap(url(1)), Trap(url(2))]) == [False, True]
    assert len(list(seen.new([Trap(url(3))]))) == 1


def test_numbers_whose_code_closes_the_set(tmp_path):
    for name, call in {
        "commit_to": lambda s, n: s.commit_to(n), "expect": lambda s, n: s.expect(n),
        "commit_note": lambda s, n: s.commit_note(n, b"note"), "rotate": lambda s, n: s.rotate(capacity=n),
        "error": lambda s, n: s.rotate(error=n),
    }.items():
        seen = vidi.Set(tmp_path / name, manual_commit=True)
        seen.add(url(1))
        refused((vidi.ClosedError, TypeError), call, seen, Number(seen.close, 0))
        seen.close()


def test_truth_whose_code_closes_the_set():
    class Truth:
        def __init__(self, action):
            self.action = action

        def __bool__(self):
            self.action()
            return True

    for call in (lambda s, t: s.merge(vidi.Set.like(s) if not s.closed else s, force=t),
                 lambda s, t: s.rotate(keep_previous=t), lambda s, t: s.to_bytes(previous=t)):
        seen = vidi.Set()
        refused((vidi.ClosedError, TypeError), call, seen, Truth(seen.close))
        seen.close()
    seen = vidi.Set()
    other = vidi.Set.like(seen)
    refused((vidi.ClosedError, TypeError), seen.merge, other, force=Truth(other.close))


def test_a_path_whose_code_uses_sets(tmp_path):
    other = vidi.Set(tmp_path / "other")

    class Path:
        def __fspath__(self):
            other.add(url(1))
            other.close()
            return os.fspath(tmp_path / "set")

    class Failing:
        def __fspath__(self):
            raise LookupError("no path")

    class Wrong:
        def __fspath__(self):
            return 7

    with vidi.Set(Path()) as seen:
        assert seen.add(url(1)) is True
    assert other.closed
    with pytest.raises(LookupError, match="no path"):
        vidi.Set(Failing())
    refused(TypeError, vidi.Set, Wrong())


def test_like_whose_path_closes_the_original(tmp_path):
    seen = vidi.Set()

    class Path:
        def __fspath__(self):
            seen.close()
            return os.fspath(tmp_path / "set")

    for call in (lambda: vidi.Set.like(seen, Path()), lambda: vidi.Set(Path(), like=seen)):
        refused(vidi.ClosedError, call)
    assert not (tmp_path / "set").exists()


def test_errors_of_numbers_come_through_and_change_nothing():
    def fail():
        raise LookupError("no number")

    seen = vidi.Set()
    seen.add(url(1))
    for call in (lambda: seen.expect(Number(fail, 0)), lambda: seen.commit_to(Number(fail, 0)),
                 lambda: seen.rotate(capacity=Number(fail, 0)), lambda: vidi.Set(capacity=Number(fail, 0)),
                 lambda: vidi.plan(urls=10, memory=Number(fail, 0))):
        with pytest.raises((LookupError, TypeError)):
            call()
    assert len(seen) == 1 and seen.stats.epoch == 0


def test_finalizers_that_close_the_set():
    """The last reference to an item goes away inside the call, and its finalizer closes the set."""
    for name in BATCHES:
        seen = vidi.Set()

        class Closing(str):
            def __del__(self, seen=seen):
                seen.close()

        try:
            BATCHES[name](seen, (Closing(link) for link in urls(3)))
        except vidi.ClosedError:
            pass
        gc.collect()
        assert seen.closed


def test_a_cycle_of_a_set_its_iterator_and_its_feed_is_collected():
    from vidi import _vidi

    class Feed:
        def __iter__(self):
            return self

        def __next__(self):
            return url(1)

    _vidi._meter(True)
    try:
        before = _vidi._metered()
        for _ in range(3):
            seen, feed = vidi.Set(), Feed()
            walk = seen.new(feed)
            feed.walk, feed.seen = walk, seen
            next(walk)
            del seen, feed, walk
        gc.collect()
        assert _vidi._metered() == before
    finally:
        _vidi._meter(False)


def test_a_callback_at_exit_may_still_use_sets(tmp_path):
    from support import child

    program = """
import atexit
class Late:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        try:
            held.add(url(1)), len(held)
        except vidi.ClosedError:
            pass
        other = vidi.Set()
        other.add(url(1))
held = vidi.Set(sys.argv[1])
atexit.register(lambda: held.add(url(2)))
late = Late("late"); late.me = late
sys.modules["late"] = late
"""
    assert child.run(program, tmp_path / "set") == ""
    with vidi.Set(tmp_path / "set") as seen:
        assert url(2) in seen
