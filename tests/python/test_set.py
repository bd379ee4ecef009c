"""A set in memory, one URL at a time: what is new, what was seen, and what a set says about itself."""
import copy
import gc
import pickle

import pytest

import vidi
from support.refusal import refused, refused_by_library
from support.urls import url, urls

PAGE = "https://example.org/page"


def test_a_url_is_new_once():
    seen = vidi.Set()
    assert seen.add(PAGE) is True
    assert seen.add(PAGE) is False
    assert seen.add(PAGE + "2") is True


def test_asking_does_not_add():
    seen = vidi.Set()
    assert PAGE not in seen
    assert PAGE not in seen
    assert seen.add(PAGE) is True
    assert PAGE in seen


def test_len_counts_each_url_once():
    seen = vidi.Set()
    assert len(seen) == 0 and not seen
    for link in urls(50) + urls(50):
        seen.add(link)
    assert len(seen) == 50 and seen


def test_str_and_bytes_of_the_same_text_are_one_url():
    seen = vidi.Set()
    assert seen.add(PAGE) is True
    assert seen.add(PAGE.encode()) is False
    assert seen.add("https://example.org/été") is True
    assert seen.add("https://example.org/été".encode()) is False
    assert "https://example.org/été".encode() in seen


def test_subclasses_of_str_and_bytes_are_taken():
    class Link(str):
        pass

    class Raw(bytes):
        pass

    seen = vidi.Set()
    assert seen.add(Link(PAGE)) is True
    assert seen.add(Raw(PAGE.encode())) is False
    assert Link(PAGE) in seen


def test_spellings_of_one_page_are_one_url():
    seen = vidi.Set()
    assert seen.add("HTTPS://EXAMPLE.org:443/a/../page#top") is True
    assert PAGE in seen
    assert seen.add(PAGE) is False


def test_the_canonical_form_can_be_chosen():
    bytes_as_they_are = vidi.Set(canon="none")
    assert bytes_as_they_are.add("http://EXAMPLE.org/") and bytes_as_they_are.add("http://example.org/")
    hosts = vidi.Set(canon="key=host")
    assert hosts.add("http://example.org/a") and not hosts.add("http://example.org/b")
    crawl = vidi.Set(canon="crawl")
    assert crawl.add("http://example.org/?b=2&a=1") and not crawl.add("http://example.org/?a=1&b=2")
    assert crawl.canon.startswith("crawl/") and vidi.Set().canon.startswith("whatwg/")


def test_the_list_of_tracking_parameters_can_be_chosen():
    own = vidi.Set(canon="crawl", tracking="visitor_*\n")
    assert own.add("http://example.org/?q=1") and not own.add("http://example.org/?q=1&visitor_id=7")
    usual = vidi.Set(canon="crawl")
    assert usual.add("http://example.org/?q=1") and usual.add("http://example.org/?q=1&visitor_id=7")


def test_what_is_not_a_url_is_kept_dropped_or_refused():
    keep, drop, fail = (vidi.Set(invalid=policy) for policy in ("keep", "drop", "fail"))
    assert keep.add("http://") is True and keep.add("http://") is False and "http://" in keep
    assert drop.add("http://") is False and len(drop) == 0 and "http://" not in drop
    exception = refused_by_library(ValueError, fail.add, "http://")
    assert isinstance(exception, vidi.InvalidURL)
    assert len(fail) == 0
    assert fail.add(PAGE) is True


def test_discard_tells_whether_the_url_was_there():
    seen = vidi.Set()
    seen.add(PAGE)
    assert seen.discard(PAGE + "2") is False
    assert seen.discard(PAGE) is True
    assert PAGE not in seen and len(seen) == 0
    assert seen.discard(PAGE) is False
    assert seen.add(PAGE) is True


def test_remove_raises_key_error_like_a_set():
    seen = vidi.Set()
    seen.add(PAGE)
    assert seen.remove(PAGE.encode()) is None
    refused_by_library(KeyError, seen.remove, PAGE)


