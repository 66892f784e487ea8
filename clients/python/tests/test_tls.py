"""Faults of TLS are told from a service that is away, and are not tried again."""

import subprocess
import time
from concurrent import futures

import grpc
import pytest
from tessera.recall.v1 import recall_pb2, recall_service_pb2_grpc
from tessera_client import Client, TesseraError, Tls

DEADLINE_MS = 30_000


class Served(recall_service_pb2_grpc.RecallServiceServicer):
    def Recall(self, request, context):
        return recall_pb2.RecallResponse(request_id=request.request_id)


def openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An authority and a certificate of it for localhost, which servers and clients show."""
    folder = tmp_path_factory.mktemp("tls")
    for name in ("ca", "other"):
        openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem",
        )
    openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
        "-keyout", folder / "own.key", "-out", folder / "own.csr",
    )
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    openssl(
        "x509", "-req", "-days", "2", "-in", folder / "own.csr", "-CA", folder / "ca.pem",
        "-CAkey", folder / "ca.key", "-CAcreateserial", "-extfile", folder / "names",
        "-out", folder / "own.pem",
    )
    return folder


@pytest.fixture
def address(files):
    server = grpc.server(futures.ThreadPoolExecutor(2))
    recall_service_pb2_grpc.add_RecallServiceServicer_to_server(Served(), server)
    pair = [((files / "own.key").read_bytes(), (files / "own.pem").read_bytes())]
    asks = grpc.ssl_server_credentials(pair, (files / "ca.pem").read_bytes(), True)
    port = server.add_secure_port("localhost:0", asks)
    server.start()
    yield f"localhost:{port}"
    server.stop(None)


def refused(address, tls):
    began = time.monotonic()
    with Client(address, tls=tls, deadline_ms=DEADLINE_MS) as client:
        with pytest.raises(TesseraError) as raised:
            client.recall(user_id="1", fallback=lambda _: pytest.fail("a fault of set-up"))
    assert time.monotonic() - began < DEADLINE_MS / 1000 / 2
    assert (raised.value.code, raised.value.retryable) == ("UNAUTHENTICATED", False)
    return raised.value.message


def test_names_a_certificate_that_is_missing_or_not_known(files, address):
    own = {"certificate": files / "own.pem", "key": files / "own.key"}
    with Client(address, tls=Tls(ca=files / "ca.pem", **own), deadline_ms=DEADLINE_MS) as client:
        assert client.recall(user_id="1", request_id="r").request_id == "r"
    assert "client's certificate" in refused(address, Tls(ca=files / "ca.pem"))
    assert "CERTIFICATE_VERIFY_FAILED" in refused(address, Tls(ca=files / "other.pem", **own))


def test_takes_a_service_that_is_away_for_one(files):
    with Client("localhost:1", tls=Tls(ca=files / "ca.pem"), deadline_ms=500) as client:
        with pytest.raises(TesseraError) as raised:
            client.recall(user_id="1")
    assert raised.value.code in ("ENGINE_UNAVAILABLE", "DEADLINE_EXCEEDED")
    assert raised.value.code == "DEADLINE_EXCEEDED" or raised.value.retryable
