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

    def __init_subclass__(cls, **attributes: int) -> None:
        """Takes `code`, and `errno` for those that are an OSError, from the line of the class."""
        for name, value in attributes.items():
            setattr(cls, name, value)

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InvalidURL(Error, ValueError, code=3):
    """Not a URL, in a set that was opened with invalid="fail", or where only a URL will do."""


class ArgumentError(Error, ValueError, code=-1):
    """A combination of arguments that makes no sense."""


class OptionError(Error, ValueError, code=-2):
    """An option or a parameter that is unknown or out of range."""


class OutOfMemory(Error, MemoryError, code=-3):
    """There is no memory left."""


class LimitError(Error, MemoryError, code=-4):
    """The memory limit would be exceeded, or another limit."""


class AbsentError(Error, KeyError, code=-5):
    """The URL is not in the set."""


class NotFoundError(Error, FileNotFoundError, code=-5, errno=_errno.ENOENT):
    """There is no set in the folder."""


class CannotError(Error, TypeError, code=-6):
    """This kind of set cannot do that."""


class DiffersError(Error, ValueError, code=-7):
    """The two sets do not fit together."""


class FormatError(Error, ValueError, code=-8):
    """This is not a vidi set, or it is a damaged one."""


class DiskError(Error, OSError, code=-9):
    """A file could not be read or written."""


class ServerError(Error, ConnectionError, code=-9):
    """No server has answered in time, or one has refused what it was asked for."""


class KernelError(Error, OSError, code=-10):
    """The operating system refused something, such as a lock or random numbers."""


class ExistsError(Error, FileExistsError, code=-11, errno=_errno.EEXIST):
    """The folder holds a set already, or something else."""


class BusyError(Error, BlockingIOError, code=-12, errno=_errno.EAGAIN):
    """Another process, or this one, has the set open for writing."""


class DamagedError(Error, OSError, code=-13):
    """Something that was on disk is gone; accept_damage=True opens what is left."""


class RateError(Error, ValueError, code=-14):
    """The merged set would lose many more pages than was asked for; force=True merges all the same."""


class OwnedError(Error, PermissionError, code=-15, errno=_errno.EPERM):
    """Another program, such as a crawl, keeps this set together with files of its own; it can be read."""


class ClosedError(Error, ValueError, code=-1):
    """The set is closed."""


class ForkError(Error, RuntimeError, code=-6):
    """The set belongs to the process that called fork()."""


# Tracebacks name them as everybody imports them: vidi.Error.
for _class in [Error, *Error.__subclasses__()]:
    _class.__module__ = "vidi"
