"""How the package refuses a call: with the matching built-in exception, and a sentence that a person can act on."""
import pytest

import vidi

# What no user error may ever show: these say that the extension itself is wrong.
INTERNAL = (SystemError, BufferError, RecursionError, AssertionError)


def check_sentence(exception):
    """Fails unless the exception's text reads as a sentence and the exception is not an internal one."""
    text = str(exception)
    assert not isinstance(exception, INTERNAL), repr(exception)
    assert len(text) >= 10 and len(text.split()) >= 3, f"not a sentence: {exception!r}"
    if isinstance(exception, vidi.Error):
        assert isinstance(exception.code, int), repr(exception)


def refused(expected, call, *arguments, **options):
    """Calls, expects that exception with a sentence, and returns it."""
    with pytest.raises(expected) as caught:
        call(*arguments, **options)
    check_sentence(caught.value)
    return caught.value


def refused_by_library(expected, call, *arguments, **options):
    """The same for errors that the library reports: vidi.Error, and the built-in exception beside it."""
    exception = refused(expected, call, *arguments, **options)
    assert isinstance(exception, vidi.Error), repr(exception)
    return exception
