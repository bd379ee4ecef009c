"""The recipes of docs/PYTHON.md and the example for Scrapy are whole programs: each visits every page once."""
import collections
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

from support.site import Site, Tree

SOURCE = pathlib.Path(os.environ.get("VIDI_SOURCE", pathlib.Path(__file__).parents[2]))
RECIPE = re.compile(r"^<!-- recipe: (\w+) -->\n```python no-run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RECIPES = dict(RECIPE.findall((SOURCE / "docs" / "PYTHON.md").read_text(encoding="utf-8")))
TREE = Tree(seed=5, pages=60, depth=12, kinds=["plain"])


@pytest.fixture
def run(tmp_path):
    """Runs a recipe in a folder of its own, and returns what it printed."""

    def program(name, *words, command=()):
        (tmp_path / f"{name}.py").write_text(RECIPES[name], encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", *command, f"{name}.py", *words], cwd=tmp_path, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return program


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def check_each_page_once(site):
    assert collections.Counter(site.asked()) == dict.fromkeys(TREE.names(), 1)


def test_there_are_five_recipes():
    assert list(RECIPES) == ["spider", "soup", "tasks", "frame", "processes"]


@needs("scrapy")
def test_scrapy_fetches_each_page_once_in_two_runs(run, tmp_path):
    with Site(tmp_path, TREE) as site:
        for _ in range(2):  # the second run finds everything done
            run("spider", "-a", f"url={site.start}", "-s", "JOBDIR=job", command=["-m", "scrapy", "runspider"])
            check_each_page_once(site)


@pytest.mark.parametrize("name", [pytest.param("soup", marks=needs("requests", "bs4")), "tasks", "processes"])
def test_a_crawl_fetches_each_page_once(name, run, tmp_path):
    with Site(tmp_path, TREE) as site:
        printed = run(name, site.start)
        check_each_page_once(site)
        assert len(printed.splitlines()) == TREE.count


@needs("pandas")
def test_a_column_gives_rows_that_no_run_has_printed(run, tmp_path):
    links = tmp_path / "links.csv"
    links.write_text("n,url\n1,http://a.example/\n2,http://b.example/\n3,HTTP://A.example/\n")
    assert run("frame", "links.csv") == "n,url\n1,http://a.example/\n2,http://b.example/\n"
    links.write_text("n,url\n4,http://b.example/\n5,http://c.example/\n")
    assert run("frame", "links.csv") == "n,url\n5,http://c.example/\n"


@needs("scrapy")
def test_the_example_fetches_every_page(tmp_path):
    command = [sys.executable, "-B", str(SOURCE / "examples" / "scrapy" / "crawl.py"), "--pages", "100", "--port", "0"]
    printed = subprocess.run(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, check=True).stdout
    assert printed.startswith("100 pages fetched by this run, ") and "; 100 pages known in " in printed
