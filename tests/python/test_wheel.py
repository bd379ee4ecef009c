"""The wheel: what is in it, and that a machine with nothing but Python can use it."""
import os
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

import pytest

import vidi

SOURCE = pathlib.Path(os.environ.get("VIDI_SOURCE") or pathlib.Path(__file__).parents[2])
IS_LONG = os.environ.get("VIDI_TEST_LONG") == "1"
BUILD = pathlib.Path(os.environ.get("VIDI_BUILD") or SOURCE / "build")

# Of the system, the package uses the C library and what goes with the compiler (python/carry.py says why).
FROM_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}

# Needs ICU (an international host), libpsl (the site of a host), libcrypto and libxxhash.
USE = """
import vidi
assert vidi.Set().add("http://b\\u00fccher.example/")
assert vidi.canon("http://b\\u00fccher.example/") == "http://xn--bcher-kva.example/"
sites = vidi.Set(canon="key=site")
assert sites.add("http://a.example.co.uk/") and not sites.add("http://b.example.co.uk/")
assert sites.add("http://another.co.uk/")
for hash in "md5", "sha1", "xxh3":
    assert vidi.Set(kind="classic", capacity=100, params="hash=" + hash).add("http://example.com/")
"""


@pytest.fixture(scope="module")
def wheel():
    files = list((BUILD / "python").glob("*.whl"))
    assert len(files) == 1
    return files[0]


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """The Python of a new virtual environment, which sees nothing of the system's packages, with the wheel in it."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--no-index",
        "--no-compile", wheel)
    return python


def run(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "PIP_CONFIG_FILE": os.devnull, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def loaded(python, code):
    """The libraries that a Python program loads, as the dynamic linker reports them; Python's own modules are none."""
    report = run(python, "-I", "-B", "-c", code, LD_DEBUG="libs").stderr
    paths = {pathlib.Path(path) for path in re.findall(r"calling init: (.*)", report)}
    return {path for path in paths if path.parent.name != "lib-dynload"}


@pytest.mark.skipif("VIDI_BUILD" not in os.environ, reason="by hand, any package may be tested")
def test_the_package_under_test_comes_from_the_wheel():
    assert (BUILD / "python" / "venv").resolve() in pathlib.Path(vidi.__file__).resolve().parents


def test_its_name_says_what_it_runs_on(wheel):
    assert wheel.name == f"vidi-{vidi.version}-cp310-abi3-linux_{platform.machine()}.whl"


def test_it_has_the_package_and_nothing_that_was_left_over(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    python = SOURCE / "python"
    package = {str(path.relative_to(python)) for path in (python / "vidi").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}
    assert package <= names
    added = re.compile(r"vidi/_vidi\.abi3\.so|vidi/libraries/vid[\w.+-]+\.so[\d.]*"
                       r"|vidi-[\d.]+\.dist-info/(METADATA|RECORD|WHEEL|top_level\.txt|licenses/[\w.+-]+\.txt)")
    assert [name for name in names - package if not added.fullmatch(name)] == []


def test_each_library_comes_with_its_licence(wheel):
    archive = zipfile.ZipFile(wheel)
    licences = {path.name: archive.read(str(path)).decode() for path in map(pathlib.PurePath, archive.namelist())
                if path.parent == pathlib.PurePath(f"vidi-{vidi.version}.dist-info", "licenses")}
    carried = {pathlib.Path(name).name[3:6] for name in archive.namelist() if "/libraries/" in name}
    assert {"icu", "psl", "idn", "uni"} <= carried
    for stem in carried | {"ssl", "xxh"}:
        assert any(name.startswith(f"lib{stem}") for name in licences), stem
    assert {"vidi.txt", "LGPL-3.txt", "Apache-2.0.txt"} <= set(licences)
    assert "Mozilla Public License" in licences["publicsuffix.txt"]  # the list that is compiled into libpsl
    assert licences["vidi.txt"] == (SOURCE / "LICENSE").read_text()
    for text in licences.values():  # what one refers to is there, too
        for name in re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text):
            assert f"{name}.txt" in licences or not os.path.exists(f"/usr/share/common-licenses/{name}")


def test_its_metadata_is_complete(wheel):
    metadata = zipfile.ZipFile(wheel).read(f"vidi-{vidi.version}.dist-info/METADATA").decode()
    assert f"\nVersion: {vidi.version}\n" in metadata
    for line in ("Requires-Python: >=3.10", "License: MIT", "Classifier: License :: OSI Approved :: MIT License",
                 "Description-Content-Type: text/markdown", "Provides-Extra: scrapy", "Provides-Extra: redis"):
        assert f"\n{line}\n" in metadata
    assert metadata.endswith((SOURCE / "python" / "README.md").read_text())
    assert "://" not in metadata.partition("\n\n")[0]  # no address that was made up
    assert not re.search(r"^Requires-Dist: (?!.*; extra ==)", metadata, re.MULTILINE)


