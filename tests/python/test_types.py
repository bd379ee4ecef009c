"""The type hints: complete, strict, and true of the extension. (tools/lint.sh checks the package's own files.)"""
import os
import re
import subprocess
import sys
import tempfile

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

import vidi  # noqa: E402
from support import typed_use  # noqa: E402

SUPPORT = os.path.dirname(typed_use.__file__)


def run(*arguments):
    """Runs Python in an empty folder, where nothing can be taken for a package."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([sys.executable, "-B", *arguments], capture_output=True, text=True, cwd=folder)


def mypy(name):
    """Checks a file of the folder support. A cache stays in the build folder, if there is one."""
    build = os.environ.get("VIDI_BUILD")
    cache = os.path.join(build, "python", "mypy") if build else os.devnull
    return run("-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", cache, os.path.join(SUPPORT, name))


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_a_program_with_type_hints_is_accepted():
    found = mypy("typed_use.py")
    assert (found.returncode, found.stdout) == (0, "")


def test_that_program_runs(tmp_path):
    typed_use.main(tmp_path)


def test_that_program_uses_everything():
    with open(typed_use.__file__, encoding="utf-8") as file:
        text = file.read()
    words = set(re.findall(r"\w+", text))
    errors = {error.__name__ for error in vidi.Error.__subclasses__()}
    assert public(vidi.Set) - words == set()
    assert set(vidi.__all__) - words - errors == set()


def test_mistakes_are_found():
    found = mypy("typed_misuse.py")
    errors = re.findall(r"typed_misuse\.py:(\d+): error: .*\[([\w-]+)\]", found.stdout)
    complaints = {(int(line), code) for line, code in errors}
    with open(os.path.join(SUPPORT, "typed_misuse.py"), encoding="utf-8") as file:
        marked = {(number, line.rpartition("  # ")[2].strip()) for number, line in enumerate(file, 1) if "  # " in line}
    assert len(marked) > 25 and complaints == marked, found.stdout


def test_the_hints_are_true_of_the_extension():
    """stubtest compares names, arguments and defaults with those that the extension has.

    It calls a module that it cannot import a success, so that is tried before.
    """
    found = run("-c", "import sys, vidi._vidi; from mypy import stubtest; sys.exit(stubtest.main())", "vidi._vidi")
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_name_is_exported():
    """Without __all__, mypy --strict takes names that a package imports for its own business."""
    assert set(vidi.__all__) == {name for name in public(vidi) if type(getattr(vidi, name)) is not type(vidi)}
