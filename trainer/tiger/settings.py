"""Settings that no checkpoint tells by itself, each with its source; read without PyTorch."""

from typing import Any

#: Checkpoints that are recognised. `t5` is a Hugging Face folder of T5ForConditionalGeneration, as
#: LETTER-TIGER and torch-rechub save it too.
LIBRARIES = ("t5", "grid", "cornac")

#: As the service has them (`scoreNorm` of a request).
NORMS = ("full", "level", "allowed")


class Settings:
    """Values in the order in which they were decided."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def take(self, name: str, *candidates: tuple[Any, str]) -> Any:
        """The first candidate (value, source) that is not None, else the last, noted under
        `name`."""
        value, source = next((one for one in candidates if one[0] is not None), candidates[-1])
        return self.note(name, value, source)

    def note(self, name: str, value: Any, source: str) -> Any:
        self.rows.append({"name": name, "value": value, "source": source})
        return value

    def value(self, name: str) -> Any:
        return next(row["value"] for row in self.rows if row["name"] == name)

    def lines(self) -> list[str]:
        return [f"{row['name']}: {_shown(row['value'])}  ({row['source']})" for row in self.rows]


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return str(value)
