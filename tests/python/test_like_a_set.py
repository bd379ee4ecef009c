"""What people who know Python's own set try first: making a set from URLs, update, |=, clear, and URLs as objects."""
import pathlib
import urllib.parse

import pytest

import vidi
from support.refusal import refused, refused_by_library
from support.urls import url, urls

pytest_plugins = ["support.folders"]
PORTION = 65_536  # items that are read from an iterator at a time


# ---- making a set ----


@pytest.mark.parametrize("shape", [list, tuple, set, iter, dict.fromkeys, lambda u: (x for x in u)])
def test_a_set_is_made_from_any_iterable(shape):
    seen = vidi.Set(shape(urls(300)))
    assert len(seen) == 300 and seen.has_many(urls(301)) == [True] * 300 + [False]


def test_the_urls_of_a_set_in_a_folder_have_a_name(tmp_path):
    with vidi.Set(tmp_path / "set", urls=urls(3)) as seen:
        assert len(seen) == 3
    with vidi.Set(str(tmp_path / "set"), urls=urls(5)) as seen:
        assert len(seen) == 5
    with vidi.Set(urls=urls(2)) as seen:
        assert seen.path is None and len(seen) == 2
    refused(TypeError, vidi.Set, urls(2), urls=urls(2))


@pytest.mark.parametrize("text", ["http://example.org/", b"https://example.org/", "HTTP://a", "x-y+z.1://"])
def test_a_url_in_place_of_a_folder_is_refused(tmp_path, monkeypatch, text):
    """Otherwise there would be a folder "http:"."""
    monkeypatch.chdir(tmp_path)
    assert "vidi.Set([url])" in str(refused_by_library(ValueError, vidi.Set, text))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["crawl.vidi", "a:b", "://", "http:", ":", "7"])
def test_other_text_is_a_folder(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for form in (name, name.encode(), pathlib.Path(name)):
        with vidi.Set(form) as seen:
            assert pathlib.Path(seen.path) == pathlib.Path(name)


def test_what_is_neither_a_folder_nor_urls_is_refused():
    for wrong in (7, 1.5, object(), len, bytearray(b"http://a/"), memoryview(b"http://a/"), Link(url(1)),
                  urllib.parse.urlsplit(url(1)), vidi.Set()):
        refused(TypeError, vidi.Set, wrong)


def test_a_set_that_cannot_be_filled_is_closed(tmp_path):
    for feed in ([url(1), 7], (item for item in [url(1), 7])):
        exception = refused(TypeError, vidi.Set, tmp_path / "set", urls=feed)
        assert "item 1" in str(exception)
        vidi.Set(tmp_path / "set").close()  # nobody has it open


# ---- update, |= and clear ----


def test_update_adds_all_urls_of_all_iterables():
    seen = vidi.Set()
    assert seen.update() is None
    assert seen.update(urls(3), (link for link in urls(5)), {url(7)}, []) is None
    assert len(seen) == 6
    for wrong in (url(1), None, 7, [None]):
        refused(TypeError, seen.update, urls(9), wrong)
        assert len(seen) == 9  # the iterables before it were added
    refused(TypeError, seen.update, urls(3), force=True)


def test_in_place_or_adds_urls():
    seen = same = vidi.Set()
    seen |= urls(3)
    seen |= {url(5).encode(), url(1)}
    assert seen is same and len(seen) == 4
    for wrong in (url(1), None, 7):
        refused(TypeError, seen.__ior__, wrong)
    with pytest.raises(TypeError):
        urls(3) | seen


def test_another_set_is_merged():
    one = vidi.Set(urls(3))
    two = vidi.Set.like(one)
    two.update(urls(5))
    one |= two
    assert len(one) == 5
    two.add(url(9))
    one.update(two, [url(10)])
    assert len(one) == 7 and len(two) == 6
    refused_by_library(vidi.DiffersError, one.update, vidi.Set())


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "classic"])
def test_clear_removes_all_urls(kind):
    seen = vidi.Set(urls(100), kind=kind, capacity=1000, keep_previous=True, key=bytes(16))
    assert seen.clear() is None
    assert len(seen) == 0 and not any(seen.has_many(urls(100)))
    refused_by_library(TypeError, seen.seen_previously, url(1))
    assert all(seen.add_many(urls(100)))
    seen.rotate()  # still keeps the epoch before, as the set was made
    seen.clear(), seen.clear()
    assert len(seen) == 0


