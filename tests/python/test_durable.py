"""Sets in folders: what is committed is there after closing, after a kill, and for readers beside the writer."""
import os
import pathlib

import pytest

import vidi
from support import checks, child
from support.refusal import refused_by_library
from support.urls import url, urls


def test_a_path_opens_or_creates(tmp_path):
    path = tmp_path / "crawl.vidi"
    with vidi.Set(path) as seen:
        assert seen.add_many(urls(100)) == [True] * 100
        assert seen.path is not None and os.fsdecode(seen.path) == str(path)
    with vidi.Set(path) as seen:
        assert len(seen) == 100 and seen.add_many(urls(101)) == [False] * 100 + [True]


@pytest.mark.parametrize("form", [str, os.fsencode, pathlib.Path])
def test_paths_are_str_bytes_or_path_like(tmp_path, form):
    path = form(tmp_path / "sät")
    vidi.Set(path).close()
    with vidi.Set(path, read_only=True) as seen:
        assert seen.read_only is True and seen.closed is False


def test_a_relative_path_is_below_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with vidi.Set("here") as seen:
        seen.add(url(1))
    monkeypatch.chdir("/")
    with vidi.Set(tmp_path / "here") as seen:
        assert url(1) in seen


def test_a_set_that_is_dropped_without_closing_keeps_everything(tmp_path):
    path = tmp_path / "set"
    seen = vidi.Set(path)
    seen.add_many(urls(100))
    del seen
    with vidi.Set(path) as seen:
        assert all(seen.has_many(urls(100)))


def test_a_set_that_is_open_at_exit_keeps_everything(tmp_path):
    child.run("seen = vidi.Set(sys.argv[1], sync='no'); seen.add_many(urls(100))", tmp_path / "set")
    child.run("""
class Holder: pass
holder = Holder(); holder.me = holder; holder.seen = vidi.Set(sys.argv[1]); holder.seen.add_many(urls(200))
sys.exit(0)
""", tmp_path / "set")
    with vidi.Set(tmp_path / "set") as seen:
        assert len(seen) == 200


@pytest.mark.parametrize("policy", ["everysec", "always", "no"])
def test_every_sync_policy_keeps_what_was_closed(tmp_path, policy):
    path = tmp_path / policy
    with vidi.Set(path, sync=policy) as seen:
        seen.add(url(0))
        seen.add_many(urls(50))
        seen.sync()
    with vidi.Set(path) as seen:
        assert len(seen) == 50


def test_staged_adds_are_seen_at_once_but_gone_unless_committed(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path, manual_commit=True) as seen:
        assert seen.add(url(0)) and url(0) in seen and not seen.add(url(0))
        seen.commit()
        assert seen.add(url(1))
        assert seen.stats.staged == 1
    with vidi.Set(path, manual_commit=True) as seen:
        assert url(0) in seen and url(1) not in seen
        assert seen.discard(url(0)) is True
        assert url(0) not in seen
    with vidi.Set(path) as seen:
        assert url(0) in seen


def test_commit_to_commits_up_to_the_mark_and_nothing_after_it(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path, manual_commit=True) as seen:
        marks = []
        for number in range(10):
            seen.add(url(number))
            marks.append(seen.mark())
        assert all(type(mark) is int for mark in marks) and marks == sorted(marks)
        seen.commit_to(marks[6])
    with vidi.Set(path) as seen:
        assert seen.has_many(urls(10)) == [True] * 7 + [False] * 3


def test_a_mark_beyond_the_last_is_an_error(tmp_path):
    with vidi.Set(tmp_path / "set", manual_commit=True) as seen:
        seen.add(url(0))
        for mark in (seen.mark() + 1, 2**64 - 1):
            with pytest.raises(ValueError, match="last mark"):
                seen.commit_to(mark)
            with pytest.raises(ValueError, match="last mark"):
                seen.commit_note(mark, b"note")
    with vidi.Set(tmp_path / "set") as seen:
        assert url(0) not in seen


def test_a_note_is_committed_together_with_the_urls(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path, manual_commit=True) as seen:
        assert seen.note == b""
        seen.add(url(0))
        seen.commit_note(seen.mark(), b"offset 4711 \x00\xff")
        seen.add(url(1))
        assert seen.note == b"offset 4711 \x00\xff"
    with vidi.Set(path) as seen:
        assert seen.note == b"offset 4711 \x00\xff" and seen.has_many(urls(2)) == [True, False]
        seen.commit_note(seen.mark(), b"")
        assert seen.note == b""
        seen.commit_note(seen.mark(), bytes(4096))
        refused_by_library(MemoryError, seen.commit_note, seen.mark(), bytes(4097))
        assert seen.note == bytes(4096)
        seen.rotate()
    with vidi.Set(path, read_only=True) as seen:
        assert seen.note == bytes(4096) and len(seen) == 0


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path):
        text = str(refused_by_library(BlockingIOError, vidi.Set, path))
        assert str(os.getpid()) in text
        program = """
try:
    vidi.Set(sys.argv[1])
except BlockingIOError as error:
    print(isinstance(error, vidi.Error), error)
"""
        assert child.run(program, path).startswith("True ")
    vidi.Set(path).close()


