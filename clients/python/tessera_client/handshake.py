"""Faults of TLS that no repeat cures.

gRPC tells of a certificate that is missing, or of an authority that is not known, as of a service
that is away: UNAVAILABLE, `Socket closed`. A handshake by Python's own TLS says which it is.
"""

from __future__ import annotations

import socket
import ssl

from .connection import Tls
from .errors import TesseraError

DEFAULT_PORT = 443
SECONDS_MAX = 1.0
WANTS_CERTIFICATE = "its end, as of a service that wants a client's certificate (Tls.certificate)"


def _one_of(address: str) -> tuple[str, int]:
    """Host and port of a target such as `dns:///ads:50051`, `[::1]:50051` or `ads`."""
    name = address.rsplit("/", 1)[-1]
    host, colon, port = name.rpartition(":")
    if not colon or not port.isdigit():
        return name.strip("[]"), DEFAULT_PORT
    return host.strip("[]"), int(port)


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=None if tls.ca is None else str(tls.ca))
    context.set_alpn_protocols(["h2"])
    if tls.certificate is not None:
        context.load_cert_chain(tls.certificate, tls.key)
    return context


def fault_of(address: str, tls: Tls, timeout_seconds: float) -> str:
    """Why a handshake with the service fails; "" where it does not, or nobody is there."""
    host, port = _one_of(address)
    timeout = min(timeout_seconds, SECONDS_MAX)
    try:
        with (
            socket.create_connection((host, port), timeout) as plain,
            _context(tls).wrap_socket(plain, server_hostname=host) as secured,
        ):
            # Since TLS 1.3 a refusal of the own certificate comes behind the handshake, in the
            # place of the first frame.
            first = secured.recv(1)
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
        return ""
    except ssl.SSLError as fault:
        return fault.reason or str(fault)
    except (OSError, UnicodeError, OverflowError):
        # A name or a port that is none: gRPC's own error says more.
        return ""
    # A service that lets a client in speaks first; gRPC's own servers end it without an alert.
    return "" if first or tls.certificate is not None else WANTS_CERTIFICATE


def examined(error: TesseraError, address: str, tls: Tls, left_seconds: float) -> TesseraError:
    """The error, or that of a handshake that can never succeed, which is not retryable."""
    if error.code != "ENGINE_UNAVAILABLE" or left_seconds <= 0:
        return error
    fault = fault_of(address, tls, left_seconds)
    if fault == "":
        return error
    message = f"tls: expected a handshake with {address}, got {fault}"
    return TesseraError("UNAUTHENTICATED", message, retryable=False)