def test_clear_holds_in_a_folder(quick_folder):
    with vidi.Set(quick_folder / "set", manual_commit=True) as seen:
        seen.update(urls(10))
        seen.commit()
        seen.add(url(11))
        seen.clear()
        assert len(seen) == 0
    with vidi.Set(quick_folder / "set") as seen:
        assert len(seen) == 0 and seen.add(url(1)) is True


# ---- URLs that are not text ----


class Link:
    """A URL as other packages have them."""

    def __init__(self, text):
        self.text, self.scheme = text, text.partition(":")[0]

    def __str__(self):
        return self.text


def spellings(text):
    """The same URL in all types."""
    data = text.encode()
    return [text, data, bytearray(data), memoryview(data), memoryview(b"x" + data)[1:], Link(text),
            urllib.parse.urlsplit(text), urllib.parse.urlparse(text), urllib.parse.urlsplit(text.encode())]


def test_a_url_may_have_any_of_these_types():
    for spelling in spellings(url(1)):
        seen = vidi.Set(kind="hashset")
        assert spelling not in seen
        assert seen.add(spelling) is True and list(seen) == [url(1)]
        assert seen.add_many([spelling, url(2)]) == [False, True] and seen.has_many([spelling]) == [True]
        assert list(seen.new([spelling, url(3)])) == [url(3)]
        assert spelling in seen and seen.count(spelling) == 1 and seen.discard(spelling) is True
        assert list(seen.new([spelling])) == [spelling] and url(1) in seen  # the item itself comes out
        seen.remove(spelling)
        seen.rotate(keep_previous=True)
        assert seen.seen_previously(spelling) is False


def test_functions_of_urls_take_them_too():
    for spelling in spellings("HTTP://Example.org/a"):
        expected = "http://example.org/a"
        assert vidi.canon(spelling) in (expected, expected.encode())
        assert vidi.canon("b", base=spelling) == "http://example.org/b" == vidi.urljoin(spelling, "b")
        assert vidi.urljoin("ftp://example.com/", spelling) in (expected, expected.encode())


def test_of_two_wrong_urls_one_is_told():
    for call in (lambda: vidi.urljoin(7, "\ud800"), lambda: vidi.canon("\ud800", base=7), lambda: vidi.urljoin(7, 7)):
        refused(TypeError, call)


@pytest.mark.parametrize("make", [("yarl", "URL"), ("httpx", "URL"), ("furl", "furl"), ("urllib3.util", "parse_url")],
                         ids=lambda pair: pair[0])
def test_urls_of_other_packages(make):
    module = pytest.importorskip(make[0])
    spelling = getattr(module, make[1])(url(1))
    seen = vidi.Set()
    assert seen.add(spelling) is True and url(1) in seen and seen.add_many([spelling]) == [False]
    refused(TypeError, seen.add_many, spelling)


class NoText:
    scheme = "http"


class NoURL:
    def __str__(self):
        return url(1)


class Broken:
    scheme = "http"

    def __str__(self):
        raise LookupError("no text")


class BrokenScheme(NoURL):
    @property
    def scheme(self):
        raise LookupError("no scheme")


class Numbered:
    def geturl(self):
        return 7


@pytest.mark.parametrize("wrong", [None, 7, 1.5, True, object(), NoText(), NoURL(), Numbered(), Link, ["http://a/"],
                                   ("http", "a"), pathlib.PurePath("/a"), LookupError(url(1)), {}, len], ids=repr)
def test_objects_that_only_have_some_text_are_refused(wrong):
    """str() of nearly anything is text, and a set must not fill with "<object at 0x7f…>"."""
    seen = vidi.Set()
    for call in (seen.add, seen.discard, seen.count, lambda item: item in seen, lambda item: seen.add_many([item]),
                 lambda item: list(seen.new([item])), lambda item: seen.update([item]), lambda item: vidi.Set([item])):
        refused(TypeError, call, wrong)
    assert len(seen) == 0


@pytest.mark.parametrize("wrong", [Broken(), BrokenScheme()], ids=["str", "scheme"])
def test_what_an_objects_code_raises_comes_through(wrong):
    seen = vidi.Set()
    for call in (seen.add, lambda item: item in seen, lambda item: seen.add_many([item]), vidi.canon,
                 lambda item: list(seen.new([item]))):
        with pytest.raises(LookupError, match="^no "):
            call(wrong)


def test_an_objects_code_may_close_the_set():
    class Closing(Link):
        def __str__(self):
            seen.close()
            return self.text

    for call in (lambda: seen.add(link), lambda: link in seen, lambda: seen.add_many([url(2), link]),
                 lambda: list(seen.new([link])), lambda: seen.seen_previously(link), lambda: seen.count(link)):
        seen, link = vidi.Set(), Closing(url(1))
        refused(vidi.ClosedError, call)


