"""Repeats of one client's calls within their deadlines, by the hints of the service."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import grpc

from .errors import TesseraError, error_of

Answer = TypeVar("Answer")

ATTEMPTS_MAX = 4
FIRST_WAIT_MS = 20
#: Callers that were refused together come back apart: waits differ by up to this share.
JITTER = 0.2
#: The budget of gRFC A6 (retryThrottling): repeats only while more than half its tokens are left.
TOKENS_MAX = 10
TOKEN_RATIO = 0.1
#: Share of the newest answer in the smoothed time of answers, that of RFC 6298 for round trips.
ANSWER_WEIGHT = 0.125


def _as_it_is(error: TesseraError, _left_seconds: float) -> TesseraError:
    return error


class Retries:
    """The calls of a client share one budget; threads may share this. `clock` gives seconds from
    any moment, `draw` numbers of [0, 1)."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._draw = draw
        self._lock = threading.Lock()
        self._tokens: float = TOKENS_MAX
        #: Smoothed time of answers; None before the first.
        self._answer_ms: float | None = None

    def within(
        self,
        deadline_ms: float,
        call: Callable[[float], Answer],
        examine: Callable[[TesseraError, float], TesseraError] = _as_it_is,
    ) -> Answer:
        """Calls with the seconds that are left until an attempt succeeds or wait_after allows no
        other. `examine` may know more of an error, and has the seconds that are left. Raises
        TesseraError."""
        until = self._clock() + deadline_ms / 1000
        attempt = 0
        while True:
            began = self._clock()
            try:
                answer = call(max(0.0, until - began))
            except grpc.RpcError as failed:
                error = examine(error_of(failed), until - self._clock())
                wait_ms = self.wait_after(error, attempt, (until - self._clock()) * 1000)
                if wait_ms is None:
                    raise error from failed
            else:
                self.answered((self._clock() - began) * 1000)
                return answer
            self._sleep(wait_ms / 1000)
            attempt += 1

    def wait_after(self, error: TesseraError, attempt: int, left_ms: float) -> float | None:
        """Milliseconds before the next attempt, after a failure that takes a token where it is
        retryable. None: a repeat would not help, exceeds the budget, or leaves too little time for
        an answer (as much as answers took lately; before the first one, as much as the wait)."""
        if not error.retryable or error.code == "DEADLINE_EXCEEDED":
            return None
        with self._lock:
            self._tokens = max(0.0, self._tokens - 1)
            tokens, answer_ms = self._tokens, self._answer_ms
        if attempt + 1 >= ATTEMPTS_MAX or tokens <= TOKENS_MAX / 2:
            return None
        drawn = JITTER * self._draw()
        if error.retry_after_ms:
            wait_ms = error.retry_after_ms * (1 + drawn)
        else:
            wait_ms = FIRST_WAIT_MS * 2**attempt * (1 - JITTER + 2 * drawn)
        needed_ms = wait_ms if answer_ms is None else answer_ms
        return wait_ms if wait_ms + needed_ms <= left_ms else None

    def answered(self, took_ms: float) -> None:
        """Counts a success."""
        with self._lock:
            self._tokens = min(TOKENS_MAX, self._tokens + TOKEN_RATIO)
            before = took_ms if self._answer_ms is None else self._answer_ms
            self._answer_ms = before + ANSWER_WEIGHT * (took_ms - before)
