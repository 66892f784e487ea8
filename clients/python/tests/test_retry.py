import time
from concurrent import futures

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status
from tessera.recall.v1 import recall_pb2, recall_service_pb2_grpc
from tessera_client import Client, TesseraError
from tessera_client.retry import wait_before_retry

HINT_MS = 40


@pytest.mark.parametrize(
    ("hint", "retryable", "attempt", "left_ms", "wait_ms"),
    [
        (40, True, 0, 1000, 40),
        (40, True, 0, 30, None),
        (None, True, 0, 1000, 20),
        (None, True, 2, 1000, 80),
        (None, True, 3, 1000, None),
        (None, False, 0, 1000, None),
    ],
)
def test_waits_as_the_service_says(hint, retryable, attempt, left_ms, wait_ms):
    error = TesseraError("ENGINE_OVERLOADED", "", retry_after_ms=hint, retryable=retryable)
    assert wait_before_retry(error, attempt, left_ms) == wait_ms


def test_never_asks_again_what_was_too_late():
    error = TesseraError("DEADLINE_EXCEEDED", "", retryable=True)
    assert wait_before_retry(error, 0, 1000) is None


class Busy(recall_service_pb2_grpc.RecallServiceServicer):
    """Refuses the first calls with a hint, as an overloaded service does."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.times: list[float] = []

    def Recall(self, request, context):
        self.times.append(time.monotonic())
        if len(self.times) > self.refusals:
            return recall_pb2.RecallResponse(request_id=request.request_id)
        details = []
        for detail in (
            error_details_pb2.ErrorInfo(
                reason="ENGINE_OVERLOADED", domain="tessera", metadata={"retryable": "true"}
            ),
            error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=HINT_MS * 10**6)),
        ):
            packed = any_pb2.Any()
            packed.Pack(detail)
            details.append(packed)
        status = status_pb2.Status(
            code=code_pb2.RESOURCE_EXHAUSTED, message="busy", details=details
        )
        context.abort_with_status(rpc_status.to_status(status))


@pytest.fixture
def serve():
    servers = []

    def start(refusals: int):
        server = grpc.server(futures.ThreadPoolExecutor(4))
        servers.append(server)
        busy = Busy(refusals)
        recall_service_pb2_grpc.add_RecallServiceServicer_to_server(busy, server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        return busy, f"127.0.0.1:{port}"

    yield start
    for server in servers:
        server.stop(None)


def test_asks_again_when_the_hint_says_and_succeeds(serve):
    busy, address = serve(2)
    with Client(address, deadline_ms=30_000) as client:
        assert client.recall(user_id="1", request_id="r").request_id == "r"
    first, second, third = busy.times
    assert second - first >= HINT_MS / 1000
    assert third - second >= HINT_MS / 1000


def test_gives_up_after_four_attempts_and_says_why(serve):
    busy, address = serve(100)
    with Client(address, deadline_ms=30_000) as client, pytest.raises(TesseraError) as raised:
        client.recall(user_id="1")
    assert (raised.value.code, raised.value.retry_after_ms) == ("ENGINE_OVERLOADED", HINT_MS)
    assert len(busy.times) == 4


def test_falls_back_where_nobody_listens_and_not_on_a_fault_of_the_request():
    with Client("127.0.0.1:1", deadline_ms=200) as client:
        answer = client.recall(
            user_id="1", fallback=lambda error: recall_pb2.RecallResponse(fallback=error.code)
        )
        assert answer.fallback in ("ENGINE_UNAVAILABLE", "DEADLINE_EXCEEDED")
        assert not client.serving()
    with Client("127.0.0.1:1") as client, pytest.raises(ValueError, match="expected one of them"):
        client.recall()
