"""A full disk, too few descriptors, folders that go away: exceptions with a sentence, and nothing lost or left open."""
import gc
import os
import shutil

import pytest

import vidi
from support import child
from support.refusal import check_sentence, refused
from support.urls import url, urls

pytest_plugins = ["support.folders"]

FULL_DISK = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

def fill_up():
    '''From now on no file grows beyond 64 KiB: writes fail as on a full disk.'''
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))

def make_room():
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

def must_fail(call):
    try:
        call()
    except vidi.Error as error:
        assert isinstance(error, OSError) and len(str(error).split()) > 3, repr(error)
        return error
    raise AssertionError("nothing failed")

path = sys.argv[1]
"""


def test_a_full_disk_is_told_and_a_snapshot_afterwards_saves_everything(tmp_path):
    program = FULL_DISK + """
seen = vidi.Set(path, kind="hashset", sync="always", manual_commit=True)
seen.add_many(urls(100))
seen.commit()
fill_up()
seen.add_many(urls(20_000, "more"))
must_fail(seen.commit)
assert all(seen.has_many(urls(100) + urls(20_000, "more")))
make_room()
seen.snapshot()
seen.commit()
assert seen.add(url(1, "last"))
seen.commit()
die()
"""
    child.run_killed(program, tmp_path / "set")
    with vidi.Set(tmp_path / "set") as seen:
        assert all(seen.has_many(urls(100) + urls(20_000, "more") + [url(1, "last")])) and len(seen) == 20_101


def test_a_batch_that_meets_a_full_disk_has_an_answer_for_every_url(tmp_path):
    program = FULL_DISK + """
seen = vidi.Set(path, kind="hashset", sync="always")
fill_up()
batch = urls(20_000)
error = must_fail(lambda: seen.add_many(batch))
answers = error.answers
assert len(answers) == 20_000 and set(answers) <= {True, None}, set(answers)
assert seen.has_many(batch) == [answer is True for answer in answers]
make_room()
seen.snapshot()
again = seen.add_many(batch)
assert again == [answer is None for answer in answers]
print("done")
"""
    assert child.run(program, tmp_path / "set") == "done\n"
    with vidi.Set(tmp_path / "set") as seen:
        assert len(seen) == 20_000


def test_closing_on_a_full_disk_raises_and_closes_all_the_same(tmp_path):
    program = FULL_DISK + """
seen = vidi.Set(path, sync="no", manual_commit=True)
seen.add_many(urls(20_000))
fill_up()
failed = False
try:
    seen.commit()
    seen.close()
except OSError as error:
    failed = isinstance(error, vidi.Error)
assert failed
try:
    seen.close()
except OSError:
    pass
assert seen.closed
make_room()
vidi.Set(path).close()
print("done")
"""
    assert child.run(program, tmp_path / "set") == "done\n"


def test_what_only_closing_notices_is_raised(tmp_path):
    program = FULL_DISK + """
seen = vidi.Set(path, sync="no")
resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
assert seen.add(url(1))  # into a buffer
must_fail(seen.close)
assert seen.closed
make_room()
with vidi.Set(path) as seen:
    assert url(1) not in seen
print("done")
"""
    assert child.run(program, tmp_path / "set") == "done\n"


def test_opening_on_a_full_disk_leaves_no_half_made_set(tmp_path):
    program = FULL_DISK + """
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
must_fail(lambda: vidi.Set(path))
make_room()
with vidi.Set(path) as seen:
    assert seen.add(url(1))
print("done")
"""
    assert child.run(program, tmp_path / "set") == "done\n"


def test_too_few_descriptors_are_told(tmp_path):
    program = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
sets = []
try:
    for number in range(100):
        sets.append(vidi.Set(f"{sys.argv[1]}/{number}"))
except OSError as error:
    assert isinstance(error, vidi.Error) and len(str(error).split()) > 3, repr(error)
else:
    raise AssertionError("there were descriptors enough")
for seen in sets:
    assert seen.add_many(urls(10)) == [True] * 10
    seen.close()
vidi.Set(f"{sys.argv[1]}/{len(sets)}").close()
print("done")
"""
    assert child.run(program, tmp_path) == "done\n"


def used():
    """Descriptors, threads and mapped files of this process."""
    gc.collect()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        mapped = sum("/set" in line for line in maps)
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), mapped


