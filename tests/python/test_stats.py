"""s.stats and s.epochs: what a set tells about itself, in dataclasses, the expected losses first."""
import dataclasses

import pytest

import vidi
from support.urls import url, urls

FIELDS = {"kind", "params", "hash", "can", "fp_meaning", "hash_trust", "stages", "epoch", "capacity", "count", "bytes",
          "memory_bytes", "memory_limit", "fill", "fp_now", "expected_lost", "answered_new", "answered_seen",
          "answered_invalid", "asked", "removed", "ambiguous", "past_epochs", "lines_touched", "canon", "staged",
          "log_bytes", "snapshot_bytes", "snapshots", "cluster"}
NUMBERS = {"epoch", "capacity", "count", "bytes", "memory_bytes", "memory_limit", "answered_new", "answered_seen",
           "answered_invalid", "asked", "removed", "past_epochs", "staged", "log_bytes", "snapshot_bytes", "snapshots"}
EPOCH_FIELDS = {"epoch", "capacity", "count", "bytes", "answered_new", "answered_seen", "fp_end", "expected_lost"}


def test_stats_is_a_frozen_dataclass_that_begins_with_the_losses():
    stats = vidi.Set().stats
    assert isinstance(stats, vidi.Stats)
    names = [field.name for field in dataclasses.fields(stats)]
    assert names[0] == "expected_lost" and set(names) == FIELDS
    assert repr(stats).startswith("Stats(expected_lost=0.0")
    with pytest.raises(dataclasses.FrozenInstanceError):
        stats.count = 7


def test_figures_have_the_types_that_one_expects():
    stats = vidi.Set().stats
    assert all(type(getattr(stats, name)) is int for name in NUMBERS)
    assert all(type(getattr(stats, name)) is float for name in ("fill", "fp_now", "expected_lost"))
    assert all(type(getattr(stats, name)) is str for name in ("kind", "params", "hash", "canon"))


def test_answers_are_counted():
    seen = vidi.Set(invalid="drop")
    seen.add_many(urls(10) + urls(4))
    seen.add("http://")
    seen.has_many(urls(3))
    url(7) in seen
    seen.discard(url(1))
    stats = seen.stats
    assert (stats.answered_new, stats.answered_seen, stats.answered_invalid) == (10, 4, 1)
    assert (stats.asked, stats.removed, stats.count) == (4, 1, 9)
    assert len(seen) == 9


def test_a_record_stays_as_it_was():
    seen = vidi.Set()
    before = seen.stats
    seen.add(url(1))
    assert before.count == 0 and seen.stats.count == 1
    seen.close()
    assert before.count == 0


def test_expected_losses_follow_the_formula():
    """A classic filter that is far too small: the sum of p/(1-p) over the new answers, and the answers show it."""
    seen = vidi.Set(kind="classic", capacity=1000, error=0.01, key=bytes(16))
    total, wrong = 0.0, 0
    for link in urls(3000):
        p = seen.stats.fp_now
        if seen.add(link):
            total += p / (1 - p)
        else:
            wrong += 1
    assert seen.stats.expected_lost == pytest.approx(total, rel=1e-6)
    assert abs(wrong - total) < 5 * total**0.5


def test_epochs_tell_what_was():
    seen = vidi.Set(kind="classic", capacity=1000, error=0.01)
    assert seen.epochs == []
    seen.add_many(urls(500)), seen.add(url(1))
    last = seen.stats
    seen.rotate()
    seen.add(url(1))
    seen.rotate()
    first, second = seen.epochs
    assert isinstance(first, vidi.EpochStats)
    assert {field.name for field in dataclasses.fields(first)} == EPOCH_FIELDS
    assert (first.epoch, first.count, first.capacity) == (0, last.count, 1000)
    assert (first.answered_new, first.answered_seen) == (last.answered_new, last.answered_seen)
    assert first.expected_lost == last.expected_lost and first.fp_end == last.fp_now
    assert (second.epoch, second.count) == (1, 1)
    assert seen.stats.epoch == 2 and seen.stats.past_epochs == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.count = 7


def test_a_set_in_a_folder_tells_about_its_log(tmp_path):
    with vidi.Set(tmp_path / "set", manual_commit=True) as seen:
        before = seen.stats.snapshots
        seen.add_many(urls(100))
        assert seen.stats.staged == 100
        seen.commit()
        seen.sync()
        stats = seen.stats
        assert stats.staged == 0 and stats.log_bytes > 0 and stats.snapshots == before
        seen.snapshot()
        assert seen.stats.snapshots == before + 1 and seen.stats.snapshot_bytes > 0


def test_the_limit_and_the_form_are_told():
    stats = vidi.Set(memory_limit=1 << 24, canon="crawl,-sort").stats
    assert stats.memory_limit == 1 << 24 and 0 < stats.memory_bytes < 1 << 24
    assert stats.canon.startswith("crawl/") and "-sort" in stats.canon


def test_a_url_takes_less_than_12_bytes():
    seen = vidi.Set()
    seen.add_many(urls(50_000))
    assert seen.stats.memory_bytes / 50_000 < 12