def test_count_tells_how_often_a_url_was_added():
    every = vidi.Set(kind="hashset", params="multiset=on")
    assert every.count(PAGE) == 0
    for _ in range(3):
        every.add(PAGE)
    assert every.count(PAGE) == 3
    every.discard(PAGE)
    assert every.count(PAGE) == 2
    assert PAGE in every
    once = vidi.Set()
    once.add(PAGE), once.add(PAGE)
    assert once.count(PAGE) == 1


def test_kinds_that_keep_urls_are_iterable():
    seen = vidi.Set(kind="hashset")
    for link in urls(100):
        seen.add(link.encode())
    found = list(seen)
    assert sorted(found) == sorted(urls(100))
    assert all(type(link) is str for link in found)


def test_iteration_gives_back_bytes_that_are_not_utf8():
    seen = vidi.Set(kind="hashset", canon="none")
    odd = [b"\xff\xfe", b"http://example.org/\xe9", b"\x00", b""]
    for data in odd:
        assert seen.add(data) is True
    assert sorted(link.encode("utf-8", "surrogateescape") for link in seen) == sorted(odd)
    percent = vidi.Set(kind="hashset")
    percent.add(b"http://example.org/\xe9")
    assert list(percent) == ["http://example.org/%E9"]


def test_kinds_that_keep_hashes_list_those():
    seen = vidi.Set()
    for link in urls(300):
        seen.add(link)
    exception = refused(TypeError, iter, seen)
    assert "hashes" in str(exception)
    hashes = list(seen.hashes())
    assert len(set(hashes)) == 300 and all(type(number) is int for number in hashes)


def test_an_iterator_shows_the_set_as_it_was_and_does_not_mind_changes():
    seen = vidi.Set(kind="hashset")
    for link in urls(10):
        seen.add(link)
    walk = iter(seen)
    first = next(walk)
    for link in urls(1000, "later"):
        seen.add(link)
    seen.discard(first)
    rest = list(walk)
    assert {first, *rest} == set(urls(10)) and len(rest) == 9


def test_an_iterator_outlives_its_set():
    seen = vidi.Set(kind="hashset")
    for link in urls(10):
        seen.add(link)
    walk, numbers = iter(seen), seen.hashes()
    seen.close()
    del seen
    gc.collect()
    assert set(walk) == set(urls(10))
    assert len(set(numbers)) == 10


def test_closing_is_final_and_may_be_repeated():
    seen = vidi.Set()
    assert seen.closed is False
    assert seen.close() is None
    assert seen.closed is True
    seen.close()
    exception = refused_by_library(ValueError, seen.add, PAGE)
    assert isinstance(exception, vidi.ClosedError) and "closed" in str(exception)


def test_with_closes_the_set_also_after_an_exception():
    with vidi.Set() as seen:
        assert isinstance(seen, vidi.Set)
        seen.add(PAGE)
    assert seen.closed
    with pytest.raises(ZeroDivisionError), vidi.Set() as other:
        1 / 0
    assert other.closed


def test_the_key_makes_hashes_repeatable():
    key = bytes(range(16))
    one, two, other = vidi.Set(key=key), vidi.Set(key=key), vidi.Set()
    for seen in (one, two, other):
        seen.add(PAGE)
    assert list(one.hashes()) == list(two.hashes()) != list(other.hashes())
    assert one.content_digest() == two.content_digest() != other.content_digest()
    assert type(one.content_digest()) is bytes and len(one.content_digest()) == 16
    for wrong in (b"", b"short", bytes(17)):
        refused(ValueError, vidi.Set, key=wrong)
    refused(TypeError, vidi.Set, key="sixteen letters!")


def test_the_digest_tells_contents_apart_and_nothing_else():
    one, two = vidi.Set(kind="hashset"), vidi.Set(kind="sorted")
    assert one.content_digest() == bytes(16)
    for link in urls(20):
        one.add(link)
    for link in reversed(urls(20)):
        two.add(link)
    assert one.content_digest() == two.content_digest()
    two.discard(url(3))
    assert one.content_digest() != two.content_digest()


