# The crawl of bench/crawl.sh with Scrapy: follows all links of a site. Called as
#   scrapy runspider bench/crawl/crawl_spider.py -a start=http://127.0.0.1:PORT/
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Site(CrawlSpider):
    name = "site"
    allowed_domains = ["127.0.0.1"]
    rules = [Rule(LinkExtractor(), callback="page", follow=True)]
    custom_settings = {
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "AUTOTHROTTLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "ROBOTSTXT_OBEY": True,
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, start, **arguments):
        super().__init__(**arguments)
        self.start_urls = [start]

    def page(self, response):
        pass
