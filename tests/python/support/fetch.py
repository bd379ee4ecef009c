"""Crawls without a reactor, as Scrapy can since 2.15, and a download handler as far as the site of site.py needs one."""
import asyncio
import gc
import re
from urllib.parse import urlsplit

import scrapy.crawler
from scrapy.http import Headers, HtmlResponse


class AsyncHandler:
    """A connection for each request."""

    lazy = False

    @classmethod
    def from_crawler(cls, _):
        return cls()

    async def download_request(self, request):
        parts = urlsplit(request.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        lines = [f"{request.method} {parts.path} HTTP/1.1", f"Host: {parts.netloc}",
                 f"Content-Length: {len(request.body)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + request.body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        body = await reader.readexactly(int(re.search(r"Content-Length: (\d+)", head)[1]))
        writer.close()
        headers = Headers(line.split(": ", 1) for line in head.strip().split("\r\n")[1:])
        return HtmlResponse(request.url, status=int(head.split()[1]), headers=headers, body=body, request=request)

    async def close(self):
        pass


def crawl_without_reactor(settings, spider, options):
    """Returns the exception that ended the crawl, or None. With Debian's old Twisted the garbage collector takes tasks
    that are still waiting, and then no crawl ends, not even with Scrapy's own scheduler."""
    gc.disable()
    process = scrapy.crawler.AsyncCrawlerProcess(
        {**settings, "DOWNLOAD_HANDLERS": {"http": AsyncHandler, "https": None}})
    crawl = process.crawl(spider, **options)
    process.start()
    return crawl.exception()
