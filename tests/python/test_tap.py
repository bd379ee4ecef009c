"""The lines of TAP that conftest.py prints: what fails is counted as failed, and what is skipped as skipped."""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent

CASES = """
import pytest

def test_good(tmp_path):
    print("ok 99 - a test's output is no result")

def test_bad():
    print("told")
    assert 1 == 2

def test_skipped():
    pytest.skip("there is none")

@pytest.mark.parametrize("url", ["http://example.com/# skip"])
def test_with(url):
    pass

@pytest.fixture
def breaks_at_the_end():
    yield
    raise OSError("at the end")

def test_cleanup(breaks_at_the_end):
    pass
"""


def tap(folder, text):
    """Runs tests with this text in another process: its exit status and what it prints."""
    shutil.copy(HERE / "conftest.py", folder)
    file = folder / "test_planted.py"
    file.write_text(text)
    command = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "--tap", "--rootdir", folder, file]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(HERE)})
    assert sorted(path.name for path in folder.iterdir()) == ["conftest.py", "test_planted.py"]
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_each_test_has_a_line(tmp_path):
    status, lines = tap(tmp_path, CASES)
    assert status == 1
    assert [line for line in lines if not line.startswith("#")] == [
        "1..5",
        "ok 1 - test_good",
        "not ok 2 - test_bad",
        "ok 3 - test_skipped # SKIP there is none",
        "ok 4 - test_with[http://example.com/\\x23 skip]",
        "not ok 5 - test_cleanup",
    ]
    assert "# told" in lines and any("assert 1 == 2" in line for line in lines)


def test_a_file_that_breaks_is_a_failure(tmp_path):
    status, lines = tap(tmp_path, "import no_such_module\n")
    assert status != 0
    assert lines[0] == "Bail out! test_planted.py cannot be collected"


def test_a_file_that_skips_itself_is_skipped(tmp_path):
    status, lines = tap(tmp_path, "import pytest\npytest.skip('not here', allow_module_level=True)\n")
    assert (status, lines) == (0, ["1..0 # SKIP not here"])


def test_no_test_at_all_is_a_failure(tmp_path):
    status, lines = tap(tmp_path, "")
    assert (status != 0, lines) == (True, ["1..0"])
