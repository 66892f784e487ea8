"""Messages and stubs of proto/tessera, made when first asked for; how a service is called."""

import argparse
import os
import sys
from pathlib import Path

from .errors import InputError

PROTO = Path(__file__).resolve().parent.parent / "proto"
TOKEN_VARIABLE = "TESSERA_TOKEN"


def services(path: str):
    """Messages of `proto/tessera/PATH.proto` and stubs of `PATH_service.proto`."""
    import grpc

    if str(PROTO) not in sys.path:
        sys.path.insert(0, str(PROTO))
    messages = grpc.protos(f"tessera/{path}.proto")
    return messages, grpc.services(f"tessera/{path}_service.proto")


def add_connection_flags(parser: argparse.ArgumentParser) -> None:
    """The same flags as the commands of the service have."""
    parser.add_argument("--tls", action="store_true", help="call the service over TLS")
    parser.add_argument("--ca", help="authority of its certificate; default: those of the system")
    parser.add_argument("--cert", help="own certificate, where the service asks for one")
    parser.add_argument("--key", help="its private key")
    parser.add_argument("--token-file", help=f"default: the variable {TOKEN_VARIABLE}")


def connect(args: argparse.Namespace):
    """A channel to `args.address`; any file of TLS stands for --tls."""
    import grpc

    if (args.cert is None) != (args.key is None):
        raise InputError("--key", "both --cert and --key", "one of them")
    if not (args.tls or args.ca or args.cert):
        return grpc.insecure_channel(args.address)
    ca, key, cert = (_content(flag, path) for flag, path in
                     (("--ca", args.ca), ("--key", args.key), ("--cert", args.cert)))
    return grpc.secure_channel(args.address, grpc.ssl_channel_credentials(ca, key, cert))


def metadata(args: argparse.Namespace) -> list[tuple[str, str]]:
    """The token of a file, or of the environment; none where neither has one."""
    if args.token_file:
        token = _content("--token-file", args.token_file).decode().strip()
    else:
        token = os.getenv(TOKEN_VARIABLE, "").strip()
    return [("authorization", f"Bearer {token}")] if token else []


def _content(flag: str, path: str | None) -> bytes | None:
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(flag, "a readable file", error) from error
