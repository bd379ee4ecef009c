"""A site to crawl: each page links to three deeper ones, to its neighbour and back to the start."""
import http.server
import threading


class LocalSite:
    """Serves the pages 0 … count - 1 on the loopback interface, in a thread."""

    def __init__(self, count, port):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                name = self.path.removeprefix("/page/")
                number = int(name) if name.isdecimal() else count
                text = page(number, count) if number < count else "There is no such page."
                body = text.encode()
                self.send_response(200 if number < count else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.start = f"http://127.0.0.1:{self.server.server_port}/page/0"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def page(number, count):
    links = [n for n in (3 * number + 1, 3 * number + 2, 3 * number + 3, number + 1) if n < count] + [0]
    return f"<title>Page {number}</title>" + "".join(f'<p><a href="/page/{n}">{n}</a>' for n in links)
