"""The examples in docstrings, README.md and docs/PYTHON.md run and print what they say."""
import contextlib
import doctest
import importlib
import io
import os
import pathlib
import pkgutil
import re

import pytest

import vidi

SOURCE = pathlib.Path(os.environ.get("VIDI_SOURCE", pathlib.Path(__file__).parents[2]))
PAGES = [page for page in ("README.md", "docs/PYTHON.md", "python/README.md") if (SOURCE / page).exists()]
BLOCK = re.compile(r"^```(?:python|py|pycon)(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.FAIL_FAST


def run_examples(test):
    """Runs a doctest; what goes wrong becomes the text of the failure."""
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.write)
    assert runner.failures == 0, report.getvalue()
    return runner.tries


def docstrings():
    """Every public object with its name: of the package, its classes, their methods and properties."""
    seen = {}
    modules = [vidi] + [importlib.import_module(info.name) for info in pkgutil.iter_modules(vidi.__path__, "vidi.")
                        if not info.name.startswith(("vidi._vidi", "vidi.scrapy"))]
    for module in modules:
        for name in sorted(vars(module)):
            value = getattr(module, name)
            if name.startswith("_") or not str(getattr(value, "__module__", "")).startswith("vidi"):
                continue
            seen[f"vidi.{name}"] = value
            if isinstance(value, type):
                for member in sorted(vars(value)):
                    if not member.startswith("_"):
                        seen[f"vidi.{name}.{member}"] = vars(value)[member]
    return seen


OBJECTS = docstrings()
WITH_EXAMPLES = [name for name, value in OBJECTS.items() if ">>>" in (getattr(value, "__doc__", "") or "")]


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_everything_public_has_a_docstring():
    for name, value in OBJECTS.items():
        if callable(value) or isinstance(value, property) or type(value).__name__ == "getset_descriptor":
            assert (getattr(value, "__doc__", "") or "").strip(), name


def test_the_set_and_its_functions_have_examples():
    assert {"vidi.Set", "vidi.canon", "vidi.plan"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_docstring(name, in_a_folder):
    parser = doctest.DocTestParser()
    test = parser.get_doctest(OBJECTS[name].__doc__, {"vidi": vidi}, name, name, 0)
    assert run_examples(test) > 0


def blocks(page):
    text = (SOURCE / page).read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start()) + 2, match["info"], match["code"]) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES)
def test_the_python_examples_of_a_page(page, in_a_folder):
    """All blocks of a page, in their order, share one set of names. A block marked no-run is only compiled."""
    names = {"__name__": "__main__"}
    for line, info, code in blocks(page):
        place = f"{page}:{line}"
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, names, place, place, line)
            test.globs = names  # a doctest works on a copy otherwise
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            report = io.StringIO()
            runner.run(test, out=report.write, clear_globs=False)
            assert runner.failures == 0, f"{place}\n{report.getvalue()}"
            continue
        program = compile("\n" * (line - 1) + code, str(SOURCE / page), "exec")
        if "no-run" in info:
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(program, names)
        except Exception as failure:
            raise AssertionError(f"{place}: {failure!r}") from failure


def test_the_pages_have_python_examples():
    if "docs/PYTHON.md" not in PAGES:
        pytest.skip("docs/PYTHON.md is not there")
    assert all(blocks(page) for page in PAGES)


@pytest.mark.parametrize("wrong", [">>> 1 + 1\n3\n", ">>> nonsense\n", ">>> vidi.Set().add('http://a/')\nFalse\n"])
def test_a_wrong_example_is_noticed(wrong):
    with pytest.raises(AssertionError):
        run_examples(doctest.DocTestParser().get_doctest(wrong, {"vidi": vidi}, "wrong", "wrong", 0))
