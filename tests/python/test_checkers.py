"""
The checkers pass on a real set and notice every planted fault, so that a green run means something. (That a real set
survives being killed is in test_durable.py.)
"""
import pytest

import vidi
from support import checks, faults


def add_a_few(seen):
    for number in range(10):
        seen.add(f"http://example.org/{number}")


ON_A_MAKER = {
    "single adds": checks.check_single_adds,
    "batches": checks.check_batches,
    "new": checks.check_new,
    "threads": checks.check_threads,
    "leaks": lambda make: checks.check_no_leaks(make, add_a_few),
}

NOTICED = [
    ("single adds", faults.AnswersTrueTwice),
    ("single adds", faults.LosesAnItem),
    ("single adds", faults.NeverAnswersTrueForOne),
    ("batches", faults.AnswersTrueTwice),
    ("batches", faults.LosesAnItem),
    ("batches", faults.NeverAnswersTrueForOne),
    ("new", faults.AddsBeforeItYields),
    ("new", faults.YieldsRepeats),
    ("threads", faults.AnswersTrueTwice),
    ("threads", faults.LosesAnItem),
    ("threads", faults.NeverAnswersTrueForOne),
    ("threads", faults.AsksBeforeItAdds),
    ("leaks", faults.HoldsMemory),
]


@pytest.mark.parametrize("name", ON_A_MAKER)
def test_a_real_set_passes(name):
    ON_A_MAKER[name](vidi.Set)
    ON_A_MAKER[name](lambda **options: vidi.Set(kind="hashset", **options))


@pytest.mark.parametrize(("name", "fault"), NOTICED, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_noticed(name, fault):
    fault.calls = 0
    with pytest.raises(AssertionError):
        ON_A_MAKER[name](fault)
    faults.hidden.clear()


@pytest.mark.parametrize("fault", ["CommitsEarly", "CommitsBehindTheMark", "ForgetsToCommit"])
def test_a_fault_in_committing_is_noticed(fault, tmp_path):
    with pytest.raises(AssertionError):
        checks.check_kill_around_commit(f"support.faults:{fault}", tmp_path)


def test_a_fault_in_new_is_noticed_after_a_kill(tmp_path):
    with pytest.raises(AssertionError):
        checks.check_kill_inside_new("support.faults:AddsBeforeItYields", tmp_path)