def test_sets_that_are_alike_can_be_merged():
    one = vidi.Set()
    two, three = vidi.Set.like(one), vidi.Set(like=one)
    for index, seen in enumerate((one, two, three)):
        for link in urls(100, "some", 50 * index):
            seen.add(link)
    one.merge(two)
    one.merge(three)
    assert all(link in one for link in urls(200, "some"))
    assert len(one) == 200 and len(two) == 100
    one.merge(one)
    assert len(one) == 200
    refused_by_library(ValueError, one.merge, vidi.Set())


def test_a_merge_that_would_lose_many_pages_must_be_forced():
    one = vidi.Set(kind="classic", capacity=1000, error=1e-3)
    two = vidi.Set.like(one)
    for number in range(1000):
        one.add(url(number, "one")), two.add(url(number, "two"))
    digest = one.content_digest()
    refused_by_library(ValueError, one.merge, two)
    assert one.content_digest() == digest
    one.merge(two, force=True)
    assert all(link in one for link in urls(1000, "one") + urls(1000, "two"))


def test_a_copy_is_a_set_of_its_own():
    seen = vidi.Set(kind="hashset")
    seen.add(PAGE)
    twin = seen.copy()
    assert PAGE in twin and twin.kind == "hashset"
    twin.add(url(1))
    seen.add(url(2))
    assert url(1) not in seen and url(2) not in twin
    seen.close()
    assert len(twin) == 2


def test_a_rotation_begins_an_empty_epoch():
    seen = vidi.Set(kind="classic", capacity=1000)
    seen.add(PAGE)
    seen.rotate()
    assert len(seen) == 0 and PAGE not in seen and seen.stats.epoch == 1
    refused_by_library(TypeError, seen.seen_previously, PAGE)
    seen.add(PAGE)
    seen.rotate(kind="hashset", keep_previous=True)
    assert seen.kind == "hashset" and seen.add(PAGE) is True
    assert seen.seen_previously(PAGE) is True and seen.seen_previously(url(1)) is False
    seen.drop_previous()
    refused_by_library(TypeError, seen.seen_previously, PAGE)
    assert PAGE in seen


def test_keep_previous_can_be_said_at_the_beginning():
    seen = vidi.Set(keep_previous=True)
    seen.add(PAGE)
    seen.rotate(keep_previous=True)
    assert seen.seen_previously(PAGE) is True and PAGE not in seen


def test_a_memory_limit_is_kept_and_nothing_is_lost_by_reaching_it():
    seen = vidi.Set(kind="hashset", memory_limit=1 << 20)
    added = []
    with pytest.raises(MemoryError) as caught:
        for link in urls(1_000_000):
            if seen.add(link):
                added.append(link)
    assert isinstance(caught.value, vidi.Error)
    assert len(added) > 1000 and all(link in seen for link in added)
    assert url(len(added)) not in seen
    assert seen.stats.memory_bytes <= 1 << 20


def test_pickling_and_copying_as_objects_are_refused_with_a_sentence():
    seen = vidi.Set()
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy, lambda s: s.__reduce__()):
        text = str(refused(TypeError, attempt, seen))
        assert "to_bytes" in text or "path" in text
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        refused(TypeError, pickle.dumps, seen, protocol)


def test_repr_tells_what_the_set_is():
    seen = vidi.Set()
    for link in urls(1234):
        seen.add(link)
    text = repr(seen)
    assert text.startswith("<vidi.Set") and text.endswith(">")
    assert "fingerprint" in text and "1234 URLs" in text and "expected to lose 0.0 pages" in text
    seen.close()
    assert "closed" in repr(seen)


def test_properties_cannot_be_overwritten():
    seen = vidi.Set()
    assert seen.path is None and seen.kind == "fingerprint" and seen.read_only is False
    for name in ("path", "kind", "canon", "read_only", "closed", "stats", "epochs", "note"):
        with pytest.raises(AttributeError):
            setattr(seen, name, None)


def test_calls_for_folders_do_nothing_in_memory():
    seen = vidi.Set()
    seen.add(PAGE)
    seen.expect(1000)
    seen.commit()
    seen.verify()
    assert PAGE in seen and seen.note == b""


def test_the_module_tells_its_version_and_instruction_set():
    assert vidi.version.count(".") == 2
    assert vidi.cpu() in ("portable", "sse2", "avx2", "avx512", "neon")
