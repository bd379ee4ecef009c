"""A proxy on loopback between a client and a server, which holds back what the server says.

    with Proxy(server.port, delay=0.05) as proxy:   # every answer comes 50 ms late
        ... connect to proxy.port ...
        proxy.hold()                                # no answer comes
        proxy.wait_until_held()                     # one is there
        proxy.release()
"""
import socket
import threading
import time

PATIENCE = 120  # seconds after which something that does not happen is taken for broken


class Proxy:
    """Any number of connections, two threads each."""

    def __init__(self, port, delay=0.0):
        self.target, self.delay = port, delay
        self.is_free, self.is_held = threading.Event(), threading.Event()
        self.is_free.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def hold(self):
        """From now on no answer gets through."""
        self.is_held.clear()
        self.is_free.clear()

    def wait_until_held(self):
        """Waits until the server has said something that is held back."""
        assert self.is_held.wait(PATIENCE), "the server was not asked"

    def release(self):
        self.is_free.set()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # it is closed
                return
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(server, client, True), daemon=True).start()

    def pump(self, source, sink, is_answer):
        try:
            while data := source.recv(1 << 16):
                if is_answer:
                    time.sleep(self.delay)
                    if not self.is_free.is_set():
                        self.is_held.set()
                    self.is_free.wait()
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()
        self.listener.close()
