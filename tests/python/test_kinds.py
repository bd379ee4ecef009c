"""Every kind that the library knows works from Python, or says in a sentence what it cannot do."""
import pytest

import vidi
from support.refusal import refused, refused_by_library
from support.urls import url, urls

NAMES = ["fingerprint", "blocked", "scalable", "classic", "counting", "multilayer", "eigen", "spatial", "hashset",
         "sorted", "list"]
DELETE = {"fingerprint", "counting", "hashset", "sorted", "list"}
COUNT = DELETE
MERGE = set(NAMES) - {"scalable"}
HASHES = {"fingerprint", "hashset", "sorted", "list"}
URLS = {"hashset", "sorted", "list"}
GROW = {"fingerprint", "blocked", "scalable", "hashset", "sorted", "list"}

every_kind = pytest.mark.parametrize("kind", NAMES)


def make(kind, **options):
    """A set of that kind for a few thousand URLs that practically never answers wrongly, and always the same way."""
    return vidi.Set(**{"kind": kind, "capacity": 5000, "error": 1e-9, "key": bytes(16), **options})


def test_kinds_lists_all_of_them_with_the_default_first():
    kinds = vidi.kinds()
    assert [kind.name for kind in kinds][0] == vidi.Set().kind == "fingerprint"
    assert sorted(kind.name for kind in kinds) == sorted(NAMES)
    assert all(len(kind.summary.split()) > 2 for kind in kinds)


@every_kind
def test_every_kind_adds_looks_up_and_counts(kind):
    seen = make(kind)
    assert seen.kind == kind and seen.stats.kind == kind
    assert seen.add_many(urls(300)) == [True] * 300
    assert [seen.add(link) for link in urls(300)] == [False] * 300
    assert [seen.add(link) for link in urls(100, "single")] == [True] * 100
    assert seen.has_many(urls(300)) == [True] * 300
    assert not any(seen.has_many(urls(300, "absent")))
    assert url(7) in seen and url(7, "absent") not in seen
    expected = 400 if kind != "counting" else 700  # it counts every add
    assert len(seen) in (400, expected)


@every_kind
def test_every_kind_hands_out_what_is_new(kind):
    seen = make(kind)
    assert list(seen.new(urls(50) + urls(60))) == urls(60)
    assert all(seen.has_many(urls(60)))


@every_kind
def test_discard_or_a_sentence(kind):
    seen = make(kind)
    seen.add_many(urls(20))
    if kind not in DELETE:
        refused_by_library(TypeError, seen.discard, url(3))
        refused_by_library(TypeError, seen.remove, url(3))
        assert all(seen.has_many(urls(20)))
        return
    assert seen.discard(url(3)) is True and seen.discard(url(3)) is False
    assert seen.has_many(urls(20)) == [number != 3 for number in range(20)]
    seen.remove(url(4))
    refused_by_library(KeyError, seen.remove, url(4))
    assert seen.add(url(3)) is True


@every_kind
def test_count_or_a_sentence(kind):
    seen = make(kind)
    seen.add_many(urls(20))
    if kind not in COUNT:
        refused_by_library(TypeError, seen.count, url(3))
        return
    assert seen.count(url(3)) == 1 and seen.count(url(3, "absent")) == 0


@every_kind
def test_iterate_or_a_sentence(kind):
    seen = make(kind)
    seen.add_many(urls(200))
    if kind in URLS:
        assert sorted(seen) == sorted(urls(200))
    else:
        refused(TypeError, iter, seen)
        refused(TypeError, list, seen)
    if kind in HASHES:
        assert len(set(seen.hashes())) == 200
    else:
        refused(TypeError, lambda: list(seen.hashes()))


@every_kind
def test_merge_or_a_sentence(kind):
    one = make(kind)
    two = vidi.Set.like(one)
    assert two.kind == kind
    one.add_many(urls(100)), two.add_many(urls(100, "two"))
    if kind not in MERGE:
        refused_by_library(TypeError, one.merge, two)
        return
    one.merge(two)
    assert all(one.has_many(urls(100) + urls(100, "two")))
    assert not any(two.has_many(urls(100)))


@every_kind
def test_copy_bytes_and_rotation(kind):
    seen = make(kind)
    seen.add_many(urls(100))
    for twin in (seen.copy(), vidi.Set.from_bytes(seen.to_bytes())):
        assert twin.kind == kind and twin.content_digest() == seen.content_digest()
        assert twin.add_many(urls(100)) == [False] * 100
    seen.rotate(keep_previous=True)
    assert len(seen) == 0 and not any(seen.has_many(urls(100)))
    assert all(seen.seen_previously(link) for link in urls(100))


@every_kind
def test_every_kind_is_the_same_after_reopening(kind, tmp_path):
    with make(kind, path=tmp_path / kind) as seen:
        seen.add_many(urls(100))
        digest = seen.content_digest()
    with vidi.Set(tmp_path / kind) as seen:
        assert seen.kind == kind and seen.content_digest() == digest
        assert seen.add_many(urls(101)) == [False] * 100 + [True]


@every_kind
def test_kinds_that_do_not_grow_need_a_capacity(kind):
    if kind in GROW:
        assert vidi.Set(kind=kind).add(url(1)) is True
    else:
        refused_by_library(ValueError, vidi.Set, kind=kind)


@every_kind
def test_statistics_of_every_kind(kind):
    seen = make(kind)
    seen.add_many(urls(100))
    stats = seen.stats
    assert stats.answered_new == 100 and stats.capacity in (0, 5000) and stats.bytes > 0
    assert 0 <= stats.expected_lost < 1 and 0 <= stats.fp_now < 1e-6
    assert (stats.expected_lost == 0) == (kind in URLS)


@pytest.mark.parametrize("kind", ["fingerprint", "hashset", "sorted", "list"])
def test_multisets_count_every_add(kind):
    seen = vidi.Set(kind=kind, params="multiset=on")
    assert [seen.add(url(1)) for _ in range(4)] == [True, False, False, False]
    assert seen.count(url(1)) == 4
    for left in (3, 2, 1, 0):
        assert seen.discard(url(1)) is True and seen.count(url(1)) == left
    assert seen.discard(url(1)) is False


def test_params_reach_the_kind():
    seen = vidi.Set(kind="classic", params="m=4096,k=4")
    assert "k=4" in seen.stats.params and "m=4096" in seen.stats.params
    assert vidi.Set(kind="fingerprint", params="bits=40").stats.params.startswith("bits=40") or "bits=40" in vidi.Set(
        params="bits=40").stats.params


@pytest.mark.parametrize("options", [{"kind": "tree"}, {"kind": ""}, {"params": "colour=red"}, {"params": "bits"},
                                     {"kind": "classic", "params": "k=-1", "capacity": 10}, {"error": 2.0},
                                     {"error": -1.0}, {"capacity": 10, "error": 1.0, "kind": "classic"},
                                     {"headroom": 0.5}, {"headroom": 1e9}])
def test_what_no_kind_understands_is_refused(options):
    refused(ValueError, vidi.Set, **options)
