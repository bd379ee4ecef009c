"""to_bytes and from_bytes: a set travels whole; damage anywhere is an exception, in bytes as in files."""
import os
import random

import pytest

import vidi
from support.refusal import check_sentence, refused, refused_by_library
from support.urls import url, urls

pytest_plugins = ["support.folders"]

LONG = os.environ.get("VIDI_TEST_LONG") == "1"


def test_a_set_travels_whole():
    seen = vidi.Set(capacity=1000, canon="crawl")
    seen.add_many(urls(500))
    data = seen.to_bytes()
    assert type(data) is bytes
    twin = vidi.Set.from_bytes(data)
    assert isinstance(twin, vidi.Set) and twin.path is None
    assert (len(twin), twin.kind, twin.canon) == (500, seen.kind, seen.canon)
    assert twin.content_digest() == seen.content_digest()
    assert twin.add_many(urls(501)) == [False] * 500 + [True]
    assert len(seen) == 500
    seen.merge(twin)
    assert len(seen) == 501


def test_a_set_can_be_unpacked_into_a_folder(tmp_path):
    seen = vidi.Set(kind="hashset")
    seen.add_many(urls(10))
    with vidi.Set.from_bytes(seen.to_bytes(), tmp_path / "set", manual_commit=True, sync="always") as twin:
        assert set(twin) == set(urls(10))
        twin.add(url(10))
    with vidi.Set(tmp_path / "set") as twin:
        assert len(twin) == 10
        assert vidi.Set.from_bytes(twin.to_bytes()).content_digest() == seen.content_digest()
    refused_by_library(FileExistsError, vidi.Set.from_bytes, seen.to_bytes(), tmp_path / "set")


def test_the_previous_epoch_travels_if_asked_to():
    seen = vidi.Set()
    seen.add(url(1))
    seen.rotate(keep_previous=True)
    seen.add(url(2))
    whole = vidi.Set.from_bytes(seen.to_bytes(previous=True))
    assert whole.seen_previously(url(1)) and url(2) in whole and len(whole) == 1 and whole.stats.epoch == 1
    current = vidi.Set.from_bytes(seen.to_bytes())
    assert url(2) in current
    refused_by_library(TypeError, current.seen_previously, url(1))


def test_access_options_are_those_of_a_set():
    data = vidi.Set().to_bytes()
    assert vidi.Set.from_bytes(data, invalid="drop").add("http://") is False
    assert vidi.Set.from_bytes(data, memory_limit=1 << 24).stats.memory_limit == 1 << 24
    refused(TypeError, vidi.Set.from_bytes, data, kind="hashset")
    refused(ValueError, vidi.Set.from_bytes, data, invalid="perhaps")


@pytest.mark.parametrize("wrong", [None, 7, "text", [], object()])
def test_wrong_types_are_refused(wrong):
    refused(TypeError, vidi.Set.from_bytes, wrong)


def small(kind):
    seen = vidi.Set(kind=kind, capacity=20, error=0.01)
    seen.add_many(urls(20))
    return seen.to_bytes()


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "classic", "blocked"])
def test_every_flipped_byte_is_noticed(kind):
    data = small(kind)
    places = range(len(data)) if LONG or len(data) < 1500 else sorted(
        {*range(600), *range(len(data) - 200, len(data)), *random.Random(18).sample(range(len(data)), 700)})
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises((ValueError, MemoryError)) as caught:
            vidi.Set.from_bytes(bytes(damaged))
        assert isinstance(caught.value, vidi.Error), place
    check_sentence(caught.value)
    vidi.Set.from_bytes(data)


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "classic"])
def test_every_truncation_and_anything_behind_the_end_is_noticed(kind):
    data = small(kind)
    lengths = range(len(data)) if LONG else sorted({*range(300), *range(len(data) - 100, len(data)),
                                                    *range(0, len(data), 97)})
    for length in lengths:
        with pytest.raises(ValueError) as caught:
            vidi.Set.from_bytes(data[:length])
        assert isinstance(caught.value, vidi.Error)
    for more in (b"\0", b"x" * 1000, data):
        refused_by_library(ValueError, vidi.Set.from_bytes, data + more)


def test_noise_is_refused():
    rng = random.Random(18)
    for length in (0, 1, 7, 64, 100, 4096, 100_000):
        for _ in range(5):
            refused_by_library(ValueError, vidi.Set.from_bytes, rng.randbytes(length))


