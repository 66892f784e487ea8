"""The record of a refreshed base model: behaviours that it has learned already."""

import json
from pathlib import Path

#: In its folder: ids of which store.
RECORD = "refresh.json"


def learned_by(model: Path, holder: str) -> tuple[int, int]:
    """Ids up to which a refreshed folder has learned a store's behaviours and recalls; 0 of any
    other."""
    try:
        record = json.loads((model / RECORD).read_text())
    except OSError:
        return 0, 0
    return (record["upto"], record["shown_upto"]) if record.get("holder") == holder else (0, 0)
