"""Values of a profile or scene as a prompt writes them, and which of them the service refuses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tokenizers import AddedToken, Tokenizer

from .errors import InputError
from .template import ValueSegment

#: UTF-16 code units of a value at most, as libs/service/prompt/src/domain/slot-value.ts has it.
VALUE_LENGTH_MAX = 256
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class FreeValue:
    """A value that a user or a request chose freely, as it is written."""

    field: str
    text: str


@dataclass(frozen=True)
class FreeValuePlace:
    """A free value in a text: characters [begin, end)."""

    value: FreeValue
    begin: int
    end: int


class AddedTokens:
    """Finds added tokens in texts, those that overlap as well."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        found = tokenizer.get_added_tokens_decoder()
        self.by_text: dict[str, tuple[int, AddedToken]] = {
            token.content: (number, token) for number, token in found.items()}
        self.lengths: dict[str, set[int]] = {}
        for text in self.by_text:
            self.lengths.setdefault(text[:2], set()).add(len(text))

    def places_in(self, text: str) -> list[tuple[int, int, str]]:
        """(begin, end, text of the token), in the order of the text."""
        places = []
        for begin in range(len(text)):
            for first in {text[begin:begin + 2], text[begin]}:
                for length in self.lengths.get(first, ()):
                    part = text[begin:begin + length]
                    if part in self.by_text:
                        places.append((begin, begin + length, part))
        return places


def slot_text(segment: ValueSegment, given: Mapping[str, str],
              added: AddedTokens) -> str | FreeValue | None:
    """The text of a slot, None where the segment is left out. Errors: InputError with the path of
    the value, where the service answers REQUEST_INVALID."""
    value = given.get(segment.key, segment.default)
    where = f"{segment.kind}.{segment.key}"
    if value is None:
        return None
    if segment.values is not None:
        if value not in segment.values:
            raise InputError(where, f"one of {', '.join(list(segment.values)[:20])}", value)
        return segment.values[value]
    if value == segment.default:
        return value
    if len(value.encode("utf-16-le", "surrogatepass")) > 2 * VALUE_LENGTH_MAX:
        raise InputError(where, f"at most {VALUE_LENGTH_MAX} characters", value)
    if LONE_SURROGATE.search(value):
        raise InputError(where, "well-formed Unicode", value)
    for _, _, token in added.places_in(value):
        raise InputError(where, f"a text without the token {token}", value)
    return FreeValue(where, value)


def check_borders(text: str, values: list[FreeValuePlace], added: AddedTokens,
                  is_reserved: Callable[[int, AddedToken], bool]) -> None:
    """A value makes no token with what stands beside it, but one around the whole of it that is not
    reserved. Errors: InputError with the path of the value."""
    if not values:
        return
    for begin, end, token in added.places_in(text):
        for place in values:
            if end <= place.begin or begin >= place.end:
                continue
            is_around = begin < place.begin and place.end < end
            if not is_around or is_reserved(*added.by_text[token]):
                raise InputError(place.value.field, f"a text that does not make the token {token}",
                                 place.value.text)
