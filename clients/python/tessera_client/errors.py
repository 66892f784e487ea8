"""Errors of the service: codes of docs/operate/errors.md, the field, whether to ask again."""

from __future__ import annotations

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from tessera.recall.v1 import recall_pb2

#: Statuses of gRPC itself, where the service said nothing: code and whether a retry may help.
_OF_TRANSPORT = {
    grpc.StatusCode.UNAVAILABLE: ("ENGINE_UNAVAILABLE", True),
    grpc.StatusCode.DEADLINE_EXCEEDED: ("DEADLINE_EXCEEDED", False),
    grpc.StatusCode.CANCELLED: ("CANCELLED", False),
    grpc.StatusCode.UNIMPLEMENTED: ("ROUTE_NOT_FOUND", False),
}


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
    """Details of a failed call by google.rpc, or its status where there are none."""
    details = error.details() or ""
    said = rpc_status.from_call(error)
    if said is None:
        code, retryable = _OF_TRANSPORT.get(error.code(), ("INTERNAL", False))
        return TesseraError(code, details, retryable=retryable)
    info = error_details_pb2.ErrorInfo()
    request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    hints = [detail.Unpack(retry) for detail in said.details if detail.Is(retry.DESCRIPTOR)]
    for detail in said.details:
        detail.Unpack(info)
        detail.Unpack(request)
    return TesseraError(
        info.reason or "INTERNAL",
        details,
        field=request.field_violations[0].field if request.field_violations else "",
        retry_after_ms=round(retry.retry_delay.ToTimedelta().total_seconds() * 1000)
        if hints
        else None,
        retryable=info.metadata.get("retryable") == "true",
    )


def failure_of(failure: recall_pb2.RecallFailure) -> TesseraError:
    """The error of one recall of a batch."""
    return TesseraError(
        failure.code,
        failure.message,
        field=failure.field,
        retry_after_ms=failure.retry_after_ms if failure.HasField("retry_after_ms") else None,
        retryable=failure.retryable,
    )