def test_descriptors_threads_and_mappings_are_given_back(tmp_path):
    path = tmp_path / "set"
    other = tmp_path / "file"
    other.write_text("no set")
    before = used()
    for number in range(10):
        seen = vidi.Set(path)
        seen.add(url(number))
        seen.snapshot()
        with pytest.raises(vidi.Error):
            vidi.Set(path)
        with vidi.Set(path, read_only=True) as reader:
            assert url(number) in reader
        vidi.Set(path, read_only=True)
        with pytest.raises(vidi.Error):
            vidi.Set(other)
        with pytest.raises(vidi.Error):
            vidi.Set(tmp_path / "absent", read_only=True)
        if number % 2:
            seen.close()
        del seen
    assert used() == before


def test_the_working_folder_may_change(tmp_path, monkeypatch):
    """A relative path means the folder that it meant when the set was opened."""
    monkeypatch.chdir(tmp_path)
    seen = vidi.Set("here")
    seen.add(url(1))
    monkeypatch.chdir("/")
    seen.snapshot()
    seen.add(url(2))
    seen.rotate(keep_previous=True)
    seen.add(url(3))
    seen.close()
    assert not os.path.exists("/here")
    with vidi.Set(tmp_path / "here") as seen:
        assert url(3) in seen and seen.seen_previously(url(2))


def test_a_folder_that_is_removed_while_it_is_open(tmp_path):
    path = tmp_path / "set"
    seen = vidi.Set(path)
    seen.add_many(urls(100))
    shutil.rmtree(path)
    for call in (lambda: seen.add(url(1, "x")), seen.sync, seen.snapshot, seen.rotate, seen.close):
        try:
            call()
        except vidi.Error as error:
            check_sentence(error)
    assert seen.closed
    with vidi.Set(path) as again:
        assert len(again) == 0


def test_a_reader_whose_files_are_cut_off_raises_instead_of_crashing(tmp_path):
    """The kernel sends SIGBUS for a mapped page that is gone; the library turns it into an error."""
    program = """
path = sys.argv[1]
with vidi.Set(path) as seen:
    seen.add_many(urls(20_000))
    seen.snapshot()
reader = vidi.Set(path, read_only=True)
for name in os.listdir(path):
    os.truncate(f"{path}/{name}", 0)
for call in (lambda: reader.has_many(urls(20_000)), reader.hashes, reader.verify, reader.copy, reader.to_bytes,
             lambda: url(7) in reader, reader.content_digest):
    try:
        call()
    except (vidi.Error, OSError) as error:
        assert len(str(error).split()) > 3, repr(error)
    else:
        raise AssertionError("nothing was noticed")
reader.close()
print("done")
"""
    assert child.run(program, tmp_path / "set") == "done\n"


@pytest.mark.parametrize("name", [b"caf\xe9", "café".encode(), b"a b'c\"d", b"-x", b"%s%n"])
def test_names_of_any_bytes_work(tmp_path, name):
    path = os.path.join(os.fsencode(tmp_path), name)
    for form in (path, os.fsdecode(path)):
        with vidi.Set(form) as seen:
            seen.add(url(1))
            assert os.fsencode(seen.path) == path
            text = repr(seen)
            assert text.startswith("<vidi.Set ") and text.isprintable() or "\udce9" in text
    text = str(refused(vidi.Error, vidi.Set, path + b"/below/it", read_only=True))
    assert text
    with vidi.Set(path, read_only=True) as seen:
        assert url(1) in seen


def test_exits_with_busy_threads_are_clean(quick_folder):
    """Daemon threads in the middle of batches, and sets that nobody closed."""
    program = """
seen, memory = vidi.Set(sys.argv[1], sync="no"), vidi.Set(kind="hashset")
ready = threading.Event()
def work(number):
    batch = urls(2000, f"thread{number}")
    try:
        while True:
            seen.add_many(batch), memory.add_many(batch), memory.rotate(), list(memory), memory.to_bytes()
            ready.set()
    except vidi.ClosedError:
        pass
for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
ready.wait()
"""
    for turn in range(4):
        child.run(program, quick_folder / f"set{turn}")
        with vidi.Set(quick_folder / f"set{turn}") as seen:
            assert len(seen) >= 2000


def test_subclasses_work_or_are_refused():
    try:
        class Mine(vidi.Set):
            def add(self, link):
                self.asked = getattr(self, "asked", 0) + 1
                return super().add(link)
    except TypeError as error:
        check_sentence(error)
        return
    mine = Mine(kind="hashset")
    assert mine.add(url(1)) is True and mine.asked == 1
    mine.me = mine
    twin = Mine.like(mine)
    assert isinstance(twin, vidi.Set) and isinstance(Mine.from_bytes(mine.to_bytes()), vidi.Set)
    mine.close()
    del mine
    gc.collect()
