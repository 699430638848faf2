"""Which play the demo gives: one of our samples, or somebody's repository and issue with a live model."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bot.local.stage import Play

SAMPLES = Path(__file__).parent / "samples"


class PlayError(ValueError):
    """What was asked for cannot be played; the text says why and what would work."""


def sample(name: str = "durations") -> Play:
    """Our own sample with its issue and its script."""
    title, _, body = (SAMPLES / f"{name}.issue.md").read_text().partition("\n")
    return Play(SAMPLES / name, False, f"sample/{name}", title, body.strip(), SAMPLES / f"{name}.script.yml")


def play_for(repo: Path | None, issue: Path | None, name: str) -> Play:
    """The play for the command's options. Raises `PlayError`."""
    if repo is None and issue is None:
        known = sorted(path.name.removesuffix(".issue.md") for path in SAMPLES.glob("*.issue.md"))
        if name not in known:
            raise PlayError(f"There is no sample {name!r}. Samples: {', '.join(known)}.")
        return sample(name)
    if repo is None or issue is None:
        raise PlayError("--repo and --issue go together: a git repository, and a text file with the issue.")
    title, body = _issue(issue)
    return Play(_top(repo), True, f"local-copy/{_plain(repo.resolve().name)}", title, body, None)


def _issue(path: Path) -> tuple[str, str]:
    """Title and body: the first line that is not blank, without a heading's marks, and the rest."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise PlayError(f"The issue {path} cannot be read as text: {error}.") from error
    title, _, body = text.partition("\n")
    title = title.lstrip("# ").strip()
    if not title:
        raise PlayError(f"The issue {path} is empty: its first line is the title, the rest the body.")
    return title[:256], body.strip()


def _top(repo: Path) -> Path:
    """The repository's top folder, with at least one commit."""
    told = ("git", "-c", "core.fsmonitor=false", "-C", str(repo), "rev-parse", "--show-toplevel", "HEAD")
    done = subprocess.run(told, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode:
        why = done.stderr.strip().splitlines()
        raise PlayError(f"{repo} is no git repository with a commit ({why[0] if why else 'git failed'}).")
    return Path(done.stdout.splitlines()[0])


def _plain(name: str) -> str:
    """A folder's name as a repository's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "repository"
