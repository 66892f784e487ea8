"""Place of a training among the processes of its machine: behind all others."""

import os
from collections.abc import Callable

#: Niceness where the scheduler has no idle class, or refuses it.
NICENESS = 19


def yield_cores(say: Callable[[str], None]) -> None:
    """Lets this thread, and all that it starts from here on, compute in what other work leaves, and
    says so."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        how = "in the idle class of the scheduler"
    except (AttributeError, OSError):
        os.nice(NICENESS)
        how = f"at niceness {NICENESS}"
    say(f"computes {how}: other work of this machine comes first")
