"""Batches: add_many and has_many give the answers that single calls would have given, and all or nothing is added."""
import random
import sys

import pytest

import vidi
from support.refusal import check_sentence, refused
from support.urls import url, urls


def test_a_batch_answers_like_single_adds():
    rng = random.Random(18)
    stream = [url(rng.randrange(3000)) for _ in range(10_000)]
    batch, single = vidi.Set(), vidi.Set()
    answers = []
    while stream[len(answers):]:
        answers += batch.add_many(stream[len(answers):len(answers) + rng.choice((0, 1, 2, 63, 64, 65, 1000, 3000))])
    assert answers == [single.add(link) for link in stream]
    assert sum(answers) == len(batch) == len(set(stream))


def test_answers_are_a_list_of_bool_in_the_order_of_the_urls():
    seen = vidi.Set()
    answers = seen.add_many([url(1), url(2), url(1), url(3)])
    assert answers == [True, True, False, True] and type(answers) is list
    assert all(type(answer) is bool for answer in answers)
    found = seen.has_many([url(4), url(3), url(2)])
    assert found == [False, True, True] and type(found) is list and all(type(answer) is bool for answer in found)


def test_has_many_adds_nothing():
    seen = vidi.Set()
    assert seen.has_many(urls(500)) == [False] * 500
    assert len(seen) == 0
    assert seen.add_many(urls(500)) == [True] * 500
    assert seen.has_many(urls(1000)) == [True] * 500 + [False] * 500


@pytest.mark.parametrize("shape", [list, tuple, iter, set, dict.fromkeys, lambda u: (x for x in u),
                                   lambda u: map(str, u)])
def test_any_iterable_is_a_batch(shape):
    seen = vidi.Set()
    assert seen.add_many(shape(urls(300))) == [True] * 300
    assert seen.has_many(shape(urls(300))) == [True] * 300


def test_a_batch_may_be_empty():
    seen = vidi.Set()
    for nothing in ([], (), iter(()), {}):
        assert seen.add_many(nothing) == [] and seen.has_many(nothing) == []
    assert len(seen) == 0


@pytest.mark.parametrize("text", ["https://example.org/", b"https://example.org/", ""])
def test_one_url_instead_of_many_is_refused(text):
    """Otherwise each of its letters would be added."""
    seen = vidi.Set()
    refused(TypeError, seen.add_many, text)
    refused(TypeError, seen.has_many, text)
    refused(TypeError, seen.new, text)
    assert len(seen) == 0


def test_str_and_bytes_may_be_mixed():
    seen = vidi.Set()
    assert seen.add_many([url(1), url(1).encode(), "http://example.org/ü", "http://example.org/ü".encode()]) == [
        True, False, True, False]


@pytest.mark.parametrize("bad", [None, 7, float("nan"), ["http://a/"], object()])
@pytest.mark.parametrize("place", [0, 1, 70, 4999])
def test_a_wrong_item_is_named_by_its_index_and_nothing_is_added(bad, place):
    seen = vidi.Set()
    batch = urls(5000)
    batch[place] = bad
    for call in (seen.add_many, seen.has_many):
        text = str(refused(TypeError, call, batch))
        assert str(place) in text and type(bad).__name__ in text
    assert len(seen) == 0 and seen.has_many(urls(5000)) == [False] * 5000


def test_surrogates_in_an_item_are_refused_and_nothing_is_added():
    seen = vidi.Set()
    refused(UnicodeEncodeError, seen.add_many, urls(100) + ["http://example.org/\udc80"])
    assert len(seen) == 0


def test_an_exception_of_the_iterable_comes_through_and_nothing_is_added():
    def broken():
        yield from urls(100)
        raise LookupError("the feed broke")

    seen = vidi.Set()
    with pytest.raises(LookupError, match="the feed broke"):
        seen.add_many(broken())
    assert len(seen) == 0
    assert seen.add_many(urls(100)) == [True] * 100


def test_a_batch_with_invalid_lines_keeps_drops_or_stops():
    batch = [url(1), "http://", url(2)]
    assert vidi.Set(invalid="keep").add_many(batch) == [True, True, True]
    drop = vidi.Set(invalid="drop")
    assert drop.add_many(batch) == [True, False, True] and len(drop) == 2
    fail = vidi.Set(invalid="fail")
    with pytest.raises(vidi.InvalidURL) as caught:
        fail.add_many(batch)
    check_sentence(caught.value)
    assert caught.value.answers == [True, None, None]
    assert url(1) in fail and url(2) not in fail and len(fail) == 1


def test_a_batch_that_fails_midway_tells_what_was_added():
    seen = vidi.Set(kind="hashset", memory_limit=1 << 20)
    batch = urls(200_000)
    with pytest.raises(MemoryError) as caught:
        seen.add_many(batch)
    check_sentence(caught.value)
    answers = caught.value.answers
    assert len(answers) == len(batch) and set(answers) == {True, None}
    assert answers.count(True) == len(seen)
    assert seen.has_many(batch) == [answer is True for answer in answers]


def test_a_large_batch_is_taken_whole():
    seen = vidi.Set(key=bytes(16))
    batch = urls(50_000)
    assert seen.add_many(batch) == [True] * 50_000
    assert seen.add_many(batch) == [False] * 50_000
    assert len(seen) == 50_000


def test_an_empty_batch_on_a_closed_set_is_refused_too():
    seen = vidi.Set()
    seen.close()
    for call in (seen.add_many, seen.has_many):
        refused(vidi.ClosedError, call, [])


def test_long_urls_in_a_batch():
    seen = vidi.Set(kind="hashset")
    batch = ["https://example.org/" + "a" * length for length in (0, 10, 8_000, 8_200, 40_000, 1_000_000)]
    assert seen.add_many(batch + batch) == [True] * 6 + [False] * 6
    assert sorted(seen, key=len) == batch


def test_the_batch_is_let_go_afterwards():
    seen = vidi.Set()
    batch = urls(100)
    before = [sys.getrefcount(link) for link in batch]
    seen.add_many(batch), seen.has_many(batch)
    with pytest.raises(TypeError):
        seen.add_many(batch + [None])
    assert [sys.getrefcount(link) for link in batch] == before


def test_kinds_that_count_store_each_item_of_a_batch():
    every = vidi.Set(kind="hashset", params="multiset=on")
    assert every.add_many([url(1)] * 5 + [url(2)]) == [True] + [False] * 4 + [True]
    assert every.count(url(1)) == 5 and every.count(url(2)) == 1
