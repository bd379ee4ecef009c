"""Whole crawls of a site on loopback, each in a process of its own: how long they take, and how long the reactor stands
still.

    schedulers.py hosts [--hosts 32] [--pages 16] [--delay 0.25]
        Many hosts with a delay. The first page links to all others, host by host. The schedulers of Scrapy and of vidi,
        with the plain order and with the one that looks at download slots.

    schedulers.py server [--pages 1000] [--late 0.05] [--stop 8]
        vidi's scheduler on a server: beside the spider, behind a proxy whose answers are late, and with a server that
        is stopped for some seconds in the middle of the crawl.

VIDI_BUILD is the build whose module the server loads. PYTHONPATH has the package that is measured.
"""
import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "python")
PLAIN = "scrapy.pqueues.ScrapyPriorityQueue"
AWARE = "scrapy.pqueues.DownloaderAwarePriorityQueue"
OURS = {"DUPEFILTER_CLASS": "vidi.scrapy.DupeFilter", "SCHEDULER": "vidi.scrapy.Scheduler"}
FAN = 5  # links of a page


def serve(hosts, pages):
    """The site: /all links to all pages of all hosts; /N to a few others, so that page 0 leads to all."""
    async def answer(reader, writer):
        while head := await reader.readline():
            path = head.split(b" ", 2)[1].decode()[1:]
            while await reader.readline() not in (b"\r\n", b""):
                pass
            if path == "all":
                links = [f"http://127.0.0.{host}:{port}/leaf/{page}" for host in range(1, hosts + 1)
                         for page in range(pages)]
            elif path.isdigit():
                links = [f"/{n}" for n in range(FAN * int(path) + 1, FAN * int(path) + 1 + FAN) if n < pages]
            else:
                links = []
            body = "\n".join(f"<a href={link}>" for link in links).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def run():
        nonlocal port
        server = await asyncio.start_server(answer, "0.0.0.0", 0, limit=1 << 16)
        port = server.sockets[0].getsockname()[1]
        print(port, flush=True)
        await server.serve_forever()

    port = 0
    asyncio.run(run())


def crawl(order):
    """One crawl in this process. Prints a line of JSON."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from twisted.internet.task import LoopingCall

    marks, counts = [], []

    class BenchSpider(scrapy.Spider):
        name = "bench"

        def start_requests(self):
            LoopingCall(lambda: marks.append(time.monotonic())).start(0.005)
            yield scrapy.Request(order["url"])

        async def start(self):  # since Scrapy 2.13
            for request in self.start_requests():
                yield request

        def parse(self, response):
            counts.append(1)
            for link in re.findall(rb"<a href=(\S+)>", response.body):
                yield response.follow(link.decode())

    process = CrawlerProcess({"LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "COOKIES_ENABLED": False,
                              "RANDOMIZE_DOWNLOAD_DELAY": False, "MEMUSAGE_ENABLED": False, **order["settings"]})
    process.crawl(BenchSpider)
    began = time.monotonic()
    process.start()
    pauses = [later - earlier for earlier, later in zip(marks, marks[1:])]
    print(json.dumps({"seconds": time.monotonic() - began, "pages": len(counts), "pause": max(pauses),
                      "processor": time.process_time()}))


def measure(name, url, pages, **settings):
    folder = tempfile.mkdtemp()
    if settings.pop("job", False):
        settings["JOBDIR"] = os.path.join(folder, "job")
    if "2.7" in settings.pop("implementation", "2.7") and _version() < (2, 12):
        settings["REQUEST_FINGERPRINTER_IMPLEMENTATION"] = "2.7"
    said = subprocess.run([sys.executable, "-B", __file__, "crawl", json.dumps({"url": url, "settings": settings})],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    shutil.rmtree(folder)
    result = json.loads(said)
    missing = "" if result["pages"] == pages else f"  {result['pages']} pages instead of {pages}"
    print(f"{name:<48} {result['seconds']:6.1f} s, {result['processor']:4.1f} s of processor time, "
          f"longest pause {result['pause']:5.2f} s{missing}", flush=True)


def _version():
    import scrapy
    return tuple(map(int, scrapy.__version__.split(".")[:2]))


def measure_hosts(site, options):
    url = f"http://127.0.0.1:{site}/all"
    pages = 1 + options.hosts * options.pages
    order = [(f"{who}, {queue.rpartition('.')[2]}", {**which, "SCHEDULER_PRIORITY_QUEUE": queue})
             for who, which in (("Scrapy", {}), ("vidi, JOBDIR", {**OURS, "job": True})) for queue in (PLAIN, AWARE)]
    for name, settings in order:
        measure(name, url, pages, DOWNLOAD_DELAY=options.delay, **settings)
    server, path = start_server()
    with server:
        for queue in (PLAIN, AWARE):
            server.client()("FLUSHALL")
            measure(f"vidi on a server, {queue.rpartition('.')[2]}", url, pages, **OURS, VIDI_PATH=path(server.port),
                    DOWNLOAD_DELAY=options.delay, SCHEDULER_PRIORITY_QUEUE=queue)


def start_server():
    sys.path.insert(0, TESTS)
    from support import redis_server
    return redis_server.Server(), lambda port: f"redis://127.0.0.1:{port}/0?key=bench"


def measure_server(site, options):
    server, path = start_server()
    from support.proxy import Proxy
    url = f"http://127.0.0.1:{site}/0"
    settings = {**OURS, "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
    with server:
        measure("beside the server", url, options.pages, **settings, VIDI_PATH=path(server.port))
        with Proxy(server.port, options.late) as proxy:
            server.client()("FLUSHALL")
            measure(f"answers {1000 * options.late:.0f} ms late", url, options.pages, **settings,
                    VIDI_PATH=path(proxy.port))
        server.client()("FLUSHALL")

        def stop():
            client = server.client()
            while client("EXISTS", "bench") == 0 or client("VIDI.INFO", "bench")[7] < options.pages // 4:
                time.sleep(0.05)
            os.kill(server.process.pid, signal.SIGSTOP)
            time.sleep(options.stop)
            os.kill(server.process.pid, signal.SIGCONT)

        stopper = threading.Thread(target=stop)
        stopper.start()
        measure(f"server stopped for {options.stop:g} s", url, options.pages, **settings, VIDI_PATH=path(server.port))
        stopper.join()


def main():
    if sys.argv[1] == "serve":
        return serve(int(sys.argv[2]), int(sys.argv[3]))
    if sys.argv[1] == "crawl":
        return crawl(json.loads(sys.argv[2]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["hosts", "server"])
    parser.add_argument("--hosts", type=int, default=32)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--delay", type=float, default=0.25)
    parser.add_argument("--late", type=float, default=0.05)
    parser.add_argument("--stop", type=float, default=8)
    options = parser.parse_args()
    options.pages = options.pages or (16 if options.what == "hosts" else 1000)
    with subprocess.Popen([sys.executable, "-B", __file__, "serve", str(options.hosts), str(options.pages)],
                          stdout=subprocess.PIPE, text=True) as site:
        port = int(site.stdout.readline())
        try:
            (measure_hosts if options.what == "hosts" else measure_server)(port, options)
        finally:
            site.terminate()
    return None


main()
