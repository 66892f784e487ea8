"""Place of a training among other processes: the idle class, or the highest niceness."""

import os
import subprocess
import sys

import pytest

from trainer import idle

SCHEDULED = """
import os, threading
from trainer.idle import yield_cores

yield_cores(print)
found = []
one = threading.Thread(target=lambda: found.append(os.sched_getscheduler(0)))
one.start()
one.join()
print(os.sched_getscheduler(0) == os.SCHED_IDLE, found == [os.SCHED_IDLE])
"""


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="the scheduler has no idle class")
def test_a_training_and_its_threads_are_in_the_idle_class_and_it_says_so_once():
    done = subprocess.run([sys.executable, "-c", SCHEDULED], capture_output=True, text=True,
                          check=True)
    said, found = done.stdout.splitlines()
    assert said == ("computes in the idle class of the scheduler: other work of this machine comes "
                    "first")
    assert found == "True True"


@pytest.mark.parametrize("is_absent", [True, False])
def test_a_platform_without_the_class_or_that_refuses_it_has_the_highest_niceness(
        monkeypatch, is_absent):
    def refuse(*_):
        raise PermissionError("not here")

    nice, said = [], []
    monkeypatch.setattr(os, "nice", nice.append)
    if is_absent:
        monkeypatch.delattr(os, "sched_setscheduler", raising=False)
    else:
        monkeypatch.setattr(os, "sched_setscheduler", refuse, raising=False)
    idle.yield_cores(said.append)
    assert nice == [19]
    assert said == ["computes at niceness 19: other work of this machine comes first"]
