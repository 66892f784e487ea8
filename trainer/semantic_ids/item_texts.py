"""Texts of items: what becomes vectors, here or by an encoder (`npm run embed`)."""

import argparse
from pathlib import Path

from ..checkpoint import write_json
from ..data import MAX_ATTRIBUTE_LENGTH, ItemText, read_titles
from ..errors import InputError


def run(args: argparse.Namespace) -> None:
    """`python -m trainer texts`: an array of texts, an item without any having an empty one."""
    texts = list(texts_of(args.items, args.columns).values())
    write_json(Path(args.out), texts)
    print(f"{len(texts)} texts, {sum(not text.strip() for text in texts)} of them empty: "
          f"{args.out}")


def texts_of(items: str, columns: list[str]) -> dict[str, str]:
    """Text by item, in the order of the file. Errors: InputError with a column that none has."""
    read = read_titles(Path(items))
    if len(read) < 2:
        raise InputError(items, "two items or more", len(read))
    for name in columns:
        if not any(_cell(item, name) for item in read.values()):
            raise InputError("--columns", f"a column that an item of {items} has, in at most "
                             f"{MAX_ATTRIBUTE_LENGTH} characters where it is no title", name)
    return {item: text_of(text, columns) for item, text in read.items()}


def text_of(item: ItemText, columns: list[str]) -> str:
    """The columns that the item has, in their order."""
    found = [_cell(item, name) for name in columns]
    return " ".join(text for text in found if text)


def _cell(item: ItemText, name: str) -> str:
    return item.title if name == "title" else str(item.attributes.get(name, ""))
