"""Scrapy's own commands in a project whose settings name our filter and scheduler, and no JOBDIR."""
import http.server
import json
import subprocess
import sys
import threading

import pytest

pytest.importorskip("scrapy")

from support import child  # noqa: E402  # pylint: disable=wrong-import-position

SETTINGS = """
BOT_NAME = "project"
SPIDER_MODULES = ["project.spiders"]
DUPEFILTER_CLASS = "vidi.scrapy.DupeFilter"
SCHEDULER = "vidi.scrapy.Scheduler"
TELNETCONSOLE_ENABLED = False
"""

SPIDER = """
import scrapy

class PageSpider(scrapy.Spider):
    name = "page"

    def parse(self, response):
        '''A callback.

        @url {url}
        @returns items 1 1
        '''
        yield {{"title": response.css("title::text").get()}}
"""

# To load Scrapy takes a second, so one process loads it and forks a child for each command.
PROGRAM = """
import json, os, sys
from support import checkout
checkout.use()
from scrapy.cmdline import execute
for number, command in enumerate(json.loads(sys.argv[1])):
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        for file in 1, 2:
            os.dup2(os.open(f"{number}.{file}", os.O_WRONLY | os.O_CREAT), file)
        status = 1
        try:
            execute(["scrapy", *command])
        except SystemExit as end:
            status = end.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """The same page everywhere."""

    def do_GET(self):
        body = b"<title>a page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(name="url")
def fixture_url():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def make_project(folder, url):
    for name, text in {"scrapy.cfg": "[settings]\ndefault = project.settings\n", "project/__init__.py": "",
                       "project/settings.py": SETTINGS, "project/spiders/__init__.py": "",
                       "project/spiders/page.py": SPIDER.format(url=url)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_commands_work_in_a_project_without_a_folder_for_jobs(tmp_path, url):
    """The benchmark has a server of its own, at a fixed port. That may be taken, so its pages are not counted."""
    make_project(tmp_path, url)
    commands = [(["shell", url, "-c", "response.css('title::text').get()"], "a page"),
                (["fetch", url], "<title>a page</title>"),
                (["parse", "--spider", "page", "-c", "parse", "--nocolour", url], "[{'title': 'a page'}]"),
                (["check"], "Ran 1 contract"),
                (["bench", "-s", "CLOSESPIDER_PAGECOUNT=1", "-s", "RETRY_ENABLED=False"], "")]
    started = subprocess.run([sys.executable, "-B", "-c", PROGRAM, json.dumps([words for words, _ in commands])],
                             env=child.environment(), cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    assert started.stdout.split() == ["0"] * len(commands)
    for number, (words, wanted) in enumerate(commands):
        said = (tmp_path / f"{number}.2").read_text()
        assert wanted in (tmp_path / f"{number}.1").read_text() + said, words
        assert "vidi/scrapy" not in said and "cannot start" not in said, said  # the former would be in a traceback
        assert said.count("Without JOBDIR") == (words != ["check"]), said  # that one logs nothing
