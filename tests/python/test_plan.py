"""vidi.plan: the best way to keep so many URLs, and sets that are made from it."""
import dataclasses

import pytest

import vidi
from support.refusal import refused
from support.urls import urls

FIELDS = {"kind", "params", "urls", "bytes", "bytes_per_url", "error", "expected_lost", "lines_per_url", "fp_meaning",
          "can"}


def test_a_plan_is_a_frozen_dataclass_with_all_figures():
    plans = vidi.plan(urls=1e9, lost=1)
    assert type(plans) is list and len(plans) > 3
    assert {field.name for field in dataclasses.fields(vidi.Plan)} >= FIELDS
    for plan in plans:
        assert isinstance(plan, vidi.Plan)
        assert plan.urls == 10**9 and plan.bytes > 10**8 and plan.expected_lost <= 1
        assert plan.bytes_per_url == pytest.approx(plan.bytes / plan.urls, rel=0.01)
        with pytest.raises(dataclasses.FrozenInstanceError):
            plan.bytes = 1


def test_plans_keep_what_was_asked_for():
    for plan in vidi.plan(urls=10**7, error=1e-4):
        assert plan.error <= 1e-4
    for plan in vidi.plan(urls=10**7, memory=20 * 10**6):
        assert plan.bytes <= 20 * 10**6
    for plan in vidi.plan(urls=10**7, lost=5.5):
        assert plan.expected_lost <= 5.5
    assert all(plan.expected_lost == 0 for plan in vidi.plan(urls=1000, exact=True))


def test_one_kind_alone():
    plans = vidi.plan(urls=10**6, error=1e-3, kind="classic")
    assert {plan.kind for plan in plans} == {"classic"}
    assert all("lines=2" in plan.params for plan in vidi.plan(urls=10**6, error=1e-3, kind="blocked", params="lines=2"))


def test_longer_urls_take_more_where_urls_are_kept():
    short, long = (vidi.plan(urls=10**6, exact=True, kind="hashset", url_bytes=size)[0] for size in (20, 200))
    assert long.bytes > 2 * short.bytes


def test_whole_numbers_and_floats_mean_the_same():
    assert vidi.plan(urls=1e6, lost=1) == vidi.plan(urls=10**6, lost=1.0)
    assert vidi.plan(urls=2**33 + 1, lost=1000.0, kind="fingerprint")[0].urls == 2**33 + 1


def test_a_set_can_be_made_from_a_plan():
    for plan in vidi.plan(urls=2000, error=1e-6):
        seen = vidi.Set(kind=plan.kind, params=plan.params, key=bytes(16))
        answers = seen.add_many(urls(2000))
        assert answers.count(False) <= 1 and all(seen.has_many(urls(2000))), plan
        assert seen.stats.bytes <= plan.bytes * 1.01 + 65536, plan


def test_lost_sizes_a_set():
    """How full it gets is random, by less than 1.2 % of the losses (one standard deviation)."""
    tight, loose = (vidi.Set(capacity=100_000, lost=lost, kind="classic", key=bytes(16)) for lost in (0.01, 1000))
    assert tight.stats.bytes > 2 * loose.stats.bytes
    tight.add_many(urls(100_000))
    assert tight.stats.expected_lost <= 0.01 * 1.05
    assert vidi.Set(capacity=100_000, lost=1).add("http://example.org/") is True


@pytest.mark.parametrize("options", [{"lost": 1}, {"lost": 0, "capacity": 10, "kind": "classic"},
                                     {"lost": -1, "capacity": 10},
                                     {"lost": float("nan"), "capacity": 10}])
def test_lost_that_makes_no_sense_is_refused(options):
    refused(ValueError, vidi.Set, **options)


@pytest.mark.parametrize("request_", [{}, {"error": 0.1}, {"urls": 10, "memory": 1, "error": 1e-9},
                                      {"urls": 10, "error": 2.0},
                                      {"urls": 10, "error": -0.5}, {"urls": 10, "lost": -1.0},
                                      {"urls": 10, "kind": "tree"},
                                      {"urls": 10, "kind": "classic", "params": "colour=red"},
                                      {"urls": 10, "error": float("nan")}, {"urls": float("nan"), "lost": 1},
                                      {"urls": 10, "lost": float("inf")}, {"urls": -1, "lost": 1}])
def test_requests_that_make_no_sense_are_refused(request_):
    refused((ValueError, OverflowError), vidi.plan, **request_)


@pytest.mark.parametrize("request_", [{"urls": "many"}, {"urls": None, "lost": 1}, {"urls": 10, "lost": "one"},
                                      {"urls": 10, "kind": 7}, {"urls": 10, "params": 7}, {"urls": [], "lost": 1},
                                      {"urls": 10, "url_bytes": "x"}, {"urls": 10, "memory": 1j}, {"pages": 10}])
def test_wrong_types_are_refused(request_):
    refused(TypeError, vidi.plan, **request_)


@pytest.mark.parametrize("number", [1 << 64, 1 << 70, 1e30, float("inf"), 1.5])
def test_numbers_of_urls_that_cannot_be_are_refused(number):
    refused((ValueError, OverflowError), vidi.plan, urls=number, lost=1)


def test_positional_arguments_are_refused():
    refused(TypeError, vidi.plan, 10**6, 1)


def test_the_first_plan_is_what_the_program_recommends():
    """Fingerprint needs about 7 bytes a URL for a billion URLs and a page."""
    best = vidi.plan(urls=1e9, lost=1)[0]
    assert best.kind in {kind.name for kind in vidi.kinds()} and best.bytes_per_url < 10
