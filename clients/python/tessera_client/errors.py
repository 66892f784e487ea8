"""Errors of the service: codes of docs/operate/errors.md, the field, whether to ask again."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from google.protobuf import any_pb2
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2
from tessera.recall.v1 import recall_pb2

#: Statuses of gRPC itself, where the service said nothing: code and whether a retry may help.
_OF_TRANSPORT = {
    grpc.StatusCode.UNAVAILABLE: ("ENGINE_UNAVAILABLE", True),
    grpc.StatusCode.DEADLINE_EXCEEDED: ("DEADLINE_EXCEEDED", False),
    grpc.StatusCode.CANCELLED: ("CANCELLED", False),
    grpc.StatusCode.UNIMPLEMENTED: ("ROUTE_NOT_FOUND", False),
}
#: Trailer with a google.rpc.Status.
_DETAILS = "grpc-status-details-bin"
#: A day: longer than any deadline, and within the range of timers.
HINT_MS_MAX = 86_400_000


class TesseraError(Exception):
    """A call that failed. `code` is a row of docs/operate/errors.md, `field` the path at fault
    ("" for none), `retry_after_ms` when a retry may succeed (None: no hint)."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str = "",
        retry_after_ms: int | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.field = field
        self.retry_after_ms = retry_after_ms
        self.retryable = retryable


def error_of(error: grpc.RpcError) -> TesseraError:
    """Details of a failed call by google.rpc, or its status where there are none that can be
    read."""
    details = _details_of(error)
    info = error_details_pb2.ErrorInfo()
    request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    _read(details, request)
    _read(details, retry)
    code, retryable = _OF_TRANSPORT.get(error.code(), ("INTERNAL", False))
    if _read(details, info) and info.reason:
        code, retryable = info.reason, info.metadata.get("retryable") == "true"
    return TesseraError(
        code,
        error.details() or "",
        field=request.field_violations[0].field if request.field_violations else "",
        retry_after_ms=_hint_of(retry),
        retryable=retryable,
    )


def _details_of(error: grpc.RpcError) -> Sequence[any_pb2.Any]:
    """Read here, as grpc_status raises ValueError where they differ from the status by a word, and
    gRPC may give the status's text percent-encoded."""
    for name, value in error.trailing_metadata() or ():
        if name == _DETAILS:
            try:
                return status_pb2.Status.FromString(value).details
            except (DecodeError, TypeError):
                return ()
    return ()


def _read(details: Sequence[any_pb2.Any], message: Message) -> bool:
    """Fills `message` with the detail of its type; False: there is none that can be read."""
    for detail in details:
        try:
            if detail.Unpack(message):
                return True
        except DecodeError:
            message.Clear()
    return False


def _hint_of(retry: error_details_pb2.RetryInfo) -> int | None:
    """The delay in milliseconds, or None where it is no positive time."""
    nanoseconds = retry.retry_delay.seconds * 10**9 + retry.retry_delay.nanos
    ms = -(-nanoseconds // 10**6)
    return min(ms, HINT_MS_MAX) if ms > 0 else None


def failure_of(failure: recall_pb2.RecallFailure) -> TesseraError:
    """The error of one recall of a batch."""
    return TesseraError(
        failure.code,
        failure.message,
        field=failure.field,
        retry_after_ms=failure.retry_after_ms if failure.HasField("retry_after_ms") else None,
        retryable=failure.retryable,
    )
