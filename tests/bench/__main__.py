"""`make bench`: measure side by side in one run, print, and write build/bench.json as one flat object."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bench import overhead, prompts, steps, webhook

GOALS = {
    "webhook_rps_ratio": (">=", 0.6),
    "webhook_p99_ratio": (">=", 0.6),
    "issue_to_pr_overhead_s": ("<=", 2.0),
    "step_ratio_vs_langgraph": ("<=", 1.0),
    "prompt_tokens_scoped_over_board": ("<=", 0.4),
    "cache_read_share": (">=", 0.8),
}


def main() -> None:
    """Measure everything; figures that miss their goal are marked, and nothing is hidden."""
    figures = {**webhook.measure(), **steps.measure(), **overhead.measure(), **prompts.measure()}
    out = Path("build/bench.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(figures, indent=2) + "\n")
    for name, value in figures.items():
        print(f"{name:<32} {value:>10,}  {_judged(name, value)}".rstrip())
    print(f"written to {out}")


def _judged(name: str, value: float) -> str:
    if name not in GOALS:
        return ""
    sign, goal = GOALS[name]
    met = value >= goal if sign == ">=" else value <= goal
    return f"goal {sign} {goal}: {'met' if met else 'MISSED'}"


if __name__ == "__main__":
    main()
