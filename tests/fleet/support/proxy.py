"""A proxy between clients and a server, which cuts a connection where a test says.

    proxy = Proxy(server.port)
    proxy.cut_replies(100)      # forwards 100 more bytes of replies, and then cuts the connection
    proxy.cut_before(3)         # forwards 3 more commands
    proxy.cut_after(3)          # the same, and the third one is executed: all replies since then are lost
    proxy.do_before(3, action)  # no cut: after 3 commands, calls action() and goes on
    proxy.answer_with(3, b":1\r\n")  # no cut: after 3 commands, the next one gets this reply

Bytes and commands are counted over all connections. A cut happens once; then everything is forwarded again.
"""
import select
import socket
import threading


def command_length(data):
    """The length of the command that data begins with, or None if it is not complete."""
    end = data.find(b"\r\n")
    if end < 0:
        return None
    at = end + 2
    for _ in range(int(data[1:end])):
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        at = end + 2 + int(data[at + 1:end]) + 2
        if at > len(data):
            return None
    return at


class Proxy:
    def __init__(self, target, on_cut=None):
        self.target = target
        self.on_cut = on_cut
        self.action = self.reply = None
        self.replies_left = self.commands_left = None
        self.executed = False
        self.refuses = False  # new connections are closed at once
        self.cuts = self.commands = self.reply_bytes = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut_replies(self, n):
        self.replies_left = n

    def cut_before(self, n):
        self.commands_left, self.executed, self.action = n, False, None

    def cut_after(self, n):
        self.commands_left, self.executed, self.action = n, True, None

    def do_before(self, n, action):
        self.commands_left, self.executed, self.action = n, False, action

    def answer_with(self, n, reply):
        """Commands must come one at a time, each after the reply to the last one."""
        self.commands_left, self.executed, self.action, self.reply = n, False, None, reply

    def forget(self):
        """No cut any more, and counts from 0."""
        with self.lock:
            self.replies_left = self.commands_left = None
            self.commands = self.reply_bytes = self.cuts = 0

    def close(self):
        self.listener.close()

    # ---- connections ----

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        if self.refuses:
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self.target))
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self.pump(client, server)
        except OSError:
            pass
        client.close()
        server.close()

    def pump(self, client, server):
        waiting = b""
        while True:
            ready, _, _ = select.select([client, server], [], [])
            if server in ready:
                data = server.recv(1 << 16)
                if not data or not self.forward_replies(client, data):
                    return
            if client in ready:
                data = client.recv(1 << 16)
                if not data:
                    return
                waiting = self.forward_commands(client, server, waiting + data)
                if waiting is None:
                    return

    def cut(self):
        self.cuts += 1
        self.replies_left = self.commands_left = None
        if self.on_cut:
            self.on_cut()

    def forward_replies(self, client, data):
        """False: the connection is cut."""
        with self.lock:
            cut = self.replies_left is not None and len(data) > self.replies_left
            if cut:
                data = data[:self.replies_left]
            elif self.replies_left is not None:
                self.replies_left -= len(data)
            self.reply_bytes += len(data)
            if data:
                client.sendall(data)
            if cut:
                self.cut()
        return not cut

    def forward_commands(self, client, server, data):
        """What is left of an incomplete command; None: the connection is cut."""
        while True:
            length = command_length(data)
            if length is None:
                return data
            with self.lock:
                last = self.executed and self.commands_left == 1
                if self.commands_left == 0 and self.reply:
                    server.sendall(data[:length])
                    await_execution(server)
                    client.sendall(self.reply)
                    self.reply = self.commands_left = None
                    self.cuts += 1
                    data = data[length:]
                    continue
                if self.commands_left == 0 and self.action:
                    self.commands_left = None
                    self.action()
                if self.commands_left == 0:
                    self.cut()
                    return None
                server.sendall(data[:length])
                self.commands += 1
                if self.commands_left is not None:
                    self.commands_left -= 1
                if last:
                    await_execution(server)
                    self.cut()
                    return None
            data = data[length:]


def await_execution(server):
    """Returns when the server has executed everything that was sent to it."""
    mark = b"the mark of the proxy"
    server.sendall(b"*2\r\n$4\r\nECHO\r\n$%d\r\n%b\r\n" % (len(mark), mark))
    seen = b""
    while mark not in seen:
        data = server.recv(1 << 16)
        if not data:
            return
        seen = seen[-len(mark):] + data
