"""The trainer's one typed error for input that it refuses."""


class InputError(ValueError):
    """Bad input: says where (file and field), what was expected and what it got."""

    def __init__(self, where: str, expected: str, got: object) -> None:
        self.where, self.expected, self.got = where, expected, got
        shown = repr(got)
        if len(shown) > 120:
            shown = shown[:117] + "..."
        super().__init__(f"{where}: expected {expected}, got {shown}")
