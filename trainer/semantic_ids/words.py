"""Words of a text, by the rule that the service repeats (`libs/service/catalogue`, `words.ts`).

The text is normalised (NFKC) and put in lower case. A word is a run of letters, numbers and marks;
scripts that are written without spaces give pairs of neighbours instead.
"""

import unicodedata
from collections.abc import Iterator

#: First and last code points of scripts without spaces between words.
UNSPACED = ((0x0E00, 0x0EFF), (0x1780, 0x17FF), (0x2E80, 0x9FFF), (0xF900, 0xFAFF),
            (0x20000, 0x3FFFF))


def words(text: str) -> list[str]:
    """In the order of the text, repeated where they are."""
    found: list[str] = []
    for run, is_spaced in _runs(unicodedata.normalize("NFKC", text).lower()):
        if is_spaced or len(run) == 1:
            found.append(run)
        else:
            found += [run[i:i + 2] for i in range(len(run) - 1)]
    return found


def parts(word: str) -> list[str]:
    """Stand-in for an unknown word, such as a brand's name: its runs of three
    characters, its ends marked. Begins with `~`, as no word does; none of scripts without spaces.
    """
    if not all(map(_is_spaced, word)):
        return []
    marked = f"^{word}$"
    return [f"~{marked[i:i + 3]}" for i in range(len(word))]


def _is_spaced(letter: str) -> bool:
    return not any(first <= ord(letter) <= last for first, last in UNSPACED)


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    run, spaced = "", True
    for letter in text:
        if unicodedata.category(letter)[0] not in "LNM":
            if run:
                yield run, spaced
            run = ""
            continue
        if run and _is_spaced(letter) != spaced:
            yield run, spaced
            run = ""
        spaced = _is_spaced(letter)
        run += letter
    if run:
        yield run, spaced
