"""What solves came to, as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

HEADS = ("case", "solved", "outcome", "calls", "tokens", "cached", "list price", "seconds", "of the model")
_FIGURES = (
    ("turns", "{:,}"),
    ("tokens", "{:,}"),
    ("cached_share", "{:.0%}"),
    ("usd", "${:.2f}"),
    ("seconds", "{:.0f}"),
    ("model_s", "{:.0f}"),
)


def table(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """A Markdown table of solves, one line a row, and below it how many were solved and what all cost.

    A figure that a row does not have is shown as `?`, never as nothing spent.
    """
    every = list(rows)
    cells = [HEADS, *(_cells(one) for one in every)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(HEADS))]
    lines = [f"| {' | '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))} |" for line in cells]
    lines.insert(1, f"|{'|'.join('-' * (width + 2) for width in widths)}|")
    solved = sum(one.get("solved") is True for one in every)
    return [*lines, "", f"{solved} of {len(every)} solved, ${sum(_dollars(one) for one in every):.2f} at list price"]


def _cells(one: Mapping[str, object]) -> tuple[str, ...]:
    figures = ("?" if one.get(name) is None else form.format(one[name]) for name, form in _FIGURES)
    return (str(one["case"]), "yes" if one.get("solved") is True else "no", str(one.get("outcome", "?")), *figures)


def _dollars(one: Mapping[str, object]) -> float:
    usd = one.get("usd")
    return float(usd) if isinstance(usd, int | float) else 0.0
