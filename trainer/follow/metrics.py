"""Metrics of a follower for Prometheus, and its curves for TensorBoard."""

import time
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server

from ..curves import Curves
from ..errors import InputError
from .cycle import Follower, Outcome

#: Losses of the gate as curves.
LOSSES = ("base", "parent", "candidate", "difference", "error")


class Metrics:
    """`port`: of an HTTP server on this machine alone; None: none."""

    def __init__(self, follower: Follower, port: int | None, folder: Path) -> None:
        self.follower, self.curves = follower, Curves(folder)
        self.registry = CollectorRegistry()
        self.behind = self._gauge("behind_seconds", "since the newest behaviour that the served "
                                  "version learned; -1 while none serves")
        self.behind.set_function(self._behind_seconds)
        self.backlog = self._gauge("backlog", "examples that the served version has not learned")
        self.leads = self._gauge("leads", "1 while this follower may push, 0 while another does")
        self.loss = self._gauge("loss", "on held-out users, of the last gate", "of")
        self.seconds = self._gauge("step_seconds", "of the last round, by step", "step")
        self.examples = Counter("tessera_follow_examples", "learned, replayed, or left out and why",
                                ["outcome"], registry=self.registry)
        self.cycles = Counter("tessera_follow_cycles", "rounds by verdict", ["verdict"],
                              registry=self.registry)
        self.alarms = Counter("tessera_follow_alarms", "users and items that were left out or cut",
                              ["kind"], registry=self.registry)
        self.server = None
        if port is not None:
            try:
                self.server, _ = start_http_server(port, "127.0.0.1", self.registry)
            except (OSError, OverflowError) as error:
                raise InputError(f"--metrics {port}", "a port that is free", str(error)) from error

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(f"tessera_follow_{name}", text, labels, registry=self.registry)

    def _behind_seconds(self) -> float:
        learned_ms = self.follower.learned_until_ms
        return time.time() - learned_ms / 1000 if learned_ms else -1.0

    def add(self, outcome: Outcome) -> None:
        self.backlog.set(self.follower.backlog())
        self.leads.set(outcome.verdict != "stands by")
        self.cycles.labels(outcome.verdict).inc()
        for reason, count in outcome.left.items():
            self.examples.labels(reason).inc(count)
        for about in outcome.alarms:
            self.alarms.labels(about.split()[0]).inc()
        for name, spent in outcome.seconds.items():
            self.seconds.labels(name).set(spent)
        if outcome.cycle is None:
            return
        notes = outcome.cycle.notes
        for name, key in (("learned", "new"), ("replayed", "replayed")):
            self.examples.labels(name).inc(notes.get(key, 0))
        gate = {name: notes["gate"][name] for name in LOSSES if name in notes.get("gate", {})}
        for name, value in gate.items():
            self.loss.labels(name).set(value)
        self.curves.add(outcome.cycle.id, {
            **{f"held out/{name}": value for name, value in gate.items()},
            **{f"train/{name}": notes[name] for name in ("loss_first", "loss_last", "new")
               if name in notes}, "served": float(outcome.verdict == "active")})

    def close(self) -> None:
        self.curves.close()
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
