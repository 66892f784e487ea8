"""True if a time can be meant: the rule of every way in (the service's twin:
`libs/service/behaviour/src/domain/plausible-time.ts`)."""

import time

from .errors import InputError

#: Seconds that a clock may be ahead.
FUTURE_SECONDS_MAX = 300.0
#: Behaviours that are dated are not older than this: 1990.
DATED_SECONDS_MIN = 631_152_000.0
#: Of how many seconds each unit is, those that times are mistaken for.
UNITS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}


def check_time(value: float, where: str, unit: str = "seconds", now: float | None = None) -> float:
    """Seconds since 1970 of a time in `unit`. Refuses one that is negative or lies ahead, and one
    that would be of our days in another unit, which it names. Other times before 1990 are an order
    without dates."""
    latest = (time.time() if now is None else now) + FUTURE_SECONDS_MAX
    moment = value * UNITS[unit]
    if value == 0 or DATED_SECONDS_MIN <= moment <= latest:
        return moment
    likely = next((name for name, size in UNITS.items()
                   if name != unit and DATED_SECONDS_MIN <= value * size <= latest), None)
    if 0 < moment < DATED_SECONDS_MIN and likely is None:
        return moment
    hint = f", which looks like {likely}" if likely else ""
    if likely == "milliseconds":
        hint += " (name the column time_ms)"
    shown = int(value) if float(value).is_integer() else value
    raise InputError(where, f"{unit} since 1970, not negative and at most five minutes ahead",
                     f"{shown}{hint}")