def test_it_loads_its_own_libraries(fresh):
    new = loaded(fresh, USE) - loaded(fresh, "pass")
    own = {path for path in new if "site-packages/vidi" in str(path)}
    assert {path.name for path in new - own} <= FROM_THE_SYSTEM
    assert len(own) >= 6 and {path.parts[1] for path in own} == {fresh.parts[1]}


def test_the_libraries_of_the_system_may_be_missing(fresh):
    """The files of the system are covered by an empty one, so whoever loads them fails."""
    hide = r"""
        for file in /usr/lib/*/lib{icu,psl,idn2,unistring,xxhash}*.so.*[0-9]; do
            [ -L "$file" ] || mount --bind /dev/null "$file" || exit 1
        done
        [ ! -d /usr/share/publicsuffix ] || mount -t tmpfs none /usr/share/publicsuffix || exit 1
        """
    as_root = [] if os.getuid() == 0 else ["--map-root-user"]

    def inside(command):
        return subprocess.run(["unshare", "--mount", *as_root, "bash", "-c", hide + command, "bash", fresh, USE],
                              capture_output=True, text=True, check=False)

    if inside("true").returncode != 0:
        pytest.skip("mounts are not allowed here")
    done = inside('"$1" -I -B -c "$2"')
    assert (done.returncode, done.stderr) == (0, "")
    # The same package without its libraries shows that they were hidden.
    libraries = next(fresh.parents[1].rglob("vidi/libraries"))
    libraries.rename(libraries.with_name("elsewhere"))
    try:
        assert inside('"$1" -I -B -c "$2"').returncode != 0
    finally:
        libraries.with_name("elsewhere").rename(libraries)


def test_other_modules_keep_their_own_libraries(fresh):
    """A library of the system under its usual name is another one than the carried one, so versions never meet."""
    code = "import ctypes.util as u, ctypes; ctypes.CDLL(u.find_library('psl'));" + USE
    psl = [path for path in loaded(fresh, code) if "psl" in path.name]
    assert sorted(path.name[:6] for path in psl) == ["libpsl", "vidpsl"]


def test_the_extension_shows_one_symbol():
    symbols = run("nm", "--dynamic", "--defined-only", vidi._vidi.__file__).stdout.split("\n")
    assert [line.split()[-1] for line in symbols if line] == ["PyInit__vidi"]


@pytest.mark.skipif(not IS_LONG, reason="it compiles the library again")
def test_pip_alone_builds_the_same_wheel(wheel, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "VIDI_BUILD"}
    command = [sys.executable, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "-w", tmp_path,
               SOURCE / "python"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(zipfile.ZipFile(tmp_path / wheel.name).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


@pytest.mark.skipif(not IS_LONG, reason="it makes environments with pip in them")
@pytest.mark.parametrize("name", ["plain", "scrapy"])
def test_the_installation_works_as_it_is_written(name, wheel, tmp_path):
    text = (SOURCE / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    start = rf"^<!-- install: {name} -->\n```sh\nmake python[^\n]*\n"
    block = re.search(start + "(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "build").symlink_to(BUILD)
    run("bash", "-ec", f"cd {tmp_path}\n" + block[1], PIP_NO_INDEX="1")


def test_outside_a_clone_it_says_what_it_needs(tmp_path):
    for name in ("setup.py", "carry.py", "pyproject.toml", "README.md"):
        (tmp_path / name).write_bytes((SOURCE / "python" / name).read_bytes())
    environment = {key: value for key, value in os.environ.items() if key != "VIDI_BUILD"}
    done = subprocess.run([sys.executable, "-B", "setup.py", "--version"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "built in a clone of vidi's repository" in done.stderr


def test_there_is_no_source_distribution_and_a_sentence_says_so(tmp_path):
    """`python -m build --sdist` calls this, too."""
    done = subprocess.run([sys.executable, "-B", "setup.py", "sdist", "--dist-dir", tmp_path], cwd=SOURCE / "python",
                          env={**os.environ, "VIDI_BUILD": str(tmp_path / "build")}, capture_output=True, text=True,
                          check=False)
    assert done.returncode != 0 and list(tmp_path.glob("*.tar.gz")) == []
    assert "there is no source distribution" in done.stderr


def test_nothing_was_written_into_the_source(wheel):
    assert wheel.exists()
    names = {path.name for path in (SOURCE / "python").iterdir()}
    assert names == {"CMakeLists.txt", "README.md", "carry.py", "extension", "pyproject.toml", "setup.py", "vidi"}
