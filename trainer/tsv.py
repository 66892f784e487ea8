"""Tables of tab-separated text, by lines."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from .errors import InputError


def tsv_rows(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """Rows of the file's text with their places, the header first. Errors: InputError by line where
    a row has other columns than the header."""
    rows = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    width = None
    for number in count(1):
        where = f"{path} line {number}"
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise InputError(where, f"columns of at most {csv.field_size_limit():,} characters "
                             "without line breaks", str(error)) from error
        if row is None:
            return
        width = len(row) if width is None else width
        if len(row) != width:
            raise InputError(where, f"{width} columns", len(row))
        yield where, row


def check_once(path: Path, header: list[str], names: Iterable[str]) -> None:
    """Refuses a header that has one of these columns twice."""
    for name in names:
        if header.count(name) > 1:
            raise InputError(f"{path} line 1", f"one column {name}", header)
