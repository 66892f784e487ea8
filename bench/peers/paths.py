"""The catalogue as a Python peer reads it: sorted prefixes, children found by bisection."""

import numpy as np


class Paths:
    def __init__(self, file: str, levels: int, codes: int) -> None:
        sids = np.fromfile(file, dtype="<u2").reshape(-1, levels).astype(np.int64)
        self.levels, self.codes = levels, codes
        keys = np.zeros(len(sids), np.int64)
        self._keys = []
        for level in range(levels):
            keys = keys * codes + sids[:, level]
            self._keys.append(np.unique(keys))

    def children(self, prefix: list[int], base_token: int = 0) -> np.ndarray:
        """Codes below the node that the prefix leads to, in order, plus `base_token`."""
        key = 0
        for code in prefix:
            key = key * self.codes + code
        keys = self._keys[len(prefix)]
        begin, end = np.searchsorted(keys, [key * self.codes, (key + 1) * self.codes])
        return keys[begin:end] % self.codes + base_token

    def token_base(self, level: int) -> int:
        """Token of code 0 of a level in the vocabulary of the random models."""
        return level * self.codes
