"""Which play the demo gives: one of our samples, or somebody's repository and issue with a live model."""

from __future__ import annotations

from pathlib import Path

from bot.local.issue import BadIssue, read_issue
from bot.local.stage import Play, full_name_of
from bot.wiring import CannotUse, find_repository

SAMPLES = Path(__file__).parent / "samples"


class PlayError(ValueError):
    """What was asked for cannot be played; the text says why and what would work."""


def sample(name: str = "durations") -> Play:
    """Our own sample with its issue and its script."""
    title, _, body = (SAMPLES / f"{name}.issue.md").read_text().partition("\n")
    return Play(SAMPLES / name, False, f"sample/{name}", title, body.strip(), SAMPLES / f"{name}.script.yml")


def play_for(repo: Path | None, issue: Path | None, name: str) -> Play:
    """The play for the command's options; an issue without a repository may be a sample's name. Raises `PlayError`."""
    known = sorted(path.name.removesuffix(".issue.md") for path in SAMPLES.glob("*.issue.md"))
    if repo is None and issue is not None and str(issue) in known:
        return sample(str(issue))
    if repo is None and issue is None:
        if name not in known:
            raise PlayError(f"There is no sample {name!r}. Samples: {', '.join(known)}.")
        return sample(name)
    if repo is None or issue is None:
        raise PlayError("--repo and --issue go together: a git repository, and a text file with the issue.")
    try:
        found = read_issue(issue)
        top, git_dir = find_repository(repo)
    except (BadIssue, CannotUse) as error:
        raise PlayError(str(error)) from error
    path = top or git_dir
    return Play(path, True, full_name_of(path.name), found.title, found.body, None)
