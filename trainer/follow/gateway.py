"""The service, as a cycle sees it: its versions and items, and three kinds of failure."""

import argparse
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tessera.adapter.v1 import adapter_pb2
from tessera_client import Client, TesseraError
from tessera_client.adapters import files_of
from tessera_client.commands import client_of

from ..errors import InputError
from ..intervals import wilson

#: Of the service: no answer, or none now. The call is made again later.
AWAY = frozenset({"ENGINE_UNAVAILABLE", "ENGINE_OVERLOADED", "DEADLINE_EXCEEDED", "CANCELLED",
                  "SHUTTING_DOWN", "OPERATION_BUSY", "QUEUE_FULL", "ADAPTER_ARENA_FULL"})
DEADLINE_MS = 30_000
#: Largest norm of a matrix that the service loads (docs/integrate/adapters.md).
NORM_MAX = 10_000.0


class Away(Exception):
    """The service is not there, or has no room: later it may be."""


class Held(Exception):
    """Another holder has the name's lease, or pushes now."""


class Refused(Exception):
    """The service will not, now or later; `code` of docs/operate/errors.md."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class LiveItem:
    """An item of the catalogue, paused ones too: their clicks are as true as others'."""

    sid: tuple[int, ...]
    attributes: str = "{}"


@dataclass(frozen=True)
class Served:
    """A version as the service has it. `holder`: "" of a version that a person pushed."""

    digest: str
    state: str
    holder: str = ""
    lease_until_ms: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Clicks:
    """Answers with a click, and answers, of a canary and of the version beside it."""

    canary: tuple[int, int]
    active: tuple[int, int]

    @property
    def verdict(self) -> str:
        """`better` or `worse` where the 95 % interval of the difference (Newcombe 1998, of
        Wilson's intervals) leaves 0 out, else `unknown`."""
        if 0 in (self.canary[1], self.active[1]):
            return "unknown"
        ours, theirs = wilson(*self.canary), wilson(*self.active)
        between = ours[1] - theirs[1]
        low = between - math.hypot(ours[1] - ours[0], theirs[2] - theirs[1])
        high = between + math.hypot(ours[2] - ours[1], theirs[1] - theirs[0])
        return "better" if low > 0 else "worse" if high < 0 else "unknown"


Answer = TypeVar("Answer")


class Gateway:
    """A running service by its public client. Every call raises Away, Held or Refused."""

    def __init__(self, client: Client, name: str, holder: str) -> None:
        self.client, self.name, self.holder = client, name, holder

    def items(self) -> dict[str, LiveItem]:
        """The live catalogue."""
        found = self._ask(lambda: self.client.items(deadline_ms=DEADLINE_MS))
        return {item.item_id: LiveItem(tuple(item.sid), item.attributes) for item in found}

    def base_model(self) -> str:
        return self._ask(self.client.adapters.base_model)

    def versions(self) -> list[Served]:
        """Versions of the name, newest first."""
        found = self._ask(lambda: self.client.adapters.list(self.name)).versions
        return [Served(one.digest, adapter_pb2.State.Name(one.state)[len("STATE_"):].lower(),
                       one.holder, one.lease_until_ms, one.reason) for one in found]

    def push(self, folder: Path, base: str, lease_seconds: int, learned_until_ms: int,
             remark: str) -> str:
        """The digest of the version, which the service has validated. A repeat renews the lease."""
        version = self._ask(lambda: self.client.adapters.push(
            folder, self.name, base_model=base, remark=remark, holder=self.holder,
            lease_seconds=lease_seconds, learned_until_ms=learned_until_ms))
        return version.digest

    def activate(self, digest: str, share: float, force: bool) -> None:
        """For a share of the users, or for all."""
        adapters = self.client.adapters
        self._ask(lambda: adapters.activate(self.name, digest, force=force, holder=self.holder)
                  if share >= 1 else
                  adapters.canary(self.name, digest, share, force=force, holder=self.holder))

    def roll_back(self, digest: str) -> None:
        """Ends this version, where it serves: a person or a rule may have been first."""
        try:
            self._ask(lambda: self.client.adapters.roll_back(self.name, digest=digest,
                                                             holder=self.holder))
        except Refused as refused:
            if refused.code not in ("ADAPTER_STATE", "ADAPTER_NOT_FOUND"):
                raise

    def clicks(self, digest: str) -> Clicks:
        compared = self._ask(lambda: self.client.adapters.get(self.name, digest)).comparison
        canary, active = compared.canary.click_rate, compared.active.click_rate
        return Clicks((canary.clicked_answers, canary.user_answers),
                      (active.clicked_answers, active.user_answers))

    def _ask(self, call: Callable[[], Answer]) -> Answer:
        try:
            return call()
        except TesseraError as error:
            if error.code == "PUSH_CONFLICT":
                raise Held(error.message) from error
            if error.code in AWAY or error.retryable:
                raise Away(str(error)) from error
            raise Refused(error.code, str(error)) from error


def connect(args: argparse.Namespace) -> Client:
    """Errors: InputError for flags that no client can be made of."""
    try:
        return client_of(args)
    except (ValueError, OSError) as error:
        raise InputError("--address", "an address and files of TLS", str(error)) from error


def digest_of(folder: Path) -> str:
    """The digest by which the service knows a folder (docs/operate/adapter-versions.md)."""
    lines = []
    for name in sorted(files_of(folder)):
        content = (folder / name).read_bytes()
        lines.append(f"{name} {len(content)} {hashlib.sha256(content).hexdigest()}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()
