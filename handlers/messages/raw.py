"""What acts in GitHub wherever it stands, code included, and how it is taken apart.

A squash merge turns a pull request's text into a commit message, where Markdown means nothing. So words that close
issues, switches that skip CI, and trailers are broken everywhere. Sources: GitHub Docs "Linking a pull request to an
issue using a keyword", "Skipping workflow runs", "Creating a commit with multiple authors".
"""

from __future__ import annotations

import re

_REFERENCE = (
    r"(?:https?://[^\s/]+/(?P<repo_url>[\w.-]{1,100}/[\w.-]{1,100})/(?:issues|pull|discussions)/(?P<n_url>\d+)"
    r"|(?:(?P<repo>[A-Za-z0-9][\w.-]{0,99}/[\w.-]{1,100})\\*)?\#(?P<n>\d+)"
    r"|GH-(?P<n_gh>\d+))"
)
_CLOSES = re.compile(
    rf"(?<![A-Za-z0-9])(clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing))([^\w\#]*+){_REFERENCE}", re.I
)
_SKIPS = re.compile(r"\[[ \t]*(skip[ \t]+ci|ci[ \t]+skip|no[ \t]+ci|skip[ \t]+actions|actions[ \t]+skip)[ \t]*\]", re.I)
_STARS = re.compile(r"\*\*\*NO_CI\*\*\*", re.I)
_TRAILERS = re.compile(
    r"^([ \t]*)((?:co-authored|signed-off|reviewed|acked|tested|approved|reported|suggested|helped)-by"
    r"|on-behalf-of|skip-checks|change-id)[ \t]*:",
    re.I | re.M,
)
COMMAND = re.compile(r"^([ \t]*)\\?(/[A-Za-z][^\s]*|bors(?=[ \t]))", re.I)
BOTS = re.compile(
    r"@(?=(?:dependabot|renovate|mergify|mergifyio|bors|homu|rustbot|claude|copilot|coderabbitai|codex|cursor|devin|"
    r"github-actions|seconder)\b)",
    re.I,
)


def _closing(match: re.Match[str]) -> str:
    number = match["n_url"] or match["n"] or match["n_gh"]
    repo = match["repo_url"] or match["repo"]
    where = f"{repo} issue {number}" if repo else f"issue {number}"
    gap = match[2] or " "
    return f"{match[1]}{gap}{where}"


def without_comments(text: str) -> str:
    """The text without HTML comments; one that never ends is left for the caller to show."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join([*parts, text[at:]])


def defuse(text: str) -> str:
    """The text without closing references (`Fixes #5` reads `Fixes issue 5`), CI switches and live trailers."""
    text = _SKIPS.sub(r"(\1)", text)
    text = _STARS.sub("NO_CI", text)
    text = _TRAILERS.sub(r"\1\2 =", text)
    return _CLOSES.sub(_closing, text)


def defuse_code_line(line: str) -> str:
    """One line inside a code block: no command in its first column, no call to another bot, no HTML comment."""
    line = BOTS.sub("@ ", line.replace("<!--", "<! --"))
    return f" {line}" if COMMAND.match(line) and not line.startswith((" ", "\t")) else line
