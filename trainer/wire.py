"""Messages and stubs of proto/tessera, made when they are first asked for."""

import sys
from pathlib import Path

PROTO = Path(__file__).resolve().parent.parent / "proto"


def services(path: str):
    """Messages of `proto/tessera/PATH.proto` and stubs of `PATH_service.proto`."""
    import grpc

    if str(PROTO) not in sys.path:
        sys.path.insert(0, str(PROTO))
    messages = grpc.protos(f"tessera/{path}.proto")
    return messages, grpc.services(f"tessera/{path}_service.proto")
