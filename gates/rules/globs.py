"""Path patterns of our own policy, in the part of gitignore's language that it needs, compiled to one expression.

`name` and `*.x` match a file or directory of that name at any depth, `/x` only at the root, `x/` a directory and all
below it; `*` stays within a name. Matching ignores case, as the file systems of two of three platforms do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable


def compile_globs(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for `search` in a case-folded path with forward slashes. Without patterns it matches nothing."""
    return re.compile("|".join(_expression(one) for one in patterns) or r"(?!)", re.DOTALL)


def _expression(pattern: str) -> str:
    anchored, directory = pattern.startswith("/"), pattern.endswith("/")
    parts = pattern.strip("/").casefold()
    body = re.escape(parts).replace(r"\*", "[^/]*")
    return ("^" if anchored else "(?:^|/)") + body + ("/" if directory else r"(?:/|\Z)")
