"""The grammar of commands: what, in a comment, is an order to us, and what only looks like one.

A command is the first non-blank line of a comment, as CommonMark 0.31 sees it: a plain paragraph at the top level, not
a quote, code, HTML, a list, a heading, a table or the tail of an e-mail. Somebody else's `/word` is silence; something
that is clearly meant for us but cannot be acted on is a `Refusal` with an explanation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

VERBS: tuple[str, ...] = (
    "approve",
    "reject",
    "modify",
    "steer",
    "stop",
    "retry",
    "start",
    "merge",
    "budget",
    "status",
    "why",
    "help",
)
REFUSED = "refused"
EDITED = "edited"
LONG_FORM = "seconder"
OPPOSED: tuple[frozenset[str], ...] = (
    frozenset({"approve", "reject"}),
    frozenset({"approve", "modify"}),
    frozenset({"reject", "modify"}),
    frozenset({"approve", "stop"}),
    frozenset({"merge", "reject"}),
    frozenset({"merge", "modify"}),
    frozenset({"merge", "stop"}),
    frozenset({"start", "stop"}),
    frozenset({"retry", "stop"}),
)

_LINE_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_SPACES = re.compile("[\x0b\x0c\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_ORDER = re.compile(r"/(?P<verb>[A-Za-z][A-Za-z-]*)(?P<odd>[.,;:!?]*)(?=[ \t]|$)(?P<rest>.*)", re.ASCII)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_DETAILS = re.compile(r"<(?P<end>/?)details\b", re.IGNORECASE)
_TAIL = re.compile(
    r"""
    --[ ]?$                                           # the signature mark of RFC 3676
    | (?:On|Am|Le|El|Op|Il)\b(?=.*\b\d{4}\b).{3,200}\b(?:wrote|schrieb|écrit|escribió|schreef|scritto)\b.{0,80}:[ ]*$
    | -{2,}[ ]*(?:Original|Forwarded)[ ](?:Message|message)
    | _{10,}[ ]*$
    | Sent[ ]from[ ]my[ ]
    | Reply[ ]to[ ]this[ ]email[ ]directly
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Command:
    """An order: `verb` in lower case, `arguments` the rest of its line, `words` the lines below it (without a tail)."""

    verb: str
    arguments: str = ""
    words: str = ""


@dataclass(frozen=True)
class Refusal:
    """Meant for us, but nothing to act on. `explanation` is shown to the person; `verbs` are those that were found."""

    reason: Literal["unknown", "opposed", "several", "malformed"]
    explanation: str
    verbs: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Order:
    """A line that has the shape of a command; `known` is false for `/seconder` with a verb that is none of ours."""

    verb: str
    arguments: str
    odd: str = ""
    known: bool = True


def parse(body: str, short_commands: bool = True, verbs: Sequence[str] = VERBS) -> Command | Refusal | None:
    """Find the command of a comment.

    In: the comment's Markdown; whether `/verb` counts besides `/seconder verb`; the verbs that exist. Out: a `Command`,
    a `Refusal` when the comment is for us but malformed, or None when it is not for us. Raises nothing.
    Source: CommonMark 0.31, https://spec.commonmark.org/0.31.2/.
    """
    text = normalise(body)
    first = next((number for number, line in enumerate(text.split("\n")) if line.strip()), None)
    if first is None or _order(text.split("\n")[first].strip(), short_commands, verbs) is None:
        return None
    lines = _without_tail(text, first).split("\n")
    spoken = list(_spoken_lines("\n".join(lines)))
    if not spoken or spoken[0][0] != first:
        return None
    order = _order(_visible(lines[first]), short_commands, verbs)
    if order is None:
        return None
    others = [found for _, line in spoken[1:] if (found := _order(line, short_commands, verbs)) and found.known]
    return _judge(order, others, verbs) or Command(order.verb, order.arguments, "\n".join(lines[first + 1 :]).strip())


def normalise(text: str) -> str:
    """One kind of line break, one kind of space, and no characters that cannot be seen."""
    return _INVISIBLE.sub("", _SPACES.sub(" ", _LINE_BREAKS.sub("\n", text)))