def test_a_bytearray_may_change_afterwards():
    seen = vidi.Set()
    room = bytearray(url(1).encode())
    walk = seen.new([room])
    assert next(walk) is room
    room[-1:] = b"2"
    assert next(walk, None) is None
    assert url(1) in seen and url(2) not in seen


# ---- missing values ----


class NAType:
    """pandas.NA has a class of this name, and comparing it gives neither true nor false."""

    def __eq__(self, other):
        raise TypeError("boolean value of NA is ambiguous")


class NaTType(NAType):
    pass


MISSING = [None, float("nan"), NAType(), NaTType()]


@pytest.mark.parametrize("hole", MISSING, ids=["None", "nan", "NA", "NaT"])
def test_missing_values_are_refused_or_skipped(hole):
    column = [url(1), hole, url(2), url(1), hole]
    seen = vidi.Set()
    for call in (seen.add_many, seen.has_many, seen.update):
        assert "item 1" in str(refused(TypeError, call, column)) and len(seen) == 0
        assert "missing='skip'" in str(refused(TypeError, call, column, missing="fail"))
    assert seen.has_many(column, missing="skip") == [False] * 5
    assert seen.add_many(column, missing="skip") == [True, False, True, False, False]
    assert seen.has_many(iter(column), missing="skip") == [True, False, True, True, False]
    assert seen.add_many([hole] * 3, missing="skip") == [False] * 3
    assert seen.update(column, [hole, url(3)], missing="skip") is None and len(seen) == 3
    assert list(seen.new(column + [url(4)], missing="skip")) == [url(4)]
    refused(TypeError, list, seen.new(column))


def test_only_missing_values_are_skipped():
    seen = vidi.Set()
    for wrong in (7, 1.5, object(), [], Numbered()):
        refused(TypeError, seen.add_many, [url(1), wrong], missing="skip")
    for wrong in ("drop", "", "SKIP"):
        refused_by_library(ValueError, seen.add_many, urls(3), missing=wrong)
    for wrong in (7, b"skip"):
        refused(TypeError, seen.new, urls(3), missing=wrong)
    assert len(seen) == 0


def test_skipped_items_of_a_batch_that_fails_are_answered():
    seen = vidi.Set(invalid="fail")
    with pytest.raises(vidi.InvalidURL) as caught:
        seen.add_many([None, url(1), None, "http://", None, url(2)], missing="skip")
    assert caught.value.answers == [False, True, False, None, False, None]


# ---- iterators are read in portions ----


class Counted(str):
    alive = most = 0

    def __init__(self, _):
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self):
        Counted.alive -= 1


def test_a_generator_is_never_in_memory_as_a_whole():
    count = PORTION + 7
    seen = vidi.Set(key=bytes(16))
    Counted.most = 0
    assert seen.add_many(Counted(url(number)) for number in range(count)) == [True] * count
    assert PORTION <= Counted.most <= PORTION + 1 and Counted.alive == 0
    assert seen.has_many(Counted(url(number)) for number in range(count)) == [True] * count
    seen.update(Counted(url(number)) for number in range(count))
    assert Counted.most <= PORTION + 1 and len(seen) == count


@pytest.mark.parametrize("count", [PORTION - 1, PORTION, PORTION + 1, 2 * PORTION])
def test_an_error_after_some_portions_comes_with_their_answers(count):
    def broken(end):
        yield from urls(count)
        if end is None:
            raise LookupError("the feed broke")
        yield end

    whole = count // PORTION * PORTION
    for end, kind in ((None, LookupError), (7, TypeError)):
        seen = vidi.Set(key=bytes(16))
        with pytest.raises(kind) as caught:
            seen.add_many(broken(end))
        assert getattr(caught.value, "answers", []) == [True] * whole and len(seen) == whole
        if end:
            assert f"item {count}:" in str(caught.value)


def test_what_has_a_length_is_looked_at_before_anything_is_added():
    class Column:
        """Iterable and sized, and neither a list nor a tuple, as a column of a data frame is."""

        def __len__(self):
            return PORTION + 2

        def __iter__(self):
            return iter([*urls(PORTION + 1), None])

    for column in (Column(), dict.fromkeys([*urls(PORTION + 1), None])):
        seen = vidi.Set()
        exception = refused(TypeError, seen.add_many, column)
        assert len(seen) == 0 and not hasattr(exception, "answers")
