"""Programs that run in a process of their own: because they are to be killed, to fork, or might hang or crash."""
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Only a hang takes that long. It is not what any test measures.
PATIENCE = 300

PROLOGUE = """
import faulthandler, gc, os, signal, sys, threading
faulthandler.enable()
import vidi
from support.urls import url, urls

def die():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def environment():
    """Ours, and `support` can be imported."""
    path = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def start(program, *arguments, **options):
    """Starts a Python program that has vidi, url, urls and die() at hand; returns its Popen object."""
    command = [sys.executable, "-c", PROLOGUE + program, *map(str, arguments)]
    return subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def finish(process):
    """Waits for the end of a program; returns (exit status, what it printed, its errors)."""
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler then tells where it hangs
        output, errors = process.communicate()
        raise AssertionError(f"the program hung:\n{errors}") from None
    return process.returncode, output, errors


def run(program, *arguments):
    """Runs a program that must end by itself without an error, and returns what it printed."""
    status, output, errors = finish(start(program, *arguments))
    assert status == 0, f"exit status {status}\n{errors}"
    assert "Exception ignored" not in errors, errors
    return output


def run_killed(program, *arguments):
    """Runs a program that must end in die(), and returns what it printed until then."""
    status, output, errors = finish(start(program, *arguments))
    assert status == -signal.SIGKILL, f"exit status {status}\n{errors}"
    return output
