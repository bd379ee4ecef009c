"""Random operations, compared with Python's own dict answer by answer; and faults that the comparison must notice."""
import os
import random

import pytest

import vidi
from support import faults
from support.model import Runner

pytest_plugins = ["support.folders"]

STEPS = 20_000 if os.environ.get("VIDI_TEST_LONG") == "1" else 1000
SEED = int(os.environ.get("VIDI_TEST_SEED", "18"))

WAYS = [("memory", False, False), ("memory", True, False), ("folder", False, False), ("folder", True, False),
        ("folder", False, True), ("folder", True, True)]


@pytest.mark.parametrize("kind", ["hashset", "sorted", "list", "fingerprint"])
@pytest.mark.parametrize(("where", "multi", "manual"), WAYS)
def test_a_set_agrees_with_the_model(quick_folder, kind, where, multi, manual):
    path = quick_folder / "set" if where == "folder" else None
    print("seed", SEED)
    Runner(vidi.Set, SEED, path, kind, multi, manual).run(STEPS)


class ForgetsADiscard(faults.Wrapper):
    def discard(self, link):
        return link in self.inner if self.turn(5) else self.inner.discard(link)


class KeepsTheEpoch(faults.Wrapper):
    def rotate(self, **options):
        links = list(self.inner)
        self.inner.rotate(**options)
        self.inner.add_many(links[:1])


class LosesWhatItCloses(faults.Wrapper):
    def close(self):
        if not self.inner.closed:
            for link in list(self.inner)[:1]:
                self.inner.discard(link)
        self.inner.close()


class SyncsInsteadOfDropping(faults.Wrapper):
    def close(self):
        if not self.inner.closed:
            self.inner.commit()
        self.inner.close()


class WrongCount(faults.Wrapper):
    def __len__(self):
        return len(self.inner) + (len(self.inner) > 40)


class MergesNothing(faults.Wrapper):
    def merge(self, other, **options):
        pass


class MixesUpNotes(faults.Wrapper):
    def commit_note(self, mark, note):
        self.inner.commit_note(mark, note[:10])


AUTOMATIC = [faults.AnswersTrueTwice, faults.LosesAnItem, faults.NeverAnswersTrueForOne, faults.AddsBeforeItYields,
             faults.YieldsRepeats, ForgetsADiscard, KeepsTheEpoch, LosesWhatItCloses, WrongCount, MergesNothing,
             MixesUpNotes]
MANUAL = [faults.CommitsEarly, faults.CommitsBehindTheMark, faults.ForgetsToCommit, SyncsInsteadOfDropping]


@pytest.mark.parametrize(("fault", "manual"), [(fault, fault in MANUAL) for fault in AUTOMATIC + MANUAL])
def test_a_fault_is_noticed(quick_folder, fault, manual):
    """Each by several seeds: it must not take luck."""
    fault.calls = noticed = 0
    for seed in random.Random(SEED).sample(range(10**6), 3):
        try:
            Runner(fault, seed, quick_folder / str(seed), "hashset", False, manual).run(STEPS)
        except AssertionError:
            noticed += 1
    assert noticed == 3
