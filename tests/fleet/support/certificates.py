"""Certificates for one run of the tests, made with openssl in a folder: an authority, and keys that it has signed."""
import os
import subprocess


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Authority:
    """Its certificate is the file `certificate`."""

    def __init__(self, folder, name="authority"):
        self.folder = folder
        self.key, self.certificate = self.path(name + ".key"), self.path(name + ".crt")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=" + name, "-keyout", self.key, "-out", self.certificate)

    def path(self, name):
        return os.path.join(self.folder, name)

    def sign(self, name, *hosts):
        """A key and a certificate that is made out to the hosts, such as IP:127.0.0.1 or DNS:localhost."""
        key, request, certificate = (self.path(name + end) for end in (".key", ".csr", ".crt"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=" + name,
                "-keyout", key, "-out", request)
        extensions = self.path(name + ".ext")
        with open(extensions, "w", encoding="ascii") as file:
            file.write("subjectAltName=" + ",".join(hosts or ["DNS:nobody.example"]) + "\n")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", "2", "-extfile", extensions, "-out", certificate)
        return key, certificate
