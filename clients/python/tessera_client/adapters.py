"""Versions of adapters: pushed, tried on a share of the users, activated, gone back on."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
from tessera.adapter.v1 import adapter_pb2, adapter_service_pb2_grpc
from tessera.weights.v1 import weights_pb2, weights_service_pb2_grpc

from .errors import TesseraError, error_of

#: Files of a version's folder: what PEFT saves, heads that rank, or both.
FACTORS = ("adapter_config.json", "adapter_model.safetensors")
HEADS = ("ranking.json", "heads.safetensors")
#: Members with the digest of the base weights.
BASE_MEMBERS = {FACTORS[0]: "revision", HEADS[0]: "model"}
CHUNK_BYTES = 1 << 18
#: Seconds of an action: a push is validated against the golden set, an activation warms users up.
ACTION_SECONDS = 600.0
POLL_SECONDS = 0.2


class Adapters:
    """Reached as `Client.adapters`. A push that is repeated is known by its digest; activating and
    rolling back are never repeated: each may be done when a connection breaks."""

    def __init__(
        self, channel: grpc.Channel, metadata: Callable[[], list[tuple[str, str]]]
    ) -> None:
        self._service = adapter_service_pb2_grpc.AdapterServiceStub(channel)
        self._weights = weights_service_pb2_grpc.WeightsServiceStub(channel)
        self._metadata = metadata

    def push(
        self,
        folder: str | Path,
        name: str,
        *,
        base_model: str | None = None,
        remark: str = "",
        holder: str = "",
        lease_seconds: int = 0,
        learned_until_ms: int = 0,
        timeout_seconds: float = ACTION_SECONDS,
        on_bytes: Callable[[int], None] | None = None,
    ) -> adapter_pb2.Version:
        """Sends a folder as PEFT saved it, with heads that rank, or those alone, and returns the
        version that the service validated. `base_model`: digest of the base weights it was trained
        on; None: the `revision` (of ranking.json the `model`) that the trainer writes into the
        folder, or else those that are served. `holder`: a trainer that pushes versions of the name
        by itself; the push takes or renews its lease of the name for `lease_seconds`, 1 to 3,600,
        and is PUSH_CONFLICT while another holder has one. `learned_until_ms`: time of the newest
        behaviour that the version was trained on, milliseconds since 1970.
        `on_bytes` is called with the size of each part that was sent. Raises TesseraError with the
        reason of a refusal (ADAPTER_INVALID and others), FileNotFoundError.
        """
        root = Path(folder)
        files = [_described(root / name) for name in files_of(root)]
        base = base_model or _trained_for(root) or self.base_model()
        header = adapter_pb2.PushHeader(
            name=name,
            base_model=base,
            files=files,
            remark=remark,
            holder=holder,
            lease_seconds=lease_seconds,
            learned_until_ms=learned_until_ms,
        )
        parts = _parts(root, header, on_bytes or (lambda _: None))
        return self._act(self._service.Push, parts, timeout_seconds).version

    def base_model(self) -> str:
        """Digest of the base weights that are served."""
        return self._act(self._weights.Get, weights_pb2.GetRequest(), ACTION_SECONDS).digest

    def canary(
        self, name: str, digest: str, share: float, *, force: bool = False, holder: str = ""
    ) -> adapter_pb2.ActivateResponse:
        """Serves `share` of the users, in (0, 1], with a version, beside the active one. `force`:
        also where its answers have little in common with those of the active version. `holder`: as
        of a push."""
        return self._activate(name, digest, share, force, holder)

    def activate(
        self, name: str, digest: str, *, force: bool = False, holder: str = ""
    ) -> adapter_pb2.ActivateResponse:
        """Serves every user with a version. `holder`: as of a push."""
        return self._activate(name, digest, None, force, holder)

    def roll_back(
        self, name: str, *, digest: str = "", holder: str = ""
    ) -> adapter_pb2.RollbackResponse:
        """Ends a canary, or goes back to the version before the active one. `digest`: only where
        this version is the canary or, without a canary, active; ADAPTER_STATE otherwise. `holder`:
        as of a push."""
        request = adapter_pb2.RollbackRequest(name=name, digest=digest, holder=holder)
        return self._act(self._service.Rollback, request, ACTION_SECONDS)

    def get(self, name: str, digest: str) -> adapter_pb2.GetResponse:
        """A version and how it fares as a canary."""
        request = adapter_pb2.GetRequest(name=name, digest=digest)
        return self._act(self._service.Get, request, ACTION_SECONDS)

    def list(self, name: str = "") -> adapter_pb2.ListResponse:
        return self._act(self._service.List, adapter_pb2.ListRequest(name=name), ACTION_SECONDS)

    def wait(
        self, name: str, digest: str, state: str, *, timeout_seconds: float = ACTION_SECONDS
    ) -> adapter_pb2.Version:
        """Waits until a version is in a state (`validated`, `canary`, `active`, `retired`). Raises
        TesseraError ADAPTER_STATE where it is rejected, DEADLINE_EXCEEDED when the time is over."""
        wanted = adapter_pb2.State.Value(f"STATE_{state.upper()}")
        until = time.monotonic() + timeout_seconds
        while True:
            version = self.get(name, digest).version
            if version.state == wanted:
                return version
            got = adapter_pb2.State.Name(version.state).removeprefix("STATE_").lower()
            words = f"state of '{name}' {digest[:12]}: expected {state}, got {got}"
            if version.state == adapter_pb2.STATE_REJECTED:
                raise TesseraError("ADAPTER_STATE", f"{words}: {version.reason}")
            if time.monotonic() >= until:
                raise TesseraError("DEADLINE_EXCEEDED", words)
            time.sleep(POLL_SECONDS)

    def _activate(
        self, name: str, digest: str, share: float | None, force: bool, holder: str
    ) -> adapter_pb2.ActivateResponse:
        request = adapter_pb2.ActivateRequest(
            name=name, digest=digest, share=share, force=force, holder=holder
        )
        return self._act(self._service.Activate, request, ACTION_SECONDS)

    def _act(self, method: Callable[..., Any], request: Any, timeout_seconds: float) -> Any:
        try:
            return method(request, timeout=timeout_seconds, metadata=self._metadata())
        except grpc.RpcError as failed:
            raise error_of(failed) from failed


def files_of(root: Path) -> list[str]:
    """Both of each pair that has any; of an empty folder those of PEFT."""
    pairs = [pair for pair in (FACTORS, HEADS) if any((root / name).exists() for name in pair)]
    return [name for pair in pairs or [FACTORS] for name in pair]


def _trained_for(root: Path) -> str | None:
    for file, member in BASE_MEMBERS.items():
        try:
            digest = json.loads((root / file).read_text()).get(member)
        except (AttributeError, OSError, ValueError):
            continue  # The service says what is wrong with the file.
        if re.fullmatch("[0-9a-f]{32}", str(digest)):
            return str(digest)
    return None


def _described(path: Path) -> adapter_pb2.PushedFile:
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file of a version, got nothing")
    with path.open("rb") as content:
        digest = hashlib.sha256()
        while data := content.read(CHUNK_BYTES):
            digest.update(data)
    size = path.stat().st_size
    return adapter_pb2.PushedFile(name=path.name, bytes=size, sha256=digest.hexdigest())


def _parts(
    root: Path, header: adapter_pb2.PushHeader, on_bytes: Callable[[int], None]
) -> Iterator[adapter_pb2.PushRequest]:
    yield adapter_pb2.PushRequest(header=header)
    for file in header.files:
        with (root / file.name).open("rb") as content:
            while data := content.read(CHUNK_BYTES):
                yield adapter_pb2.PushRequest(chunk=adapter_pb2.PushChunk(data=data))
                on_bytes(len(data))
    yield adapter_pb2.PushRequest(end=adapter_pb2.PushEnd())
