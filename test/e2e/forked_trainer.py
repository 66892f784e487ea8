"""Runs commands of `python -m trainer`, each in a process of its own that is forked behind the
imports, which take most of the time of a short command. Reads the words of a command as JSON, a
line each, and prints its status and output likewise."""

import json
import os
import sys
import tempfile
import traceback

import duckdb  # noqa: F401
import tensorboard.summary.writer.event_file_writer  # noqa: F401

import trainer.follow.command
import trainer.follow.learner
import trainer.follow.refresh
from trainer.__main__ import main

# The other tests have the cores as well: in the idle class this one would get none.
for module in (trainer.follow.command, trainer.follow.refresh):
    module.yield_cores = lambda say: None


def run(words: list[str]) -> int:
    """Status of a command, as Python ends with it."""
    sys.argv = ["trainer", *words]
    try:
        return main() or 0
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1


for line in sys.stdin:
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            for stream in (sys.stdout, sys.stderr):
                os.dup2(output.fileno(), stream.fileno())
            status = run(json.loads(line))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        print(json.dumps({"status": status, "output": output.read().decode()}), flush=True)
