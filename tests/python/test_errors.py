"""Bad input gets an exception with a sentence, never an internal error or a crash, and leaves the set as it was."""
import os

import pytest

import vidi
from support.refusal import check_sentence, refused, refused_by_library
from support.urls import url, urls

LONE = "http://example.org/\ud800"
WRONG_URLS = [None, 7, -1, 1.5, True, 1j, [], ["http://a/"], {}, object(), Ellipsis, vidi.Set, len]


@pytest.fixture
def seen():
    """A set with something in it, which must be the same at the end of the test."""
    made = vidi.Set(kind="hashset")
    made.add_many(urls(10))
    digest = made.content_digest()
    yield made
    if not made.closed:
        assert made.content_digest() == digest and len(made) == 10


@pytest.mark.parametrize("wrong", WRONG_URLS, ids=repr)
def test_what_is_neither_str_nor_bytes_is_refused_by_its_type(seen, wrong):
    for call in (seen.add, seen.discard, seen.remove, seen.count, lambda item: item in seen):
        text = str(refused(TypeError, call, wrong))
        assert type(wrong).__name__ in text
    for call in (seen.add_many, seen.has_many):
        refused(TypeError, call, [wrong])
    refused(TypeError, list, seen.new([wrong]))


def test_surrogates_are_refused(seen):
    for call in (seen.add, seen.discard, seen.remove, seen.count, lambda item: item in seen,
                 lambda item: seen.add_many([item]), lambda item: seen.has_many([item]),
                 lambda item: list(seen.new([item]))):
        refused(UnicodeEncodeError, call, LONE)


def test_a_string_of_a_hundred_megabytes_is_a_url_like_others():
    seen = vidi.Set()
    huge = "http://example.org/" + "a" * 100_000_000
    assert seen.add(huge) is True
    assert huge in seen
    assert seen.add_many([huge, huge + "b"]) == [False, True]
    del huge
    seen.close()


def test_a_huge_string_beyond_the_memory_limit_is_refused_and_not_added():
    seen = vidi.Set(kind="hashset", memory_limit=1 << 20)
    refused_by_library(MemoryError, seen.add, "http://example.org/" + "a" * 10_000_000)
    assert len(seen) == 0 and seen.add(url(1)) is True


def test_odd_bytes_are_kept_apart(seen):
    odd = ["", " ", "\x00", "http://example.org/\x00", "\n", "%", b"\xff", b"\x00" * 1000]
    assert vidi.Set(canon="none").add_many(odd) == [True] * len(odd)


EVERY_CALL = {
    "add": lambda s: s.add(url(1)), "add_many": lambda s: s.add_many(urls(3)),
    "has_many": lambda s: s.has_many(urls(3)), "in": lambda s: url(1) in s, "new": lambda s: s.new(urls(3)),
    "update": lambda s: s.update(), "|=": lambda s: s.__ior__([]), "clear": lambda s: s.clear(),
    "discard": lambda s: s.discard(url(1)),
    "remove": lambda s: s.remove(url(1)), "count": lambda s: s.count(url(1)), "len": len, "iter": iter,
    "hashes": lambda s: s.hashes(), "mark": lambda s: s.mark(), "commit": lambda s: s.commit(),
    "commit_to": lambda s: s.commit_to(0), "commit_note": lambda s: s.commit_note(0, b""), "note": lambda s: s.note,
    "sync": lambda s: s.sync(), "snapshot": lambda s: s.snapshot(), "verify": lambda s: s.verify(),
    "rotate": lambda s: s.rotate(), "seen_previously": lambda s: s.seen_previously(url(1)),
    "drop_previous": lambda s: s.drop_previous(), "merge": lambda s: s.merge(vidi.Set()),
    "merged": lambda s: vidi.Set().merge(s), "like": lambda s: vidi.Set.like(s), "like=": lambda s: vidi.Set(like=s),
    "copy": lambda s: s.copy(), "to_bytes": lambda s: s.to_bytes(), "stats": lambda s: s.stats,
    "epochs": lambda s: s.epochs, "expect": lambda s: s.expect(1), "content_digest": lambda s: s.content_digest(),
    "with": lambda s: s.__enter__(), "check": lambda s: s.check(),
}


@pytest.mark.parametrize("name", EVERY_CALL)
def test_a_closed_set_says_that_it_is_closed(seen, name):
    seen.close()
    exception = refused_by_library(ValueError, EVERY_CALL[name], seen)
    assert isinstance(exception, vidi.ClosedError)


