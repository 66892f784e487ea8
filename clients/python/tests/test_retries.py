import itertools
import random
import threading
import time
from concurrent import futures

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status
from tessera.recall.v1 import recall_pb2, recall_service_pb2_grpc
from tessera_client import Client, TesseraError
from tessera_client.retries import Retries

HINT_MS = 40
LONG_MS = 60_000


class Refused(grpc.RpcError):
    """A stream that the transport refused."""

    def code(self):
        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return "stream refused"

    def trailing_metadata(self):
        return None


class Clock:
    """Seconds that pass only where something waits or an attempt takes 5 ms."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.waits.append(round(seconds * 1000, 6))
        self.seconds += seconds

    def call(self, retries: Retries, refusals: int = 99, deadline_ms: float = LONG_MS) -> int:
        """Attempts that a call makes; negative where all are refused."""
        attempts = itertools.count(1)
        made = 0

        def attempt(_left_seconds: float) -> None:
            nonlocal made
            made = next(attempts)
            self.seconds += 0.005
            if made <= refusals:
                raise Refused

        try:
            retries.within(deadline_ms, attempt)
        except TesseraError as error:
            assert error.code == "ENGINE_UNAVAILABLE"
            return -made
        return made


def lowest() -> float:
    return 0.0


def retries_of(clock: Clock, draw=lowest) -> Retries:
    return Retries(clock.now, clock.sleep, draw)


def error(hint=None, *, code="ENGINE_OVERLOADED", retryable=True) -> TesseraError:
    return TesseraError(code, "", retry_after_ms=hint, retryable=retryable)


@pytest.mark.parametrize(
    ("failed", "attempt", "left_ms", "wait_ms"),
    [
        (error(40), 0, 80, 40),
        (error(40), 0, 79, None),
        (error(), 0, LONG_MS, 16),
        (error(), 2, LONG_MS, 64),
        (error(), 3, LONG_MS, None),
        (error(retryable=False), 0, LONG_MS, None),
        (error(code="DEADLINE_EXCEEDED"), 0, LONG_MS, None),
    ],
)
def test_waits_as_the_service_says_and_leaves_time_for_an_answer(
    failed, attempt, left_ms, wait_ms
):
    assert retries_of(Clock()).wait_after(failed, attempt, left_ms) == wait_ms


def test_waits_vary_upwards_from_a_hint_and_both_ways_around_an_own_wait():
    draw = random.Random(7).random
    hinted = [retries_of(Clock(), draw).wait_after(error(100), 0, LONG_MS) for _ in range(200)]
    plain = [retries_of(Clock(), draw).wait_after(error(), 1, LONG_MS) for _ in range(200)]
    assert 100 <= min(hinted) < 105
    assert 115 < max(hinted) < 120
    assert 32 <= min(plain) < 34
    assert 46 < max(plain) < 48


def test_leaves_as_much_time_as_answers_took_lately():
    retries = retries_of(Clock())
    retries.answered(80)
    assert retries.wait_after(error(10), 0, 90) == 10
    assert retries.wait_after(error(10), 0, 89) is None
    retries.answered(160)
    assert retries.wait_after(error(10), 0, 100) == 10
    assert retries.wait_after(error(10), 0, 99) is None


def test_five_refusals_end_repeats_and_eleven_successes_allow_one_more():
    clock = Clock()
    retries = retries_of(clock)
    assert clock.call(retries) == -4
    assert clock.waits == [16, 32, 64]
    assert clock.call(retries) == -1
    for _ in range(10):
        assert clock.call(retries, refusals=0) == 1
    assert clock.call(retries) == -1
    for _ in range(11):
        clock.call(retries, refusals=0)
    assert clock.call(retries) == -2


def test_makes_no_repeat_that_would_be_late():
    clock = Clock()
    assert clock.call(retries_of(clock), deadline_ms=36) == -1
    assert clock.call(retries_of(clock), deadline_ms=38) == -2


def test_threads_share_the_budget_without_losing_a_token():
    retries = retries_of(Clock())
    with futures.ThreadPoolExecutor(8) as threads:
        waits = list(threads.map(lambda _: retries.wait_after(error(), 0, LONG_MS), range(800)))
        assert len([wait for wait in waits if wait is not None]) == 4
        list(threads.map(lambda _: retries.answered(1), range(1000)))
    waits = [retries.wait_after(error(), 0, LONG_MS) for _ in range(8)]
    assert len([wait for wait in waits if wait is not None]) == 4


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


class Held(recall_service_pb2_grpc.RecallServiceServicer):
    """Answers nothing before it is told to."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.free = threading.Event()

    def Recall(self, request, context):
        self.begun.release()
        self.free.wait()
        return recall_pb2.RecallResponse(request_id=request.request_id)


def test_calls_beyond_the_streams_of_a_connection_wait_until_their_deadline():
    streams = 4
    options = [("grpc.max_concurrent_streams", streams)]
    server = grpc.server(futures.ThreadPoolExecutor(2 * streams), options=options)
    held = Held()
    recall_service_pb2_grpc.add_RecallServiceServicer_to_server(held, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with (
            Client(f"127.0.0.1:{port}", deadline_ms=LONG_MS) as client,
            futures.ThreadPoolExecutor(2 * streams) as threads,
        ):

            def ask(at: int) -> str:
                return client.recall(user_id="1", request_id=str(at)).request_id

            first = [threads.submit(ask, at) for at in range(streams)]
            for _ in range(streams):
                held.begun.acquire()
            with pytest.raises(TesseraError) as raised:
                client.recall(user_id="1", deadline_ms=50)
            assert raised.value.code == "DEADLINE_EXCEEDED"
            waiting = threads.submit(ask, streams)
            held.free.set()
            assert [one.result() for one in (*first, waiting)] == ["0", "1", "2", "3", "4"]
    finally:
        held.free.set()
        server.stop(None)


def test_falls_back_where_nobody_listens_and_not_on_a_fault_of_the_request():
    with Client("127.0.0.1:1", deadline_ms=200) as client:
        answer = client.recall(
            user_id="1", fallback=lambda error: recall_pb2.RecallResponse(fallback=error.code)
        )
        assert answer.fallback in ("ENGINE_UNAVAILABLE", "DEADLINE_EXCEEDED")
        assert not client.serving()
    with Client("127.0.0.1:1") as client, pytest.raises(ValueError, match="expected one of them"):
        client.recall()
