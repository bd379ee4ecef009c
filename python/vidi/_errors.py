"""The exceptions: one class for each error of the library.

Each is an `Error` and also the built-in exception that fits, so that code which knows nothing of
vidi can catch it. The text is the library's own sentence; `code` is its number in vidi.h.
"""

import errno as _errno


class Error(Exception):
    """Base of all exceptions of this package."""

    code = 0
    #: After a call for many URLs that failed on the way: True, False, or None for those not tried.
    answers: list[bool | None] | None = None

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InvalidURL(Error, ValueError):
    """Not a URL, in a set that was opened with invalid="fail", or where only a URL will do."""

    code = 3


class ArgumentError(Error, ValueError):
    """A combination of arguments that makes no sense."""

    code = -1


class OptionError(Error, ValueError):
    """An option or a parameter that is unknown or out of range."""

    code = -2


class OutOfMemory(Error, MemoryError):
    """There is no memory left."""

    code = -3


class LimitError(Error, MemoryError):
    """The memory limit would be exceeded, or another limit."""

    code = -4


class AbsentError(Error, KeyError):
    """The URL is not in the set."""

    code = -5


class NotFoundError(Error, FileNotFoundError):
    """There is no set in the folder."""

    code = -5
    errno = _errno.ENOENT


class CannotError(Error, TypeError):
    """This kind of set cannot do that."""

    code = -6


class DiffersError(Error, ValueError):
    """The two sets do not fit together."""

    code = -7


class FormatError(Error, ValueError):
    """This is not a vidi set, or it is a damaged one."""

    code = -8


class DiskError(Error, OSError):
    """A file could not be read or written."""

    code = -9


class KernelError(Error, OSError):
    """The operating system refused something, such as a lock or random numbers."""

    code = -10


class ExistsError(Error, FileExistsError):
    """The folder holds a set already, or something else."""

    code = -11
    errno = _errno.EEXIST


class BusyError(Error, BlockingIOError):
    """Another process, or this one, has the set open for writing."""

    code = -12
    errno = _errno.EAGAIN


class DamagedError(Error, OSError):
    """Something that was on disk is gone; accept_damage=True opens what is left."""

    code = -13


class RateError(Error, ValueError):
    """The merged set would lose many more pages than was asked for; force=True merges all the same."""

    code = -14


class OwnedError(Error, PermissionError):
    """Another program, such as a crawl, keeps this set together with files of its own; it can be read."""

    code = -15
    errno = _errno.EPERM


class ClosedError(Error, ValueError):
    """The set is closed."""

    code = -1


class ForkError(Error, RuntimeError):
    """The set belongs to the process that called fork()."""

    code = -6


# Tracebacks name them as everybody imports them: vidi.Error.
for _class in [Error, *Error.__subclasses__()]:
    _class.__module__ = "vidi"