def test_wrong_types_of_every_argument_are_refused(seen):
    class Odd:
        pass

    other = Odd()
    for wrong in (other, [], {}, 1j, "text", b"bytes", 1.5, None):
        refused(TypeError, seen.merge, wrong)
        refused(TypeError, vidi.Set.like, wrong)
        if wrong is not None:
            refused(TypeError, vidi.Set, like=wrong)
        kind_of_number = ValueError if isinstance(wrong, float) else TypeError  # 1e9 is a whole number, 1.5 is none
        refused(kind_of_number, seen.commit_to, wrong)
        refused(kind_of_number, seen.expect, wrong)
        refused(kind_of_number, seen.commit_note, wrong, b"")
        if not isinstance(wrong, bytes):
            refused(TypeError, seen.commit_note, 0, wrong)
            refused(TypeError, vidi.Set.from_bytes, wrong)
            if wrong is not None:
                refused(TypeError, vidi.Set, key=wrong)
        for option in ("kind", "params", "canon", "tracking", "invalid", "sync"):
            if not isinstance(wrong, (str, type(None))):
                refused(TypeError, vidi.Set, **{option: wrong})
        for option in ("kind", "params"):
            if wrong is not None and not isinstance(wrong, str):
                refused(TypeError, seen.rotate, **{option: wrong})
        for option in ("capacity", "error", "headroom", "memory_limit"):
            if not isinstance(wrong, (float, type(None))) or option in ("capacity", "memory_limit"):
                if wrong is not None:
                    refused((TypeError, ValueError), vidi.Set, **{option: wrong})
        if not isinstance(wrong, (str, bytes, type(None))):
            refused(TypeError, vidi.Set, path=wrong)
            if not isinstance(wrong, (list, dict)):
                refused(TypeError, vidi.Set, wrong)


def test_numbers_out_of_range_are_refused(seen):
    for number in (-1, 1 << 64, 1 << 200, -(1 << 70)):
        refused((ValueError, OverflowError), seen.expect, number)
        refused((ValueError, OverflowError), seen.commit_to, number)
        refused((ValueError, OverflowError), vidi.Set, capacity=number)
        refused((ValueError, OverflowError), vidi.Set, memory_limit=number)
        refused((ValueError, OverflowError), seen.rotate, capacity=number)
    for number in (-1.0, 1.0, 2.0, float("nan"), float("inf"), float("-inf")):
        refused(ValueError, vidi.Set, error=number, capacity=10)
        refused(ValueError, seen.rotate, error=number)
    refused((ValueError, MemoryError), vidi.Set, kind="classic", capacity=1 << 62)


@pytest.mark.parametrize("options", [{"invalid": "perhaps"}, {"invalid": ""}, {"invalid": None}, {"sync": None},
                                     {"sync": "sometimes"}, {"sync": "ALWAYS"},
                                     {"canon": "nonsense"}, {"canon": "crawl,+nonsense"}, {"kind": "nonsense"},
                                     {"params": "nonsense=1"}, {"kind": "hash\x00set"}, {"canon": "whatwg\x00"},
                                     {"invalid": "keep\x00"}, {"params": "x" * 100_000}, {"kind": LONE},
                                     {"tracking": "x", "canon": "whatwg\ud800"}])
def test_wrong_values_of_options_are_refused(options):
    refused(ValueError, vidi.Set, **options)


def test_unknown_and_doubled_arguments_are_refused(seen, tmp_path):
    refused(TypeError, vidi.Set, colour="red")
    refused(TypeError, vidi.Set, "one", "two")
    refused(TypeError, vidi.Set, tmp_path / "a", path=tmp_path / "b")
    refused(TypeError, seen.add)
    refused(TypeError, seen.add, url(1), url(2))
    refused(TypeError, seen.add_many)
    refused(TypeError, seen.rotate, "hashset")
    refused(TypeError, seen.rotate, colour="red")
    refused(TypeError, seen.merge, vidi.Set(), True)
    refused(TypeError, seen.commit_to)
    refused(TypeError, seen.commit_note, 0)
    refused(TypeError, seen.to_bytes, True)
    refused(TypeError, vidi.Set.like)
    refused(TypeError, vidi.Set.like, seen, None, True)
    refused(TypeError, vidi.canon)
    refused(TypeError, vidi.urljoin, "http://a/")
    refused(TypeError, vidi.kinds, 1)
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()


