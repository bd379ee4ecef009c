"""Names that differ between versions of Scrapy."""

from __future__ import annotations

from typing import Any

try:
    from scrapy.utils.misc import build_from_crawler
except ImportError:  # Scrapy up to 2.11
    from scrapy.utils.misc import create_instance

    def build_from_crawler(objcls: Any, crawler: Any, /, *args: Any, **kwargs: Any) -> Any:
        return create_instance(objcls, None, crawler, *args, **kwargs)


def engine_slot(crawler: Any) -> Any:
    """What the engine knows about the requests that it is dealing with; None if there is no engine at work."""
    engine = getattr(crawler, "engine", None)
    return getattr(engine, "slot", None) or getattr(engine, "_slot", None)


def requests_in_progress(crawler: Any) -> Any:
    """The requests that the engine is dealing with; None if there is no engine at work."""
    return getattr(engine_slot(crawler), "inprogress", None)


__all__ = ["build_from_crawler", "engine_slot", "requests_in_progress"]
