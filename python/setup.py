"""Packs the Python package: what CMake has built, the libraries that it needs, and their licences.

`make python` calls this for a build that exists; VIDI_BUILD names its folder. Called by itself (`pip install ./python`
in a clone of the repository), it lets CMake build the package first, in build/pip. Nothing is written beside this file.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before version 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import carry  # noqa: E402  # pylint: disable=wrong-import-position  # it lies beside this file

BUILD = pathlib.Path(os.environ.get("VIDI_BUILD") or ROOT / "build" / "pip")
SCRATCH = BUILD / "python" / "pack"
LICENCES = SCRATCH / "licenses"


def version():
    """The public header of the library is the one place that has it."""
    header = ROOT / "include" / "vidi" / "vidi.h"
    if not header.exists():
        sys.exit(f"{header} is missing: the Python package is built in a clone of vidi's repository")
    numbers = re.findall(r"^#define VIDI_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.MULTILINE)
    return ".".join(numbers)


def build_with_cmake():
    """For those who do not call `make python`."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, *generator, "-DCMAKE_BUILD_TYPE=Release",
                    f"-DVIDI_PYTHON={sys.executable}"], check=True)
    subprocess.run(["cmake", "--build", BUILD, "--parallel", "--target", "vidi_python"], check=True)


class Pack(build_ext):
    """Copies the package from the folder of the build, in place of compiling it."""

    def run(self):
        if not os.environ.get("VIDI_BUILD"):
            build_with_cmake()
        package = pathlib.Path(self.build_lib) / "vidi"
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(BUILD / "python" / "vidi", package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.rmtree(LICENCES, ignore_errors=True)
        LICENCES.mkdir(parents=True)
        shutil.copy(ROOT / "LICENSE", LICENCES / "vidi.txt")
        for library in (BUILD / "python" / "linked_in.txt").read_text().split():
            carry.copy_licence(pathlib.Path(library), LICENCES)
        carry.carry(package / "_vidi.abi3.so", package / "libraries", LICENCES)


class Wheel(bdist_wheel):
    """Puts the licences where tools look for them."""

    def egg2dist(self, egginfo_path, distinfo_path):
        super().egg2dist(egginfo_path, distinfo_path)
        shutil.copytree(LICENCES, pathlib.Path(distinfo_path) / "licenses")


class NoSource(sdist):
    """A folder without the library's sources is of no use to anybody."""

    def run(self):
        sys.exit("there is no source distribution of the Python package: it is compiled together with the library; "
                 "build a wheel in a clone of vidi's repository, with `make python` or `pip wheel ./python`")


SCRATCH.mkdir(parents=True, exist_ok=True)
setup(
    version=version(),
    packages=[],
    ext_modules=[Extension("vidi._vidi", [], py_limited_api=True)],
    cmdclass={"build_ext": Pack, "bdist_wheel": Wheel, "sdist": NoSource},
    options={
        "build": {"build_base": str(SCRATCH)},
        "egg_info": {"egg_base": str(SCRATCH)},
        "bdist_wheel": {"py_limited_api": "cp310"},
    },
)