def _judge(order: _Order, others: Sequence[_Order], verbs: Sequence[str]) -> Refusal | None:
    """Why the order cannot be followed, or None."""
    if not order.known:
        known = ", ".join(f"`{verb}`" for verb in verbs)
        return Refusal("unknown", f"I do not know `{order.verb}`. What I know: {known}.", (order.verb,))
    if order.odd:
        return Refusal(
            "malformed",
            f"I read `/{order.verb}{order.odd}`. Did you mean `/{order.verb}`? Post it again without `{order.odd}`.",
            (order.verb,),
        )
    different = [other for other in others if (other.verb, other.arguments) != (order.verb, order.arguments)]
    if not different:
        return None
    found = tuple(dict.fromkeys((order.verb, *(other.verb for other in different))))
    named = " and ".join(f"`/{verb}`" for verb in found)
    if any(pair <= set(found) for pair in OPPOSED):
        return Refusal("opposed", f"This comment says {named}, which contradict each other, so I did nothing.", found)
    return Refusal(
        "several",
        f"I follow one command a comment and found {named}, so I did nothing. Post each in its own comment; "
        "put a line that is only text in a quote or a code block.",
        found,
    )


def _order(line: str, short_commands: bool, verbs: Sequence[str]) -> _Order | None:
    """The order that a line has the shape of, or None when the line is nobody's or somebody else's."""
    match = _ORDER.match(line)
    if match is None:
        return None
    verb, rest = match["verb"].lower(), match["rest"].strip()
    if verb == LONG_FORM and not match["odd"]:
        verb, _, rest = rest.partition(" ")
        verb, rest = verb.lower() or "help", rest.strip()
        plain = verb.rstrip(".,;:!?")
        if plain in verbs:
            return _Order(plain, rest, odd=verb[len(plain) :])
        return _Order(re.sub(r"[^\w./-]", "", verb)[:40], rest, known=False)
    if not short_commands or verb not in verbs:
        return None
    return _Order(verb, rest, odd=match["odd"])


def _visible(line: str) -> str:
    """A line without the HTML comments in it, which nobody sees."""
    return _HTML_COMMENT.sub("", line).strip()


def _markdown() -> MarkdownIt:
    """CommonMark as GitHub renders it, as far as the place of a line goes: tables are no paragraphs.

    Links, images and emphasis do not change where a line begins, and cost quadratic time on hostile input.
    """
    return MarkdownIt("commonmark").enable("table").disable(["link", "image", "emphasis"])


def _without_tail(text: str, first: int) -> str:
    """The text up to a mail client's signature or quotation, which is looked for below line `first`, outside code."""
    code: set[int] = set()
    for token in _markdown().parse(text):
        if token.type in {"fence", "code_block", "html_block"} and token.map:
            code.update(range(*token.map))
    lines = text.split("\n")
    for number in range(first + 1, len(lines)):
        # A mail client may break "On <date>, <name> wrote:" in two.
        pair = f"{lines[number]} {lines[number + 1]}" if number + 1 < len(lines) else lines[number]
        if number not in code and (_TAIL.match(lines[number]) or (lines[number].strip() and _TAIL.match(pair))):
            return "\n".join(lines[:number])
    return text


def _spoken_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of top-level paragraphs outside `<details>` that begin with plain text: their number and visible text."""
    tokens = _markdown().parse(text)
    depth = 0
    for before, token in pairwise(tokens):
        if token.type == "html_block":
            depth = _depth(depth, token.content)
        if token.type != "inline" or before.type != "paragraph_open" or before.level or before.map is None:
            continue
        if depth == 0:
            yield from _lines_of(before.map[0], token.children or [])
        for child in token.children or []:
            if child.type == "html_inline":
                depth = _depth(depth, child.content)


def _depth(depth: int, html: str) -> int:
    """How many `<details>` are open after `html`."""
    for match in _DETAILS.finditer(html):
        depth = max(0, depth - 1) if match["end"] else depth + 1
    return depth


def _lines_of(start: int, children: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Split a paragraph's inline tokens at its line breaks; lines that begin with mark-up or code are left out."""
    number, words, plain = start, "", True
    for child in children:
        if child.type in {"softbreak", "hardbreak"}:
            if plain:
                yield number, words.strip()
            number, words, plain = number + 1, "", True
            continue
        if not words and child.type != "text" and (child.type != "html_inline" or not plain):
            plain = False
        words += child.content if child.type in {"text", "code_inline"} else ""
    if plain:
        yield number, words.strip()
