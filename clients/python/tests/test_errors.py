"""Errors made of trailers, well-formed or not."""

import random

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from tessera_client import TesseraError, Tls
from tessera_client.errors import HINT_MS_MAX, error_of
from tessera_client.handshake import examined

DETAILS = "grpc-status-details-bin"


class Failed(grpc.RpcError):
    def __init__(self, code, details, trailers):
        self._said = (code, details, trailers)

    def code(self):
        return self._said[0]

    def details(self):
        return self._said[1]

    def trailing_metadata(self):
        return self._said[2]


def any_of(message):
    packed = any_pb2.Any()
    packed.Pack(message)
    return packed


INFO = any_of(
    error_details_pb2.ErrorInfo(
        reason="ENGINE_OVERLOADED", domain="tessera", metadata={"retryable": "true"}
    )
)


def details(*packed, code=8, message="later"):
    return status_pb2.Status(code=code, message=message, details=packed).SerializeToString()


def read(value, code=grpc.StatusCode.RESOURCE_EXHAUSTED, text="later"):
    return error_of(Failed(code, text, ((DETAILS, value),)))


def hinted(**delay):
    return any_of(error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(**delay)))


def test_status_and_details_may_differ_by_a_word_or_a_code():
    for text, code in (("f%C3%BCr", 8), ("later", 14), (None, 0)):
        error = read(details(INFO, message="für", code=code), text=text)
        assert (error.code, error.retryable) == ("ENGINE_OVERLOADED", True)


def test_details_that_are_cut_off_changed_or_drawn_leave_what_the_status_says():
    seed = 3
    draw = random.Random(seed)
    whole = details(INFO, hinted(nanos=40_000_000))
    for at in range(2000):
        some = bytearray(whole[: draw.randrange(len(whole))] if at % 2 else whole)
        if some:
            some[draw.randrange(len(some))] = draw.randrange(256)
        error = read(bytes(some), code=grpc.StatusCode.UNAVAILABLE)
        assert isinstance(error, TesseraError), f"seed {seed}, {at}"
        assert error.retry_after_ms is None or error.retry_after_ms > 0, f"seed {seed}, {at}"
    cut = read(whole[:20], code=grpc.StatusCode.UNAVAILABLE)
    assert (cut.code, cut.retryable) == ("ENGINE_UNAVAILABLE", True)
    assert read(whole[:20]).code == "INTERNAL"


def test_one_detail_that_cannot_be_read_leaves_the_others():
    broken = any_pb2.Any(type_url="type.googleapis.com/google.rpc.RetryInfo", value=b"\xff")
    error = read(details(broken, INFO))
    assert (error.code, error.retry_after_ms) == ("ENGINE_OVERLOADED", None)


@pytest.mark.parametrize("trailers", [None, (), ((DETAILS, "text"),), (("other-bin", b"x"),)])
def test_trailers_may_be_missing(trailers):
    error = error_of(Failed(grpc.StatusCode.UNAVAILABLE, None, trailers))
    assert (error.code, error.message, error.retryable) == ("ENGINE_UNAVAILABLE", "", True)


@pytest.mark.parametrize(
    ("delay", "ms"),
    [
        ({"nanos": 40_000_000}, 40),
        ({"nanos": 1}, 1),
        ({}, None),
        ({"seconds": -5}, None),
        ({"seconds": 2**63 - 1, "nanos": 2**31 - 1}, HINT_MS_MAX),
        ({"seconds": -(2**63)}, None),
    ],
)
def test_hints_are_positive_times(delay, ms):
    assert read(details(INFO, hinted(**delay))).retry_after_ms == ms


@pytest.mark.parametrize("address", ["localhost:99999", "a" * 70 + ":1", "..:1"])
def test_an_address_that_is_none_leaves_the_error_of_the_transport(address):
    away = error_of(Failed(grpc.StatusCode.UNAVAILABLE, "away", None))
    assert examined(away, address, Tls(), 1.0) is away