def test_readers_work_beside_a_writer_and_see_what_was_committed(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path, manual_commit=True, kind="hashset") as writer:
        writer.add_many(urls(100))
        writer.commit()
        writer.sync()
        writer.add(url(0, "staged"))
        with vidi.Set(path, read_only=True) as one, vidi.Set(path, read_only=True) as two:
            for reader in (one, two):
                assert reader.has_many(urls(101)) == [True] * 100 + [False]
                assert url(0, "staged") not in reader and len(reader) == 100
                assert set(reader) == set(urls(100))
                reader.verify()
            writer.commit()
            writer.sync()
            assert url(0, "staged") not in one
        with vidi.Set(path, read_only=True) as later:
            assert url(0, "staged") in later


def test_a_reader_changes_nothing(tmp_path):
    path = tmp_path / "set"
    vidi.Set(path).close()
    before = {name: (path / name).read_bytes() for name in os.listdir(path)}
    with vidi.Set(path, read_only=True) as reader:
        for call in (lambda: reader.add(url(1)), lambda: reader.add_many(urls(3)), lambda: reader.discard(url(1)),
                     reader.rotate, reader.snapshot, lambda: reader.merge(vidi.Set.like(reader))):
            with pytest.raises(vidi.Error):
                call()
        assert len(reader) == 0
    assert {name: (path / name).read_bytes() for name in os.listdir(path)} == before


def test_read_only_opens_only(tmp_path):
    refused_by_library(FileNotFoundError, vidi.Set, tmp_path / "absent", read_only=True)
    assert not (tmp_path / "absent").exists()


def test_a_snapshot_takes_the_log_in(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path) as seen:
        seen.add_many(urls(1000))
        before = seen.stats
        seen.snapshot()
        after = seen.stats
        assert after.snapshots == before.snapshots + 1 and after.log_bytes < before.log_bytes
        seen.verify()
    with vidi.Set(path) as seen:
        assert len(seen) == 1000


def test_a_rotation_and_the_previous_epoch_are_kept(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path) as seen:
        seen.add_many(urls(10))
        seen.rotate(keep_previous=True)
        seen.add(url(0, "next"))
    with vidi.Set(path) as seen:
        assert len(seen) == 1 and seen.stats.epoch == 1 and seen.seen_previously(url(3))
        assert url(3) not in seen and [epoch.count for epoch in seen.epochs] == [10]


def test_sets_like_others_copies_and_merges_in_folders(tmp_path):
    with vidi.Set(tmp_path / "one") as one, vidi.Set.like(one, tmp_path / "two") as two:
        one.add_many(urls(100)), two.add_many(urls(100, start=50))
        one.merge(two)
        with one.copy() as copy:
            assert copy.path is None and len(copy) == len(one) == 150
    with vidi.Set(tmp_path / "one") as one:
        assert all(one.has_many(urls(150)))


KILLED_AFTER_SYNC = """
seen = vidi.Set(sys.argv[1], sync=sys.argv[2], manual_commit=sys.argv[3] == "manual")
for number in range(20):
    seen.add(url(number))
seen.add_many(urls(1000, "batch"))
seen.discard(url(7))
seen.commit()
if sys.argv[2] != "always":
    seen.sync()
die()
"""


@pytest.mark.parametrize("policy", ["everysec", "always", "no"])
@pytest.mark.parametrize("commits", ["manual", "automatic"])
def test_after_commit_and_sync_a_kill_loses_nothing(tmp_path, policy, commits):
    child.run_killed(KILLED_AFTER_SYNC, tmp_path / "set", policy, commits)
    with vidi.Set(tmp_path / "set") as seen:
        assert seen.has_many(urls(20)) == [number != 7 for number in range(20)]
        assert all(seen.has_many(urls(1000, "batch"))) and len(seen) == 1019


def test_a_note_and_its_urls_survive_a_kill_together(tmp_path):
    child.run_killed("""
seen = vidi.Set(sys.argv[1], manual_commit=True, sync="always")
for number in range(30):
    seen.add(url(number))
    seen.commit_note(seen.mark(), b"%d" % number)
seen.add(url(30))
die()
""", tmp_path / "set")
    with vidi.Set(tmp_path / "set") as seen:
        assert seen.note == b"29" and seen.has_many(urls(31)) == [True] * 30 + [False]


@pytest.mark.parametrize("point", ["rotate", "snapshot"])
def test_a_kill_after_rotating_or_a_snapshot_loses_nothing(tmp_path, point):
    child.run_killed("""
seen = vidi.Set(sys.argv[1], kind="hashset")
seen.add_many(urls(500))
seen.rotate() if sys.argv[2] == "rotate" else seen.snapshot()
die()
""", tmp_path / "set", point)
    with vidi.Set(tmp_path / "set") as seen:
        assert (seen.stats.epoch, len(seen)) == ((1, 0) if point == "rotate" else (0, 500))


def test_a_kill_around_a_commit_loses_nothing_committed_and_keeps_nothing_else(tmp_path):
    checks.check_kill_around_commit("vidi:Set", tmp_path)


def test_what_was_yielded_last_is_new_again_after_a_kill(tmp_path):
    checks.check_kill_inside_new("vidi:Set", tmp_path)


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    for number in range(3):
        child.run_killed("seen = vidi.Set(sys.argv[1], sync='always'); seen.add(url(sys.argv[2])); die()",
                         tmp_path / "set", number)
    with vidi.Set(tmp_path / "set") as seen:
        assert len(seen) == 3
