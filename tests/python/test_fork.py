"""Forked processes: a child that inherits a set is told so at every call, and its parent goes on undisturbed."""
import multiprocessing
import os

import pytest

import vidi
from support import child
from support.urls import url, urls
from test_errors import EVERY_CALL


def in_a_fork(work):
    """Runs work() in a forked child and returns what it returned, as text; fails if the child does."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.write(writer, str(work()).encode())
            status = 0
        except BaseException as failure:  # noqa: BLE001 (told to the parent)
            os.write(writer, repr(failure).encode()[:4000])
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    assert os.waitpid(pid, 0)[1] == 0, text
    return text


def what_is_raised(call, seen):
    try:
        call(seen)
    except vidi.ForkError as error:
        assert isinstance(error, RuntimeError) and isinstance(error, vidi.Error) and len(str(error).split()) > 3
        return "ForkError"
    except BaseException as error:  # noqa: BLE001 (compared)
        return repr(error)
    return "nothing"


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_every_call_of_a_child_is_refused(tmp_path, where):
    seen = vidi.Set(tmp_path / "set" if where == "folder" else None, kind="hashset")
    seen.add_many(urls(10))
    answers = in_a_fork(lambda: {name: what_is_raised(call, seen) for name, call in EVERY_CALL.items()})
    wrong = {name: answer for name, answer in eval(answers).items() if answer != "ForkError"}
    assert not wrong
    assert seen.add(url(10)) is True and len(seen) == 11
    seen.close()
    if where == "folder":
        with vidi.Set(tmp_path / "set") as again:
            assert len(again) == 11


def test_a_child_may_close_or_drop_what_it_inherited(tmp_path):
    seen = vidi.Set(tmp_path / "set")
    seen.add(url(1))
    holder = [seen]

    def work():
        try:
            holder[0].close()
        except vidi.ForkError:
            pass
        repr(holder[0])
        holder.clear()
        return "done"

    assert in_a_fork(work) == "done"
    assert seen.add(url(2)) is True
    seen.sync()
    with vidi.Set(tmp_path / "set", read_only=True) as reader:
        assert len(reader) == 2


def test_iterators_of_a_child_are_refused_too():
    seen = vidi.Set()
    walk = seen.new(urls(3))
    next(walk)
    assert in_a_fork(lambda: what_is_raised(lambda _: next(walk), seen)) == "ForkError"
    assert next(walk) == url(1)


def test_a_child_may_make_sets_of_its_own(tmp_path):
    inherited = vidi.Set()
    inherited.add(url(1))

    def work():
        own = vidi.Set()
        first, second = own.add(url(1)), own.add(url(1))
        with vidi.Set(tmp_path / "set") as folder:
            folder.add_many(urls(10))
        return first, second, vidi.canon("http://A/"), what_is_raised(lambda s: s.merge(own), inherited), \
            what_is_raised(lambda s: own.merge(s), inherited)

    assert in_a_fork(work) == str((True, False, "http://a/", "ForkError", "ForkError"))
    with vidi.Set(tmp_path / "set") as folder:
        assert len(folder) == 10


def test_grandchildren_are_refused_what_their_parent_made():
    def work():
        own = vidi.Set()
        own.add(url(1))
        return in_a_fork(lambda: what_is_raised(lambda s: s.add(url(2)), own)), own.add(url(2))

    assert in_a_fork(work) == str(("ForkError", True))


def test_the_folder_stays_locked_by_the_parent_alone(tmp_path):
    """A child that outlives its parent's set must not keep the lock."""
    seen = vidi.Set(tmp_path / "set")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    os.close(reader)
    seen.close()
    try:
        with vidi.Set(tmp_path / "set") as again:
            assert again.add(url(1)) is True
    finally:
        os.close(writer)
        os.waitpid(pid, 0)


EXITS = """
path = sys.argv[1] or None
seen = vidi.Set(path, kind="hashset", sync="no")
other = vidi.Set(kind="hashset")
stop = threading.Event()

def batches():
    number = 0
    while not stop.is_set():
        seen.add_many(urls(500, f"b{number}"))
        other.add_many(urls(500, f"b{number}"))
        iter(other)
        number += 1

thread = threading.Thread(target=batches)
thread.start()
for turn in range(12):
    pid = os.fork()
    if pid == 0:
        try:
            seen.add(url(1))
        except vidi.ForkError:
            del seen, other
            gc.collect()
            if turn % 2:
                os._exit(7)
            sys.exit(7)
        os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 7, status
stop.set()
thread.join()
assert seen.add(url(1)) is True
seen.close()
print("done")
"""


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_a_child_that_was_forked_during_a_batch_can_exit(tmp_path, where):
    assert child.run(EXITS, tmp_path / "set" if where == "folder" else "") == "done\n"


shared = None


def use_what_is_shared(link):
    try:
        return shared.add(link) if shared else None
    except vidi.ForkError:
        return "ForkError"


def canonical(link):
    return vidi.canon(link)


def add_to_own(links):
    own = vidi.Set(kind="hashset")
    own.add_many(links)
    return own.to_bytes()


def raise_our_error(link):
    return vidi.canon(link)


def test_multiprocessing_with_fork():
    global shared
    shared = vidi.Set()
    shared.add(url(0))
    try:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(use_what_is_shared, urls(4)) == ["ForkError"] * 4
            assert pool.map(canonical, ["HTTP://A/b"]) == ["http://a/b"]
            parts = pool.map(add_to_own, [urls(10), urls(10, start=5)])
            with pytest.raises(vidi.InvalidURL):
                pool.map(raise_our_error, ["http://"])
        whole = vidi.Set(kind="hashset")
        for part in parts:
            whole.merge(vidi.Set.from_bytes(part))
        assert set(whole) == set(urls(15))
        assert shared.add(url(1)) is True
    finally:
        shared = None


SPAWN = """
import multiprocessing
from test_fork import canonical, add_to_own, use_what_is_shared

if __name__ == "__main__":
    held = vidi.Set(sys.argv[1])
    context = multiprocessing.get_context(sys.argv[2])
    with context.Pool(1) as pool:
        assert pool.map(canonical, ["HTTP://A/b"]) == ["http://a/b"]
        assert pool.map(use_what_is_shared, urls(1)) == [None]
        assert len(vidi.Set.from_bytes(pool.map(add_to_own, [urls(10)])[0])) == 10
        try:
            pool.map(len, [held])
        except TypeError as error:
            assert "to_bytes" in str(error) or "path" in str(error), error
        else:
            raise AssertionError("a set was sent to another process")
    assert held.add(url(1)) is True
    held.close()
    print("done")
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_multiprocessing_with_new_processes(tmp_path, method):
    """A set cannot be sent to another process; the sentence says what can."""
    assert child.run(SPAWN, tmp_path / "set", method) == "done\n"


def test_a_child_at_exit_leaves_the_parents_folder_alone(tmp_path):
    """The hook that closes open sets at exit must not close an inherited one."""
    program = """
seen = vidi.Set(sys.argv[1], manual_commit=True, sync="always")
seen.add(url(1))
pid = os.fork()
if pid == 0:
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
seen.commit()
assert seen.add(url(2)) is True
seen.commit()
print("done")
"""
    assert child.run(program, tmp_path / "set") == "done\n"
    with vidi.Set(tmp_path / "set") as seen:
        assert seen.has_many(urls(4)) == [False, True, True, False]
