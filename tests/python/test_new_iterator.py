"""new(): a lazy filter of what is new. An item counts as handled once the next one is asked for, and not before."""
import gc

import pytest

import vidi
from support.refusal import refused
from support.urls import url, urls


def test_only_new_urls_come_through_in_their_order():
    seen = vidi.Set()
    seen.add_many(urls(10))
    stream = urls(5) + urls(5, "b") + urls(5, "b") + urls(3, "c") + urls(10)
    assert list(seen.new(stream)) == urls(5, "b") + urls(3, "c")
    assert list(seen.new(stream)) == []
    assert len(seen) == 18


def test_items_come_out_as_they_went_in():
    class Link(str):
        pass

    spellings = ["HTTP://Example.org", b"http://example.org/b#x", Link("http://example.org/c")]
    out = list(vidi.Set().new(spellings))
    assert all(a is b for a, b in zip(out, spellings, strict=True))


def test_it_is_lazy():
    taken = []

    def feed():
        for link in urls(10):
            taken.append(link)
            yield link

    walk = vidi.Set().new(feed())
    assert taken == []
    assert next(walk) == url(0) and taken == [url(0)]
    assert next(walk) == url(1) and taken == urls(2)
    assert iter(walk) is walk


def test_an_item_is_added_when_the_next_one_is_asked_for():
    seen = vidi.Set()
    walk = seen.new(urls(3))
    assert next(walk) == url(0)
    assert len(seen) == 0 and url(0) not in seen
    assert next(walk) == url(1)
    assert url(0) in seen and url(1) not in seen
    assert next(walk) == url(2)
    with pytest.raises(StopIteration):
        next(walk)
    assert len(seen) == 3
    with pytest.raises(StopIteration):
        next(walk)


def test_an_exception_while_an_item_is_handled_offers_it_again():
    seen = vidi.Set()
    handled = []
    with pytest.raises(OSError):
        for link in seen.new(urls(5)):
            if link == url(2):
                raise OSError("the page did not answer")
            handled.append(link)
    assert handled == urls(2) and len(seen) == 2
    assert list(seen.new(urls(5))) == [url(2), url(3), url(4)]


@pytest.mark.parametrize("way", ["close", "del"])
def test_dropping_the_iterator_drops_the_pending_item(way):
    seen = vidi.Set()
    walk = seen.new(urls(5))
    next(walk), next(walk)
    if way == "close":
        walk.close()
        with pytest.raises(StopIteration):
            next(walk)
    del walk
    gc.collect()
    assert len(seen) == 1
    assert list(seen.new(urls(5))) == urls(4, start=1)


def test_repeats_of_the_pending_item_are_not_new():
    seen = vidi.Set()
    stream = [url(0), url(0), url(0).upper().replace("/PAGE", "/page"), url(1), url(0) + "#x"]
    assert list(seen.new(stream)) == [url(0), url(1)]


def test_two_iterators_never_yield_the_same_pending_url():
    seen = vidi.Set()
    one, two = seen.new(urls(4)), seen.new([link + "#other" for link in urls(4)])
    assert next(one) == url(0)
    assert next(two) == url(1) + "#other"  # 0 is pending in the other one
    assert next(one) == url(2)
    assert next(two) == url(3) + "#other"
    assert list(one) == [] and list(two) == []
    assert len(seen) == 4


def test_what_is_not_a_url_is_pending_apart_from_urls():
    """Under key=host the form of a page is "example.org", and so are these bytes, but they are kept apart."""
    hosts = vidi.Set(canon="key=host")
    one, two, three = (hosts.new([text]) for text in ("http://example.org/", "example.org", "http://example.org/b"))
    assert next(one) == "http://example.org/"
    assert next(two) == "example.org"
    assert list(three) == []
    assert list(one) == list(two) == [] and len(hosts) == 2


