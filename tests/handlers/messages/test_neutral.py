"""Neutralised text, judged by an independent parser (markdown-it) and by raw searches."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from handlers.messages.clamp import clamp, units
from handlers.messages.hidden import strip_hidden
from handlers.messages.neutral import clip, fenced, inline, neutralise, one_line, plain, quoted, seal

CLOSING = re.compile(
    r"\b(close[sd]?|fix(e[sd])?|resolve[sd]?)\b:?\s*(#\d|GH-\d|[\w.-]+/[\w.-]+#\d|https?://\S+/(issues|pull)/\d)", re.I
)
SKIPPING = re.compile(r"\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI\*\*\*", re.I)
COMMAND = re.compile(r"^/[a-z]|^bors ", re.I | re.M)
MENTION = re.compile(r"(?<![A-Za-z0-9])@[A-Za-z0-9]")
TRAILER = re.compile(r"^(signed-off-by|co-authored-by|reviewed-by|skip-checks):", re.I | re.M)
INVISIBLE = frozenset(
    "\u200b\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\u180e\u115f\u1160\u3164\uffa0\u034f"
) | frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")

PIECES = [
    *("@bob", "@org/team", "@dependabot merge", "\\@bob", "_@bob_", "a@b.c", "&#64;bob", "&commat;bob", "@", "bob"),
    *("Fixes #5", "closes: o/r#6", "Resolves https://github.com/a/b/issues/7", "fix GH-8", "Fixes ", "#5", "\\#5"),
    *("&#35;5", "closed **#9**", "[skip ci]", "[skip ", "ci]", "***NO_CI***", "Signed-off-by: a <b>"),
    *("![x](https://evil.example/?q=1)", "![x][y]", "[y]: https://evil.example", "[t](//evil.example)", "![", "]("),
    *("https://evil.example/a", "www.evil.example", "https://github.com/a/b", "https://github.com@evil.example", ")"),
    *("<img src=x>", "<!-- ", " -->", "<!-- seconder:status run=1 -->", "<details>", "<b", ">", "<!", "<a href='`'>"),
    *(
        "/lgtm",
        "/approve",
        "\\/merge",
        "bors r+",
        "`",
        "``",
        "```",
        "~~~",
        "````",
        "\\",
        "\\`",
        "|",
        "|---|---|",
        ":--",
    ),
    *("\n", "\n\n", "\n```\n", "\n~~~\n", "\n- ", "\n> ", "\n  ```\n", "\n    ", "\n# ", "\t", " ", "  ", "\r", "\r\n"),
    *(
        "\u200b",
        "\u202e",
        "\u2028",
        "\u00a0",
        "\ufeff",
        "\x1b[31m",
        "\U000e0041",
        "\ud800",
        "é",
        "x",
        "1",
        "👩‍👩",
        "می‌خ",
    ),
]
HOSTILE = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.text(max_size=60),
    st.text(alphabet="`~@ab#5\\ \n<>![]()|-:/&;", max_size=40),
)


def tokens(text: str) -> Iterator[Token]:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for token in parser.parse(text):
        yield token
        yield from token.children or ()


def assert_dead_raw(text: str) -> None:
    """What acts in raw text, code included: checked without any parser."""
    assert not CLOSING.search(text)
    assert not SKIPPING.search(text)
    assert not COMMAND.search(text)
    assert not TRAILER.search(text)
    assert "<!--" not in text
    assert not INVISIBLE & set(text)
    assert not any(unicodedata.category(one) in ("Cs", "Co") or (one < " " and one not in "\t\n") for one in text)
    assert not any(0xE0000 <= ord(one) <= 0xE0FFF for one in text)


def assert_dead(text: str) -> None:
    """What would act once rendered, as the independent parser sees it."""
    assert_dead_raw(text)
    for token in tokens(text):
        assert token.type not in ("image", "html_inline", "html_block", "link_open", "table_open"), token
        if token.type == "text":
            assert not MENTION.search(token.content), token.content
            assert not re.search(r"(?<![a-z0-9])www\.", token.content, re.I)
            for url in re.findall(r"(?:https?|ftp)://\S+", token.content, re.I):
                assert url.startswith("https://github.com"), url
                assert not url.startswith("https://github.com@"), url
        if token.type == "fence":
            assert token.info not in ("suggestion", "mermaid")


@settings(max_examples=400, deadline=None)
@given(HOSTILE)
@example("`a | ![x](https://evil.example)\n|---|---|\n`@bob | y`")
@example("x `\ny ` @bob ` z")
@example("- a\n  ```\n@bob\n  ```\n")
@example(" ~~~\n@bob\n")
@example("<!-<!-- -->- seconder:status run=1 -->")
@example("https://github.com/a/b\\@bob")
@example("\\www.evil.example")
@example("\\<!-- ")
@example("1https://evil.example")
@example("``x``@bob``")
def test_nothing_in_neutralised_text_acts(text: str) -> None:
    done = neutralise(text)
    assert_dead(done)
    assert neutralise(done) == done
    assert_dead(f"{done}\n\nafter")
    assert any(token.type == "text" and token.content == "after" for token in tokens(f"{done}\n\nafter"))


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_quoted_text_is_dead_too(text: str) -> None:
    assert_dead(quoted(text))
    assert_dead(seal(quoted(text)))


@settings(max_examples=300, deadline=None)
@given(HOSTILE, st.integers(min_value=1, max_value=40))
def test_inline_text_stays_in_its_cell(text: str, limit: int) -> None:
    done = inline(text, limit)
    assert_dead(done)
    assert "\n" not in done
    assert "|" not in done
    rows = [token for token in tokens(f"| a | b |\n|---|---|\n| {done} | end |\n\nafter") if token.type == "td_open"]
    assert len(rows) == 2


@settings(max_examples=300, deadline=None)
@given(HOSTILE)
def test_plain_text_is_dead_as_it_stands(text: str) -> None:
    for done in (plain(text), one_line(text, 72)):
        assert_dead_raw(done)
        assert not MENTION.search(done)
    assert len(one_line(text, 72)) <= 72


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
def test_program_output_cannot_leave_its_block(text: str) -> None:
    done = fenced(text, "text")
    assert_dead_raw(done)
    assert [token.type for token in tokens(f"{done}\n\nafter") if token.type in ("fence", "text")] == ["fence", "text"]


@settings(max_examples=200, deadline=None)
@given(st.lists(HOSTILE, max_size=4))
def test_parts_put_together_are_dead_once_sealed(parts: list[str]) -> None:
    marker = "<!-- seconder:status run=7 -->"
    body = seal("\n".join([marker, *map(neutralise, parts), "Fixes #12"]), keep=[marker, "Fixes #12"])
    lines = body.split("\n")
    assert lines[0] == marker
    assert lines[-1] == "Fixes #12"
    assert_dead("\n".join(line for line in lines if line not in (marker, "Fixes #12")))


@settings(max_examples=300, deadline=None)
@given(st.lists(HOSTILE, max_size=30), st.integers(min_value=200, max_value=500))
def test_clamped_text_fits_and_stays_dead(parts: list[str], limit: int) -> None:
    whole = neutralise("\n".join(parts))
    done = clamp(whole, limit)
    assert units(done) <= limit
    done.encode("utf-8")
    assert_dead(done)
    assert any(token.type == "text" and token.content == "after" for token in tokens(f"{done}\n\nafter"))
    if done != whole:
        assert "more characters did not fit" in done


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.integers(min_value=0, max_value=30))
def test_clipped_text_fits(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= limit


READS = [
    pytest.param("Ask @bob and @org/team", "Ask `@bob` and `@org/team`", id="mentions become code"),
    pytest.param("Mail a@b.example", "Mail a@b.example", id="an address is no mention"),
    pytest.param("use `@property`", "use `@property`", id="code is left alone"),
    pytest.param("Fixes #5, see #6", "Fixes issue 5, see #6", id="closing words are broken, mere numbers are not"),
    pytest.param("closes o/r#5", "closes o/r issue 5", id="another repository's issue"),
    pytest.param("![logo](https://e.example/x.png)", "(image left out: logo)", id="image"),
    pytest.param("[docs](https://e.example)", "docs (`https://e.example`)", id="link off GitHub"),
    pytest.param("see https://github.com/o/r/issues/1.", "see https://github.com/o/r/issues/1.", id="GitHub link"),
    pytest.param("https://github.com.e.example", "`https://github.com.e.example`", id="a look-alike host"),
    pytest.param("a < b && c > d", "a < b && c > d", id="comparison signs stay"),
    pytest.param("<b>bold</b>", "\\<b>bold\\</b>", id="HTML is shown"),
    pytest.param("a<!-- note -->b", "ab", id="comment is left out"),
    pytest.param("/lgtm", "`/lgtm`", id="a command becomes code"),
    pytest.param("/usr/bin/env python", "`/usr/bin/env` python", id="a path becomes code"),
    pytest.param("and/or", "and/or", id="a slash inside a word"),
    pytest.param("```py\nx = 1", "```py\nx = 1\n```", id="an open block is closed"),
    pytest.param("```suggestion\nrm\n```", "```\nrm\n```", id="a block that GitHub would act on"),
    pytest.param("```\n/lgtm\n```", "```\n /lgtm\n```", id="a command inside code, which Prow reads"),
    pytest.param("a `b", "a \\`b", id="a lonely back-tick"),
    pytest.param("pay\u202eload\u200b", "payload", id="bidi and zero-width"),
    pytest.param("\x1b[31mred\x1b[0m", "red", id="terminal colours"),
    pytest.param("[skip ci]", "(skip ci)", id="CI switch"),
    pytest.param("👩‍👩‍👧 ⚠️ می‌خواهم", "👩‍👩‍👧 ⚠️ می‌خواهم", id="joiners that are needed"),
    pytest.param("- one\n- two", "- one\n- two", id="lists stay"),
]


@pytest.mark.parametrize(("text", "reads"), READS)
def test_reads(text: str, reads: str) -> None:
    assert neutralise(text) == reads


def test_clamp_closes_what_it_cuts_open() -> None:
    body = "<!-- marker -->\n<details>\n\n```text\n" + "line\n" * 400 + "```\n</details>"
    done = clamp(body, 600)
    assert done.startswith("<!-- marker -->\n")
    assert done.count("```") == 2
    assert "</details>" in done
    assert done.endswith("more characters did not fit)*")


def test_clamp_refuses_a_limit_without_room() -> None:
    with pytest.raises(ValueError, match="no room"):
        clamp("x" * 500, 50)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<!--" * 15_000, id="comments that never end"),
        pytest.param("fix" + "." * 60_000, id="a gap without an end"),
        pytest.param("fix " + "a-" * 30_000, id="a name without an end"),
        pytest.param("-" * 60_000 + "x", id="a rule that is none"),
        pytest.param("`" * 30_000 + " " + "`" * 29_999, id="long runs of back-ticks"),
        pytest.param("![" * 30_000, id="images that never close"),
        pytest.param("[a](" * 15_000, id="links that never close"),
        pytest.param("@a/" * 20_000, id="mentions in a row"),
        pytest.param(">" * 60_000, id="quotes in quotes"),
        pytest.param("http://" * 9_000, id="addresses in a row"),
    ],
)
@pytest.mark.timeout(10)
def test_long_hostile_text_takes_no_time(text: str) -> None:
    assert neutralise(text)
    assert strip_hidden(text)
