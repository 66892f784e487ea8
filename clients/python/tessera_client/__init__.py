"""Tessera over gRPC. Messages are in `tessera.recall.v1.recall_pb2` and its neighbours."""

from .adapters import Adapters
from .client import Client, Fallback
from .connection import Tls
from .errors import TesseraError

__all__ = ["Adapters", "Client", "Fallback", "Tls", "TesseraError"]