def test_what_another_iterator_gave_up_is_offered_by_a_later_one():
    seen = vidi.Set()
    one = seen.new([url(0)])
    assert next(one) == url(0)
    assert list(seen.new([url(0), url(1)])) == [url(1)]
    one.close()
    assert list(seen.new([url(0), url(1)])) == [url(0)]


def test_an_add_beside_the_iterator_is_not_undone():
    seen = vidi.Set()
    walk = seen.new(urls(3))
    assert next(walk) == url(0)
    assert seen.add(url(0)) is True  # the caller takes it over
    seen.add(url(1))
    assert next(walk) == url(2)
    walk.close()
    assert url(0) in seen and url(2) not in seen and len(seen) == 2


def test_with_manual_commit_items_are_added_at_once_and_the_caller_commits(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path, manual_commit=True) as seen:
        walk = seen.new(urls(4))
        assert next(walk) == url(0)
        assert url(0) in seen
        mark = seen.mark()
        assert next(walk) == url(1)
        seen.commit_to(mark)
    with vidi.Set(path) as seen:
        assert seen.has_many(urls(3)) == [True, False, False]


def test_kinds_that_count_store_repeats_too():
    every = vidi.Set(kind="hashset", params="multiset=on")
    assert list(every.new([url(0), url(0), url(1), url(0)])) == [url(0), url(1)]
    assert every.count(url(0)) == 3 and every.count(url(1)) == 1


def test_what_is_not_a_url_follows_the_policy_of_the_set():
    stream = [url(0), "http://", url(1)]
    assert list(vidi.Set(invalid="keep").new(stream)) == stream
    assert list(vidi.Set(invalid="drop").new(stream)) == [url(0), url(1)]
    fail = vidi.Set(invalid="fail")
    walk = fail.new(stream)
    assert next(walk) == url(0)
    refused(vidi.InvalidURL, next, walk)
    assert url(0) in fail  # its next item was asked for
    assert list(walk) == [url(1)]  # the bad one is left behind


def test_an_exception_of_the_iterable_comes_through_and_loses_nothing():
    def broken():
        yield url(0)
        yield url(1)
        raise LookupError("the feed broke")

    seen = vidi.Set()
    walk = seen.new(broken())
    assert next(walk) == url(0)
    assert next(walk) == url(1)
    with pytest.raises(LookupError, match="the feed broke"):
        next(walk)
    assert url(0) in seen


def test_a_wrong_item_is_refused_and_the_pending_one_is_kept():
    seen = vidi.Set()
    walk = seen.new([url(0), None, url(1)])
    assert next(walk) == url(0)
    refused(TypeError, next, walk)
    assert url(0) in seen and len(seen) == 1
    assert list(walk) == [url(1)] and url(1) in seen


@pytest.mark.parametrize("wrong", [None, 7, object()])
def test_something_that_is_not_iterable_is_refused_at_once(wrong):
    refused(TypeError, vidi.Set().new, wrong)


def test_a_closed_set_ends_with_an_error_and_not_silently():
    seen = vidi.Set()
    walk = seen.new(urls(3))
    next(walk)
    seen.close()
    refused(vidi.ClosedError, next, walk)
    refused(vidi.ClosedError, seen.new, urls(3))


def test_a_read_only_set_is_refused(tmp_path):
    path = tmp_path / "set"
    vidi.Set(path).close()
    with vidi.Set(path, read_only=True) as seen:
        refused(vidi.Error, seen.new, urls(3))


def test_the_last_item_is_added_at_the_end_of_the_loop(tmp_path):
    path = tmp_path / "set"
    with vidi.Set(path) as seen:
        for _ in seen.new(urls(3)):
            pass
    with vidi.Set(path) as seen:
        assert seen.has_many(urls(3)) == [True] * 3


def test_breaking_out_of_the_loop_leaves_the_last_item_new():
    seen = vidi.Set()
    for link in seen.new(urls(3)):
        if link == url(1):
            break
    gc.collect()
    assert seen.has_many(urls(3)) == [True, False, False]
