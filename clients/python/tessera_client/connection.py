"""How a service is reached: address, TLS, token, keepalive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import grpc

#: Answers of a recall with its tree, and messages of pushes.
MESSAGE_BYTES_MAX = 64 << 20
#: A ping after so long without a frame tells a connection that died from one that rests.
KEEPALIVE_MS = 30_000
KEEPALIVE_TIMEOUT_MS = 10_000
#: A service that is back is found within a second.
RECONNECT_MS = (100, 1000)


@dataclass(frozen=True)
class Tls:
    """Files in PEM; None: the authorities of the system, and no certificate of the client."""

    ca: str | Path | None = None
    certificate: str | Path | None = None
    key: str | Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("tls: expected both certificate and key, got one of them")
        ca, key, certificate = (
            None if path is None else Path(path).read_bytes()
            for path in (self.ca, self.key, self.certificate)
        )
        return grpc.ssl_channel_credentials(ca, key, certificate)


def open_channel(address: str, tls: Tls | None) -> grpc.Channel:
    """`address`: host:port, or a target of gRPC with several (`dns:///ads:50051`), among which
    calls go round, past those whose health says that they do not serve."""
    options = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
        ("grpc.keepalive_time_ms", KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_MS),
        ("grpc.initial_reconnect_backoff_ms", RECONNECT_MS[0]),
        ("grpc.min_reconnect_backoff_ms", RECONNECT_MS[0]),
        ("grpc.max_reconnect_backoff_ms", RECONNECT_MS[1]),
        # Repeats by the hints of the service are this package's own.
        ("grpc.enable_retries", 0),
        (
            "grpc.service_config",
            '{"loadBalancingConfig":[{"round_robin":{}}],"healthCheckConfig":{"serviceName":""}}',
        ),
    ]
    if tls is None:
        return grpc.insecure_channel(address, options)
    return grpc.secure_channel(address, tls.credentials(), options)


def token_source(token: str | None, token_file: str | Path | None) -> Callable[[], str]:
    """The token of a call. A file is read for each, so that a token that was replaced is used."""
    if token is not None and token_file is not None:
        raise ValueError("token, token_file: expected one of them, got both")
    if token_file is not None:
        path = Path(token_file)
        return lambda: path.read_text().strip()
    return lambda: token or ""
