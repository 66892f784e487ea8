"""Files of a folder that belong together: a reader takes all of one run, or none."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PARTIAL = "sids.partial"


@contextmanager
def replaced(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A folder to write into. Its files then replace those of `names`, and a name that it lacks
    goes. The last is the one that no reader does without: it is away while others change, so that
    a kill leaves a folder that is refused. An error before leaves the folder as it was."""
    partial = folder / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial
        *others, last = names
        (folder / last).unlink(missing_ok=True)
        _sync(folder)
        for name in others:
            _move(partial / name, folder / name)
        _sync(folder)
        _move(partial / last, folder / last)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _move(source: Path, target: Path) -> None:
    if source.exists():
        source.replace(target)
    else:
        target.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Names that changed are on the disk before those that change next."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
