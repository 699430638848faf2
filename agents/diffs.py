"""Unified diffs as models read them best: with the line numbers of the new file."""

from __future__ import annotations

import re

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def numbered_diff(diff: str) -> str:
    """`diff` with the number of each added or kept line of the new file before it.

    Removed lines get blanks instead. Headers stay as they are; hunks are followed by the counts in their `@@` lines
    (GNU diffutils: Detailed Unified), so a changed line that looks like a header is none.
    """
    shown: list[str] = []
    old = new = number = 0
    for line in diff.split("\n"):
        sign = line[:1]
        if sign == "\\":  # "\\ No newline at end of file" is no line of either file
            shown.append(f"{'':>4} {line}")
        elif (old > 0 or new > 0) and sign in " +-":
            old -= sign != "+"
            new -= sign != "-"
            shown.append(f"{'' if sign == '-' else number:>4} {line}")
            number += sign != "-"
        elif hunk := _HUNK.match(line):
            old, number, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            shown.append(line)
        else:
            old = new = 0
            shown.append(line)
    return "\n".join(shown)
