"""In which order requests go out: by priority, and among those of one priority as the settings name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from queuelib.queue import FifoDiskQueue
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy import Request


def is_fifo(disk_queue: type) -> bool:
    """Does a class for SCHEDULER_DISK_QUEUE hand out the earliest request first?"""
    return issubclass(disk_queue, FifoDiskQueue) or "Fifo" in disk_queue.__name__


class StartOrder:
    """The order of start requests: after all others of their priority, unless SCHEDULER_START_DISK_QUEUE is None.

    Scrapy has this setting, and the mark in a start request's `meta`, since 2.13. Before, it made start requests only
    when it had nothing else to do.
    """

    def __init__(self, settings: Any) -> None:
        name, usual = "SCHEDULER_START_DISK_QUEUE", "scrapy.squeues.PickleFifoDiskQueue"
        given = settings[name] if name in settings else usual
        self.queue: Any = load_object(given or usual)  # reads what Scrapy's own scheduler has left
        self._sign = 0 if not given else 1 if is_fifo(self.queue) else -1

    def of(self, request: Request) -> int:
        """0 for ordinary requests. Of start requests the earliest comes first for 1, the latest for -1."""
        return self._sign if request.meta.get("is_start_request") else 0
