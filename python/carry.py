"""Puts the shared libraries that the extension needs into the package, each with its licence.

A carried library gets a name of its own: libpsl.so.5 becomes vidpsl.so.5, as a file and inside all files that name it.
The dynamic linker loads a library only once under each name. Under the usual name, another module of the process could
get vidi's library in place of the system's, or vidi the system's, and the versions may not fit. The new name has the
length of the old one, so it can be written over it.

Not carried are the C library, and libstdc++ and libgcc_s: a process must have one of each, the newest, and every Linux
that runs Python programs in binary form has them (PEP 513 and its successors draw the same line). libcrypto is linked
into the extension; where there is no static one, the extension uses the same as Python itself.
"""
import pathlib
import re
import shutil
import subprocess
import sys

NOT_CARRIED = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|crypto))\.so")
COMMON_LICENCES = pathlib.Path("/usr/share/common-licenses")
# The data that is compiled into a library, and the package that has its licence.
DATA_OF = {"libpsl": "publicsuffix"}


def needed(file):
    """The libraries outside the package that a file needs, directly or not: a dict from name to path."""
    found = {}
    output = subprocess.run(["ldd", file], check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        name, _, rest = line.strip().partition(" => ")
        if NOT_CARRIED.match(pathlib.Path(name.split()[0]).name):
            continue
        if rest.startswith("not found") or not rest:
            sys.exit(f"{file} needs {name}, which is not installed")
        found[name] = pathlib.Path(rest.split()[0])
    return found


def new_name(name):
    """The name of a carried library; it must not be longer or shorter."""
    return "vid" + name.removeprefix("lib")


def rename(file, names):
    """Writes the new names over the old ones. They stand in the table of strings, each with a zero at both ends."""
    content = file.read_bytes()
    for name in names:
        content = content.replace(b"\0%s\0" % name.encode(), b"\0%s\0" % new_name(name).encode())
    file.write_bytes(content)


def package_of(library):
    """The Debian package that a library comes from; None on other systems. /lib and /usr/lib may be the same folder."""
    path = str(library.resolve())
    for name in (path, path.removeprefix("/usr"), "/usr" + path):
        try:
            answer = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return None
        if answer.returncode == 0:
            return answer.stdout.partition(":")[0]
    return None


def copy_licence(library, folder):
    """The licence of a library and of the data in it."""
    copy_licence_of(package_of(library), library, folder)
    data = DATA_OF.get(library.name.partition(".")[0])
    if data:
        copy_licence_of(data, f"{library}'s data", folder)


def copy_licence_of(package, what, folder):
    """The licence of a Debian package, and the common ones that it refers to."""
    source = pathlib.Path(f"/usr/share/doc/{package}/copyright")
    if package is None or not source.exists():
        print(f"warning: no licence was found for {what}; add it before you pass the wheel on", file=sys.stderr)
        return
    shutil.copy(source, folder / f"{package}.txt")
    for name in re.findall(rf"{COMMON_LICENCES}/([\w.+-]*\w)", source.read_text(encoding="utf-8")):
        if (COMMON_LICENCES / name).exists():
            shutil.copy(COMMON_LICENCES / name, folder / f"{name}.txt")


def carry(extension, libraries, licences):
    """Copies what the extension needs to the folder `libraries`, which is its RPATH, and the licences to `licences`."""
    found = needed(extension)
    libraries.mkdir()
    for name, path in found.items():
        if not name.startswith("lib"):
            sys.exit(f"{extension} needs {name}, whose name does not begin with lib")
        shutil.copyfile(path, libraries / new_name(name))
        copy_licence(path, licences)
    for file in (extension, *libraries.iterdir()):
        rename(file, found)
