"""Whole crawls, kills and fleets with other versions of Scrapy, newer ones above all.

SCRAPY_SOURCE names folders with checkouts of Scrapy, separated by colons. Debian's Twisted is old but does;
support/checkout.py puts stand-ins in the places of packages that Debian lacks.
"""
import os
import subprocess
import sys

import pytest

pytest.importorskip("scrapy")

FOLDERS = [folder for folder in os.environ.get("SCRAPY_SOURCE", "").split(os.pathsep) if folder]
TESTS = os.path.dirname(os.path.abspath(__file__))
FILES = sorted(name for name in os.listdir(TESTS) if name.startswith("test_scrapy_") and "versions" not in name)


@pytest.mark.skipif(not FOLDERS, reason="SCRAPY_SOURCE names no checkout of Scrapy")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("folder", FOLDERS or ["none"], ids=os.path.basename)
def test_all_is_well_with_another_version(folder, name):
    environment = {**os.environ, "VIDI_TEST_SCRAPY": os.path.abspath(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=short", name],
                         cwd=TESTS, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         check=False)
    assert run.returncode == 0, run.stdout[-5000:]


@pytest.mark.skipif(not FOLDERS, reason="SCRAPY_SOURCE names no checkout of Scrapy")
@pytest.mark.parametrize("folder", FOLDERS or ["none"], ids=os.path.basename)
def test_the_other_version_is_the_one_that_is_tested(folder):
    program = "from support import checkout; checkout.use(); import scrapy; print(scrapy.__file__)"
    run = subprocess.run([sys.executable, "-B", "-c", program], cwd=TESTS, stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "VIDI_TEST_SCRAPY": os.path.abspath(folder)}, check=True)
    assert run.stdout.startswith(os.path.abspath(folder))
