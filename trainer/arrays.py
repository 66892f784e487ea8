"""Arrays that numpy saved. Nothing of a file is ever run."""

from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from .errors import InputError


def read_array(path: Path) -> np.ndarray:
    """The array of FILE.npy. Errors: InputError, also where it is longer than the memory."""
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, BadZipFile, MemoryError) as error:
        raise InputError(str(path), "an array that numpy saved", str(error)) from error
    if not isinstance(found, np.ndarray):
        raise InputError(str(path), "one array, as numpy.save writes it", "several, or none")
    return found
