"""Text by people and models, made safe to stand inside our own messages.

Nobody is mentioned, nothing is closed, no image loads, no link leads off GitHub, no HTML and no command is left. What
is code stays code. The scanner is exact because it first makes the text so: a code span that does not close on its own
line is escaped, and a code block that starts anywhere but in the first column is none.
Grammar: CommonMark 0.31, GitHub Flavored Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from handlers.messages.hidden import strip_hidden
from handlers.messages.raw import COMMAND, defuse, defuse_code_line, without_comments
from handlers.messages.spans import flat_line, is_github, joins_before, live_line, without_schemes

_LONGEST = 50
_FENCE = re.compile(rf"^(`{{3,{_LONGEST}}}(?!`)|~{{3,{_LONGEST}}}(?!~))(.*)$")
_INFO = re.compile(r"[A-Za-z0-9_+#.-]{1,20}$")
_RICH_BLOCKS = frozenset({"suggestion", "mermaid", "math", "geojson", "topojson", "stl"})
_LEADS = "#>-+*=~"
_QUOTE_DEPTH = 4

Rewrite = Callable[[str], str]


def neutralise(text: str) -> str:
    """Markdown of any origin as harmless Markdown: several lines, code blocks kept and always closed. Idempotent."""
    bare = _rebuild(strip_hidden(text), without_comments, lambda line: line)
    return _rebuild(defuse(bare), _by_line(flat_line), defuse_code_line)


def inline(text: str, limit: int = 300) -> str:
    """The text as one harmless line for a sentence, a list item or a table cell; cut to `limit` characters first."""
    words = " ".join(without_comments(strip_hidden(text)).split())
    line = flat_line(defuse(clip(words, limit).replace("|", "¦")))
    return f"\\{line}" if line[:1] and line[0] in _LEADS else line


def plain(text: str) -> str:
    """The text for places without Markdown: commit messages, titles, labels of checks. Several lines stay several."""
    text = defuse(without_comments(strip_hidden(text))).replace("<!--", "<! --")
    text = re.sub(r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9])", "@ ", without_schemes(text))
    lines = (f" {line}" if COMMAND.match(line) and line[0] not in " \t" else line for line in text.split("\n"))
    return "\n".join(lines)


def one_line(text: str, limit: int) -> str:
    """`plain` text as one line of at most `limit` characters."""
    line = " ".join(plain(" ".join(strip_hidden(text).split())).split())
    return clip(f"… {line}" if COMMAND.match(line) else line, limit)


def fenced(text: str, language: str = "") -> str:
    """Program output as a code block whose fence is longer than any run of back-ticks inside."""
    shorter = re.sub(rf"`{{{_LONGEST},}}", "`" * (_LONGEST - 1), strip_hidden(text))
    lines = [defuse_code_line(line) for line in defuse(shorter).strip("\n").split("\n")]
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence + language, *lines, fence])


def quoted(text: str) -> str:
    """`neutralise`d text as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in neutralise(text).strip("\n").split("\n"))


def seal(text: str, keep: Iterable[str] = ()) -> str:
    """A whole message, looked over once more where its parts meet; lines in `keep` are our own and stay as they are."""
    own = frozenset(keep)
    parts: list[str] = []
    for kept, lines in groupby(text.split("\n"), key=lambda line: line in own):
        part = "\n".join(lines)
        parts.append(part if kept else _rebuild(defuse(part), _by_line(live_line), defuse_code_line))
    return "\n".join(parts)


def link(label: str, url: str) -> str:
    """A link of our own, or the label with the address as code when the address could break out of the link."""
    safe = re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+(?:/[A-Za-z0-9_./#?=&%~:+@-]*)?", url)
    return f"[{inline(label)}]({url})" if safe else f"{inline(label)} ({inline(url)})"


def clip(text: str, limit: int) -> str:
    """At most `limit` characters; what is cut off is shown by an ellipsis, and no character is torn apart."""
    if len(text) <= limit:
        return text
    end = max(0, limit - 1)
    while end > 0 and joins_before(text, end):
        end -= 1
    return text[:end].rstrip() + "…" if limit > 0 else ""


def _by_line(rewrite: Rewrite) -> Rewrite:
    return lambda prose: "\n".join(rewrite(line) for line in prose.split("\n"))


# --- Blocks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Block:
    """Lines that belong together; `fence` and `info` of a code block as they will be written."""

    kind: Literal["prose", "code", "quote"]
    lines: tuple[str, ...]
    fence: str = ""
    info: str = ""


def _opening(line: str) -> tuple[str, str] | None:
    """Fence and info string, if the line opens a code block in the first column."""
    match = _FENCE.match(line)
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    words = match[2].split()
    info = words[0] if words and _INFO.match(words[0]) and words[0].lower() not in _RICH_BLOCKS else ""
    return match[1], info


def _closes(line: str, fence: str) -> bool:
    bare = line.rstrip(" \t")
    indent = len(bare) - len(bare.lstrip(" "))
    marks = bare[indent:]
    return indent <= 3 and len(marks) >= len(fence) and set(marks) == {fence[0]}


def _blocks(text: str) -> Iterator[_Block]:
    """The text as prose, code blocks and block quotes, in order, every line in exactly one."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = _opening(lines[at])
        start = at
        if opening is not None:
            at += 1
            while at < len(lines) and not _closes(lines[at], opening[0]):
                at += 1
            yield _Block("code", tuple(lines[start + 1 : at]), *opening)
            at += 1
        elif lines[at].startswith(">"):
            while at < len(lines) and lines[at].startswith(">"):
                at += 1
            yield _Block("quote", tuple(lines[start:at]))
        else:
            while at < len(lines) and _opening(lines[at]) is None and not lines[at].startswith(">"):
                at += 1
            yield _Block("prose", tuple(lines[start:at]))


def _rebuild(text: str, prose: Rewrite, code_line: Rewrite, depth: int = 0) -> str:
    """The text again, block by block: prose as a whole, code line by line, quotes as texts of their own."""
    parts: list[str] = []
    for block in _blocks(text):
        if block.kind == "code":
            parts.append("\n".join([block.fence + block.info, *map(code_line, block.lines), block.fence]))
        elif block.kind == "quote" and depth < _QUOTE_DEPTH:
            inner = "\n".join(re.sub(r"^> ?", "", line) for line in block.lines)
            rewritten = _rebuild(inner, prose, code_line, depth + 1)
            parts.append("\n".join(f"> {line}".rstrip() for line in rewritten.split("\n")))
        else:
            parts.append(prose("\n".join(block.lines)))
    return "\n".join(parts)


__all__ = ["clip", "fenced", "inline", "is_github", "link", "neutralise", "one_line", "plain", "quoted", "seal"]
