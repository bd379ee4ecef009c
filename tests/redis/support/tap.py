"""Cases of a test script, run in their order and reported as TAP (tools/tap.awk reads it).

    @case("what it promises")
    def name():
        expect(client("PING"), Simple("PONG"))

    run()

Arguments of the script select cases: those whose title contains one of them.
"""
import os
import shutil
import sys
import tempfile
import traceback

from .resp import Error, same

cases = []


class Skip(Exception):
    """Ends a case that cannot run here; the text says why."""


class Failed(Exception):
    """Ends a case that found something wrong."""


def case(title):
    """Marks a function as a case of this script."""
    def add(function):
        cases.append((title, function))
        return function
    return add


def expect(actual, wanted, what=""):
    """The reply must have exactly this type and value."""
    if not same(actual, wanted):
        raise Failed(f"{what + ': ' if what else ''}got {show(actual)}, expected {show(wanted)}")


def expect_error(actual, *words):
    """The reply must be an error whose text has all these words."""
    if not isinstance(actual, Error):
        raise Failed(f"got {show(actual)}, expected an error with {words}")
    for word in words:
        if word.lower() not in actual.lower():
            raise Failed(f"the error {actual!r} does not say {word!r}")


def check(condition, what):
    """The condition must hold; what says what is wrong otherwise."""
    if not condition:
        raise Failed(what)


def show(value):
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) < 600 else text[:600] + '...'}"


def is_long():
    """True in `make test-long`."""
    return os.environ.get("VIDI_TEST_LONG", "") not in ("", "0")


def skip_all(reason):
    """Ends the script: nothing of it can run here."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def story(error):
    """What happened, and the lines of the script that led there."""
    folder = os.path.dirname(os.path.abspath(__file__))
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(folder)]
    lines = [f"{os.path.basename(f.filename)}:{f.lineno}: {f.line}" for f in frames]
    return [*lines, *f"{type(error).__name__}: {error}".splitlines()]


def run_case(number, title, function):
    """Runs a case and prints its line; True unless it failed."""
    try:
        function()
    except Skip as reason:
        print(f"ok {number} - {title} # SKIP {reason}")
    except Exception:  # pylint: disable=broad-except  # every mistake is a failed case
        print(f"not ok {number} - {title}")
        for line in story(sys.exc_info()[1]):
            print("# " + line)
        return False
    else:
        print(f"ok {number} - {title}")
    sys.stdout.flush()
    return True


def run():
    """Runs the cases that the arguments select, and ends the script."""
    words = sys.argv[1:]
    chosen = [c for c in cases if not words or any(word in c[0] for word in words)]
    print(f"1..{len(chosen)}")
    good = [run_case(i + 1, title, function) for i, (title, function) in enumerate(chosen)]
    sys.stdout.flush()
    sys.exit(0 if all(good) else 1)


def scratch():
    """A new folder for a server, which is removed in the end."""
    return tempfile.mkdtemp(prefix="vidi-redis-")


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