def test_a_failed_unpacking_leaves_no_set_behind(tmp_path):
    data = bytearray(small("hashset"))
    data[len(data) // 2] ^= 1
    refused_by_library(ValueError, vidi.Set.from_bytes, bytes(data), tmp_path / "set")
    refused_by_library(FileNotFoundError, vidi.Set, tmp_path / "set", read_only=True)


def in_a_folder(path, snapshot):
    with vidi.Set(path, kind="hashset") as seen:
        seen.add_many(urls(20))
        if snapshot:
            seen.snapshot()
            seen.add_many(urls(5, "log"))


def restore(path, files):
    """Makes the folder what it was."""
    for name in os.listdir(path):
        os.unlink(path / name)
    for name, content in files.items():
        (path / name).write_bytes(content)


def look(path, **options):
    """What a folder that may be damaged holds; None after an exception, which must be one of ours."""
    try:
        with vidi.Set(path, **options) as seen:
            seen.verify()
            return set(seen)
    except (ValueError, OSError, MemoryError, TypeError) as exception:
        assert isinstance(exception, vidi.Error), repr(exception)
        check_sentence(exception)
        return None


@pytest.mark.parametrize("snapshot", [False, True])
def test_flipped_bytes_in_the_files_of_a_folder_are_noticed(quick_folder, snapshot):
    """A writer raises or has all that was there. A reader may have less, but nothing that was never added."""
    path = quick_folder / "set"
    in_a_folder(path, snapshot)
    truth = set(urls(20)) | (set(urls(5, "log")) if snapshot else set())
    files = {name: (path / name).read_bytes() for name in sorted(os.listdir(path))}
    rng, noticed = random.Random(18), 0
    for name, data in files.items():
        places = set(rng.sample(range(len(data)), min(len(data), 2000 if LONG else 60)))
        for place in sorted(places):
            damaged = bytearray(data)
            damaged[place] ^= 1 << rng.randrange(8)
            for options in ({"read_only": True}, {}):
                restore(path, files)
                (path / name).write_bytes(damaged)
                found = look(path, **options)
                noticed += found is None
                assert found is None or found == truth or options and found < truth, (name, place)
    assert noticed > 20


def test_a_damaged_log_opens_with_accept_damage(quick_folder):
    path = quick_folder / "set"
    with vidi.Set(path) as seen:
        for number in range(200):
            seen.add_many(urls(10, f"batch{number}"))
            seen.sync()
    log = max(path.iterdir(), key=lambda file: file.stat().st_size)
    data = bytearray(log.read_bytes())
    middle = len(data) // 2
    data[middle:middle + 40] = bytes(40)
    log.write_bytes(data)
    refused_by_library(OSError, vidi.Set, path)
    with vidi.Set(path, accept_damage=True) as seen:
        left = sum(sum(seen.has_many(urls(10, f"batch{number}"))) for number in range(200))
        assert 1000 < left < 2000
    with vidi.Set(path) as seen:
        assert len(seen) == left


def test_a_reader_can_be_asked_whether_something_is_missing(quick_folder):
    path = quick_folder / "set"
    in_a_folder(path, True)
    with vidi.Set(path, read_only=True) as seen:
        assert seen.recovered.is_whole and seen.recovered.damaged_bytes == 0
    log = max(file for file in path.iterdir() if file.name.startswith("log"))
    data = bytearray(log.read_bytes())
    data[-8] ^= 255
    log.write_bytes(data)
    with vidi.Set(path, read_only=True) as seen:
        assert len(seen) < 25 and seen.recovered.damaged_bytes + seen.recovered.unfinished_bytes > 0
    os.unlink(log)
    with vidi.Set(path, read_only=True) as seen:
        assert len(seen) == 20 and not seen.recovered.is_whole and seen.recovered.missing_file == log.name
    assert vidi.Set().recovered is None


def test_a_missing_file_is_noticed_by_the_writer(quick_folder):
    """A reader may take what is left, but invents nothing."""
    path = quick_folder / "set"
    in_a_folder(path, True)
    truth = set(urls(20)) | set(urls(5, "log"))
    files = {name: (path / name).read_bytes() for name in os.listdir(path)}
    for name in files:
        for options in ({"read_only": True}, {}):
            restore(path, files)
            os.unlink(path / name)
            found = look(path, **options)
            assert found is None or found == truth or options and found < truth, name