def test_read_only_needs_a_path():
    refused(ValueError, vidi.Set, read_only=True)


def test_like_excludes_what_it_says_already(seen):
    for options in ({"kind": "sorted"}, {"canon": "crawl"}, {"capacity": 10, "lost": 1}):
        with pytest.raises((ValueError, TypeError)) as caught:
            vidi.Set(like=seen, **options)
        check_sentence(caught.value)


def test_a_set_with_an_owner_is_written_to_by_that_owner_alone(tmp_path):
    with vidi.Set(tmp_path / "set", owner="crawl") as seen:
        seen.add("http://a.example/")
    for options in ({}, {"owner": "another"}):
        refused_by_library(vidi.OwnedError, vidi.Set, tmp_path / "set", **options)
    with pytest.raises(PermissionError, match="belongs to 'crawl'"):
        vidi.Set(tmp_path / "set")
    with vidi.Set(tmp_path / "set", read_only=True) as reader:
        assert "http://a.example/" in reader
    with vidi.Set(tmp_path / "set", owner="crawl") as seen:
        assert not seen.add("http://a.example/")
    with vidi.Set(tmp_path / "other") as other:
        assert len(other) == 0
    refused_by_library(vidi.OwnedError, vidi.Set, tmp_path / "other", owner="crawl")


def test_a_path_that_is_a_file_is_refused_and_the_file_left_alone(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"something else")
    for options in ({}, {"read_only": True}, {"accept_damage": True}):
        refused_by_library((OSError, ValueError), vidi.Set, file, **options)
    assert file.read_bytes() == b"something else"
    refused_by_library((OSError, ValueError), vidi.Set, file / "below")


def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    refused_by_library((FileExistsError, ValueError), vidi.Set, tmp_path)
    refused_by_library((OSError, ValueError), vidi.Set, tmp_path, read_only=True)
    assert os.listdir(tmp_path) == ["notes.txt"] and (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("path", ["", b"", "a\x00b", b"a\x00b", "x" * 5000, "/nowhere/at/all", "/proc/nothing",
                                  "/dev/null"])
def test_impossible_paths_are_refused(path):
    exception = refused((OSError, ValueError), vidi.Set, path)
    check_sentence(exception)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_is_refused(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    refused_by_library(OSError, vidi.Set, tmp_path / "locked" / "set")


def test_a_sentence_names_the_path(tmp_path):
    text = str(refused_by_library(FileNotFoundError, vidi.Set, tmp_path / "absent", read_only=True))
    assert "absent" in text


def test_errors_have_a_code_and_one_text():
    with pytest.raises(vidi.Error) as caught:
        vidi.Set(kind="nonsense")
    assert caught.value.code == -2 and caught.value.args == (str(caught.value),)
    assert "nonsense" in str(caught.value)
    for name in dir(vidi):
        value = getattr(vidi, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, vidi.Error) and value.__doc__, name


def test_an_exception_survives_being_pickled():
    """As multiprocessing does with what a worker raises."""
    import pickle

    for call in (lambda: vidi.canon("http://"), lambda: vidi.Set(kind="nonsense")):
        with pytest.raises(vidi.Error) as caught:
            call()
        twin = pickle.loads(pickle.dumps(caught.value))
        assert type(twin) is type(caught.value) and str(twin) == str(caught.value) and twin.code == caught.value.code


def test_the_type_cannot_be_misused():
    for attempt in (lambda: vidi.Set.__new__(vidi.Set).add(url(1)), lambda: len(vidi.Set.__new__(vidi.Set)),
                    lambda: list(vidi.Set.__new__(vidi.Set)), lambda: vidi.Set.add(None, url(1)),
                    lambda: vidi.Set.add(7, url(1)), lambda: vidi.Set.__len__("text"),
                    lambda: type(iter(vidi.Set(kind="hashset")))(), lambda: type(vidi.Set().new([]))(),
                    lambda: object.__new__(vidi.Set)):
        try:
            attempt()
        except (TypeError, ValueError) as exception:
            check_sentence(exception)
    repr(vidi.Set.__new__(vidi.Set))


def test_calling_init_again_leaves_the_set_as_it_was(seen):
    try:
        seen.__init__()
        seen.__init__(kind="list")
    except (TypeError, ValueError, RuntimeError) as exception:
        check_sentence(exception)
