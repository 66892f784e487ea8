"""Interval of a share of few cases."""

import math

#: Quantile of the normal distribution for 95 %.
Z = 1.959963984540054


def wilson(hits: int, count: int) -> tuple[float, float, float]:
    """Low end, share and high end of the 95 % interval (Wilson 1927); `count` is above 0."""
    share, spread = hits / count, Z * Z / count
    middle = (share + spread / 2) / (1 + spread)
    half = Z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    return max(0.0, middle - half), share, min(1.0, middle + half)
