"""A dupe filter and a scheduler for Scrapy.

    DUPEFILTER_CLASS = "vidi.scrapy.DupeFilter"   # a few bytes per URL
    SCHEDULER = "vidi.scrapy.Scheduler"           # with JOBDIR or a server, a crash loses no page

settings.py lists the settings.
"""

from .dupefilter import DupeFilter
from .scheduler import Scheduler

__all__ = ["DupeFilter", "Scheduler"]
