"""Templates: jinja2, where every word that is not marked as our own is made harmless on its way in."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from handlers.messages import neutral, parts
from handlers.messages.clamp import BODY_LIMIT, clamp


class Ours(str):
    """Text that is safe as it stands: made by the functions of this package."""

    __slots__ = ()


def _finalize(value: object) -> object:
    """Any text that nobody vouched for becomes one harmless line."""
    return neutral.inline(value) if isinstance(value, str) and not isinstance(value, Ours) else value


def code(text: str) -> str:
    """Short text (a path, a command, a SHA) as a code span on one line; safe in a table."""
    words = " ".join(neutral.plain(text).split()).replace("`", "'").replace("|", "¦")
    return f"`{neutral.clip(words, 200)}`" if words else ""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown, not HTML: `_finalize` does the escaping
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        own=Ours,
        block=lambda text: Ours(neutral.neutralise(text).strip("\n")),
        quoted=lambda text: Ours(neutral.quoted(text)),
        fenced=lambda text: Ours(neutral.fenced(text, "text")),
        code=lambda text: Ours(code(text)),
        short=lambda sha: Ours(code(parts.short(sha))),
        link=lambda url, label: Ours(neutral.link(label, url)),
        money=lambda micro: Ours(parts.money(micro)),
        duration=lambda seconds: Ours(parts.duration(seconds)),
        count=lambda number: Ours(f"{number:,}"),
        people=lambda logins, last="or": Ours(parts.people(logins, last)),
        agents=lambda names: Ours(parts.agents(names)),
        agent=lambda name: Ours(parts.agent(name)),
        sentence=lambda text: Ours(parts.sentence(text)),
        tests=lambda tests: Ours(parts.tests_in_words(tests)),
    )
    return environment


def page(template: str, view: object, keep: tuple[str, ...] = (), limit: int = BODY_LIMIT) -> str:
    """Fill a template with one view, look the whole over once more, and cut it to `limit`.

    Lines in `keep` (our markers, our own `Fixes #N`) are left exactly as they are. No line feed at the end.
    """
    text = _environment().get_template(template).render(view=view)
    return clamp(neutral.seal(_single_blank_lines(text), keep), limit)


def _single_blank_lines(text: str) -> str:
    """At most one blank line in a row outside code blocks, none at either end."""
    kept: list[str] = []
    fence = ""
    for line in text.strip("\n").split("\n"):
        match = re.match(r"(`{3,}|~{3,})", line)
        if fence:
            fence = "" if set(line.strip()) == {fence[0]} and len(line.strip()) >= len(fence) else fence
        elif match:
            fence = match[1]
        elif not line.strip() and kept and not kept[-1].strip():
            continue
        kept.append(line)
    return "\n".join(kept)
