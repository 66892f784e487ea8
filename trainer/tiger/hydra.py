"""A run's config as Hydra wrote it: YAML whose values may name others, `${model.num_levels}`."""

import re
from pathlib import Path
from typing import Any

import yaml

from ..data import read_text
from ..errors import InputError

NAMED = re.compile(r"^\$\{([A-Za-z0-9_.]+)\}$")
EXPONENT = re.compile(r"^-?\d+e-?\d+$", re.IGNORECASE)
NAMED_DEPTH = 8


class RunConfig:
    """Values by their path; absent ones, and those that no file tells, are None."""

    def __init__(self, document: Any, where: str) -> None:
        self.document, self.where = document, where

    def value(self, path: str, depth: int = NAMED_DEPTH) -> Any:
        found: Any = self.document
        for part in path.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if not isinstance(found, str):
            return found
        # YAML 1.1 takes 1e-6, which has no point, for a text.
        if EXPONENT.match(found):
            return float(found)
        named = NAMED.match(found)
        if named and depth:
            return self.value(named[1], depth - 1)
        return None if "${" in found or found == "???" else found


def read_run_config(path: Path) -> RunConfig:
    """Errors: InputError where the file is no YAML of an object."""
    try:
        document = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputError(str(path), "YAML", str(error).splitlines()[0]) from error
    if not isinstance(document, dict):
        raise InputError(str(path), "an object in YAML", type(document).__name__)
    return RunConfig(document, str(path))
