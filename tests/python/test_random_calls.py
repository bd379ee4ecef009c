"""
Random calls with good and bad arguments: no crash, only documented exceptions, no memory left. support/calls.py makes
them. A failure names its sequence; VIDI_TEST_SEED=S VIDI_TEST_ONLY=N runs that one alone.
"""
import os
import subprocess
import sys

import pytest

import vidi
from support import calls, child, redis_server
from vidi import _vidi

SEED = os.environ.get("VIDI_TEST_SEED", "18")
ONLY = os.environ.get("VIDI_TEST_ONLY")
with open(_vidi.__file__, "rb") as file:
    IS_ASAN = b"__asan_report_load8\0" in file.read()
COUNT = 6_000 if IS_ASAN else 100_000 if os.environ.get("VIDI_TEST_LONG") == "1" else 3000


def start(first, last, folder, **changes):
    """A process that runs these sequences, and the file that tells which one it is at."""
    folder = folder / f"from{first}"
    folder.mkdir()
    progress = folder / "progress"
    command = [sys.executable, "-B", "-m", "support.calls", SEED, str(first), str(last), str(folder), str(progress)]
    return subprocess.Popen(command, env={**child.environment(), **changes}, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace"), progress


def check_sequences(first, last, folder, **changes):
    """Runs them in two processes at the same time; VIDI_TEST_ONLY chooses one."""
    middle = (first + last) // 2
    bounds = [(int(ONLY), int(ONLY) + 1)] if ONLY else [(first, middle), (middle, last)]
    failures = []
    for process, progress in [start(*bound, folder, **changes) for bound in bounds]:
        output, _ = process.communicate(timeout=child.PATIENCE * 4)
        if process.returncode:
            failures.append(f"seed {SEED}, sequence {progress.read_text().strip()}: exit status {process.returncode}\n"
                            f"{output[-6000:]}")
    assert not failures, "\n".join(failures)


@pytest.fixture(name="server", scope="module")
def _server():
    """What tells the sequences of a server, if there is one."""
    if not redis_server.has_sets():
        yield {}
        return
    with redis_server.Server() as server:
        yield {"VIDI_TEST_SERVER": f"redis://127.0.0.1:{server.port}"}


def test_random_calls_never_crash(tmp_path, server):
    check_sequences(0, COUNT, tmp_path, **server)


@pytest.mark.skipif(not IS_ASAN, reason="only the address sanitizer sees it")
def test_random_calls_never_read_beyond_an_object(tmp_path, server):
    """malloc_debug, with which the others run, puts 8 bytes behind each object: reading one of them is not reported."""
    check_sequences(COUNT, COUNT + 5000, tmp_path, PYTHONMALLOC="malloc", **server)


def test_sequences_are_repeatable():
    """The same seed and number make the same calls."""
    def trace(number):
        names = []

        class Traced(calls.Sequence):
            def call(self):
                names.append(self.rng.random())
                super().call()

        Traced("repeat", number, "/nowhere").run()
        return names

    assert [trace(number) for number in range(20)] == [trace(number) for number in range(20)]


@pytest.mark.parametrize("exception", [SystemError("error return without exception set"),
                                       AttributeError("x is not there at all"),
                                       ValueError(""), ValueError("bad"), RecursionError("a sentence of words"),
                                       ZeroDivisionError("a sentence of words")])
def test_an_exception_that_nobody_documented_is_noticed(exception):
    with pytest.raises(AssertionError):
        calls.check(exception)


def test_documented_exceptions_pass():
    for exception in (calls.Planned("ours"), TypeError("a url is str or bytes, not int"),
                      vidi.ClosedError("the set is closed")):
        calls.check(exception)


def test_memory_that_is_left_is_noticed(tmp_path):
    """The meter's figure is what the run ends with."""
    program = """
from support import calls
kept = []
calls.Sequence.drop = lambda self: kept.extend(self.sets)
calls.Sequence.CALLS, calls.Sequence.NAMES = {}, [calls.Sequence.drop]
calls.Sequence.WEIGHTS = [1]
sys.exit(0 if calls.run("leak", 0, 20, sys.argv[1]) > 0 else 1)
"""
    assert child.run(program, tmp_path) == ""
