#!/usr/bin/python3
"""A crawl with Scrapy that survives being killed, against a site on this machine.

    examples/scrapy/crawl.py [--pages 2000] [--job job]

Interrupt it, or kill it with SIGKILL, and start it again with the same arguments: it goes on where it was, and in the
end every page was fetched. Delete the folder of the job to begin anew.

It needs the wheel that `make python` builds, and Scrapy.
"""
import argparse

import scrapy
from scrapy.crawler import CrawlerProcess

from local_site import LocalSite


class SiteSpider(scrapy.Spider):
    name = "site"
    custom_settings = {
        "DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter",  # a few bytes per URL
        "SCHEDULER": "vidi.scrapy.Scheduler",          # a crash loses no page
    }

    async def start(self):
        yield scrapy.Request(self.url)

    def start_requests(self):  # before Scrapy 2.13
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=2000, help="pages of the site (2000)")
    parser.add_argument("--job", default="job", help="the folder of the crawl (job)")
    parser.add_argument("--port", type=int, default=8765, help="of the site (8765); it must stay the same to go on")
    given = parser.parse_args()
    with LocalSite(given.pages, given.port) as site:
        process = CrawlerProcess({"JOBDIR": given.job, "LOG_LEVEL": "WARNING",
                                  "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
        crawler = process.create_crawler(SiteSpider)
        process.crawl(crawler, url=site.start)
        process.start()
    stats = crawler.stats
    print(f"{stats.get_value('response_received_count', 0)} pages fetched by this run, "
          f"{stats.get_value('dupefilter/filtered', 0)} links to pages seen before; "
          f"{stats.get_value('vidi/urls')} pages known in {stats.get_value('vidi/bytes')} bytes, "
          f"{stats.get_value('vidi/expected_lost'):.6f} expected to be lost")


if __name__ == "__main__":
    main()
