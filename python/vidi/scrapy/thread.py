"""A thread that talks to the server, so that Scrapy's reactor never waits for it.

The reactor's thread asks for a job and gets a Deferred, which fires in the reactor's thread again. Jobs
are done one after the other, in the order in which they were asked for. The thread sees keys, payloads
and tokens; objects of Scrapy are touched in the reactor's thread only. Between asking for a job and its
answer, what was passed to the job belongs to the thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from .compat import caller_from_thread


class ServerThread:
    """All methods are called in the reactor's thread."""

    def __init__(self, upkeep: Callable[[], float]) -> None:
        """`upkeep` is called in the thread, before it waits for a job. It tells for how long it may wait."""
        self._upkeep = upkeep
        self._jobs: SimpleQueue[tuple[Deferred[Any], Callable[..., Any], Any] | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[Deferred[Any], Any]] = SimpleQueue()
        self._unanswered = 0  # jobs
        self._thread: threading.Thread | None = None
        self._call_in_reactor: Any = None

    def ask(self, job: Callable[..., Any], *arguments: Any) -> Deferred[Any]:
        """Calls a function in the thread. Its result, or its exception, comes through the Deferred."""
        if self._thread is None:
            self._call_in_reactor = caller_from_thread()
            self._thread = threading.Thread(target=self._work, name="vidi.scrapy", daemon=True)
            self._thread.start()
        self._unanswered += 1
        answer: Deferred[Any] = Deferred()
        self._jobs.put((answer, job, arguments))
        return answer

    @property
    def is_busy(self) -> bool:
        """True if an answer will come."""
        return self._unanswered > 0

    def wait(self, seconds: float | None = None) -> bool:
        """Blocks until the next answer is there, and delivers it. False if there is none to wait for, or none came."""
        if not self._unanswered:
            return False
        try:
            self._deliver(self._answers.get(timeout=seconds))
        except Empty:
            return False
        return True

    def stop(self) -> None:
        """Ends the thread after the jobs that it has. A process may end before that."""
        self._jobs.put(None)

    def _deliver(self, answered: tuple[Deferred[Any], Any]) -> None:
        self._unanswered -= 1
        answer, result = answered
        answer.callback(result)  # a Failure begins the chain of errbacks

    def _deliver_all(self) -> None:
        """An answer may have been delivered by `wait` before."""
        while not self._answers.empty():
            self._deliver(self._answers.get())

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=self._upkeep())
            except Empty:
                continue
            if job is None:
                return
            answer, function, arguments = job
            try:
                result = function(*arguments)
            except BaseException:  # whatever it is, the reactor's thread must know
                result = Failure()  # type: ignore[no-untyped-call]
            self._answers.put((answer, result))
            self._call_in_reactor(self._deliver_all)
