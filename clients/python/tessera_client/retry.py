"""Repeats of calls within their deadline, by the hints of the service."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import grpc

from .errors import TesseraError, error_of

Answer = TypeVar("Answer")

ATTEMPTS_MAX = 4
FIRST_WAIT_MS = 20


def wait_before_retry(error: TesseraError, attempt: int, left_ms: float) -> float | None:
    """Milliseconds before the next attempt; None: it would not help, or be too late."""
    is_late = error.code == "DEADLINE_EXCEEDED"
    if not error.retryable or is_late or attempt + 1 >= ATTEMPTS_MAX:
        return None
    hint = error.retry_after_ms
    wait_ms = FIRST_WAIT_MS * 2**attempt if hint is None else hint
    return wait_ms if wait_ms < left_ms else None


def _as_it_is(error: TesseraError, _left_seconds: float) -> TesseraError:
    return error


def with_retries(
    deadline_ms: float,
    call: Callable[[float], Answer],
    examine: Callable[[TesseraError, float], TesseraError] = _as_it_is,
) -> Answer:
    """Calls with the seconds that are left until an attempt succeeds, none would help or the time
    is over. `examine` may know more of an error, and has the seconds that are left. Raises
    TesseraError."""
    until = time.monotonic() + deadline_ms / 1000
    attempt = 0
    while True:
        try:
            return call(max(0.0, until - time.monotonic()))
        except grpc.RpcError as failed:
            error = examine(error_of(failed), until - time.monotonic())
            wait_ms = wait_before_retry(error, attempt, (until - time.monotonic()) * 1000)
            if wait_ms is None:
                raise error from failed
        time.sleep(wait_ms / 1000)
        attempt += 1
