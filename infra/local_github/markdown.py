"""People's Markdown as safe HTML: CommonMark with tables; raw HTML shows as text but for a few bare tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# Exactly these, without attributes: what GitHub's writers use to fold and mark text.
_KEPT = re.compile(r"(<!--.*?-->|</?(?:details|summary|sub|sup|kbd|b|i)>|<details open>|<br ?/?>)", re.DOTALL)
_BOX = re.compile(r"<li>(<p>)?\[([ xX])\] ")


def _html(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType) -> str:
    parts = _KEPT.split(tokens[at].content)
    return "".join(_piece(part, kept=index % 2 == 1) for index, part in enumerate(parts))


def _piece(part: str, kept: bool) -> str:
    if not kept:
        return escape(part)
    return "" if part.startswith("<!--") else part


def render(text: str | None) -> str:
    """HTML of a Markdown text; images become links, so that a page loads nothing from elsewhere."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("html_block", _html)
    parser.add_render_rule("html_inline", _html)
    shown = parser.render(text or "")
    return _BOX.sub(lambda m: f"<li class=task>{m[1] or ''}{'☑' if m[2] in 'xX' else '☐'} ", str(shown))
