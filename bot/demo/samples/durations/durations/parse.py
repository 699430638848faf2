"""Durations as people write them: 90s, 1h30m, 2d."""

import re

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
PART = re.compile(r"(\d+)([smhd])")


def parse(text):
    """Seconds in a duration such as "1h30m"."""
    total = 0
    position = 0
    while match := PART.match(text, position):
        total += int(match[1]) * SECONDS[match[2]]
        position = match.end()
    return total
