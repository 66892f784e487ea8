"""Reads a topic of behaviours into a store as a round of `follow` does, ten messages a read: prints
of each read how many it gave, then the items that the store has. Words: brokers, topic, folder of
the store, and `before N` or `after N`: the process is killed around the N-th read that is kept."""

import json
import os
import signal
import sys
from pathlib import Path

from trainer.follow import sources
from trainer.follow.cycle import Follower
from trainer.follow.settings import Settings
from trainer.follow.store import Store

brokers, topic, folder, *killed = sys.argv[1:]
sources.MESSAGES_MAX = 10


class Killed(Store):
    reads = 0

    def add(self, facts, *others):
        self.reads += 1
        print(len(facts), flush=True)
        self.end("before")
        added = super().add(facts, *others)
        self.end("after")
        return added

    def end(self, when: str) -> None:
        if killed == [when, str(self.reads)]:
            os.kill(os.getpid(), signal.SIGKILL)


store = Killed(Path(folder))
source = sources.Topic(brokers, topic, None)
Follower(store, source, None, None, Settings("t")).read()
items = store.db.execute("SELECT item FROM behaviours ORDER BY id").fetchall()
print(json.dumps([item for (item,) in items]))
