"""What all tests of the Python package share: with --tap, results are lines of TAP, which tools/tap.awk counts.

ctest runs each file with --tap. Without it pytest prints as usual. To run one file by hand after a build:

    PYTHONPATH=build/python /usr/bin/python3 -B -m pytest -p no:cacheprovider tests/python/test_NAME.py
"""
import atexit
import os
import shutil
import sys
import tempfile

import pytest

# Programs that tests start must not leave compiled files in the source folder either.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

pytest.register_assert_rewrite("support")  # so that its failures show values, too

from support import checkout  # noqa: E402  # pylint: disable=wrong-import-position

checkout.use()


def pytest_addoption(parser):
    parser.addoption("--tap", action="store_true", help="print TAP, and remove temporary files in the end")


@pytest.hookimpl(trylast=True)  # pytest's own reporter is registered by then
def pytest_configure(config):
    if config.getoption("--tap"):
        config.pluginmanager.unregister(config.pluginmanager.get_plugin("terminalreporter"))
        config.pluginmanager.register(Tap(), "tap")


def comment(text):
    """Prints text as lines that begin with "# "."""
    for line in text.splitlines():
        print("# " + line)


def plain(text):
    """One line without the sign that begins a directive in TAP; parameters of tests may have it in a URL."""
    return " ".join(text.split()).replace("#", "\\x23")


def reason_of(report):
    """Why a test was skipped."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
    return plain(text.removeprefix("Skipped: "))


class Tap:
    """A reporter that prints a line for every test, and what happened for those that failed."""

    def __init__(self):
        self.number = 0
        self.reports = []  # of the test that is running: its setup, call and teardown
        self.skipped_files = []
        self.broken_files = 0
        # For all temporary files, those of programs that tests start included. Short: names of sockets are limited.
        folder = tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="vidi-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)  # before pytest registers its own, so after it

    def pytest_collectreport(self, report):
        """A file that cannot be read counts as a failed test, one that skips itself as a skipped one."""
        if report.failed:
            self.broken_files += 1
            print(f"Bail out! {report.nodeid} cannot be collected")
            comment(report.longreprtext)
        elif report.skipped:
            self.skipped_files.append(reason_of(report))

    def pytest_collection_finish(self, session):
        if self.broken_files:
            return
        if session.items or not self.skipped_files:
            print(f"1..{len(session.items)}", flush=True)
        else:
            print("1..0 # SKIP " + "; ".join(self.skipped_files), flush=True)

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtest_logfinish(self, nodeid):
        reports, self.reports = self.reports, []
        self.number += 1
        title = f"{self.number} - {plain(nodeid.partition('::')[2])}"
        failed = [report for report in reports if report.failed]
        skipped = [report for report in reports if report.skipped]
        if failed:
            print("not ok " + title)
            for report in failed:
                comment(report.longreprtext)
                for name, text in report.sections:
                    comment(f"---- {name}\n{text}")
        elif skipped:
            print(f"ok {title} # SKIP {reason_of(skipped[0])}")
        else:
            print("ok " + title)
        sys.stdout.flush()

    def pytest_internalerror(self, excrepr):
        print("Bail out! pytest failed")
        comment(str(excrepr))

    def pytest_sessionfinish(self, session, exitstatus):
        """A file that skips itself is no mistake, though pytest says that it found no tests."""
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.skipped_files and not self.broken_files:
            session.exitstatus = pytest.ExitCode.OK
