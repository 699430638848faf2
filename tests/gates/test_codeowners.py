"""CODEOWNERS as GitHub reads it. The patterns' rows follow GitHub Docs, "About code owners", and gitignore(5)."""

from __future__ import annotations

import time

import pytest

from gates.codeowners import LOCATIONS, SIZE_LIMIT, Rule, location, parse


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        pytest.param("*", "a x/b .hidden/c d/.e", "", id="a star is everything"),
        pytest.param("*.js", "a.js x/y/a.js dir.js/readme", "a.jsx js a.JS", id="an ending, anywhere"),
        pytest.param("/*.js", "a.js dir.js/inside", "x/a.js", id="an ending in the root"),
        pytest.param("/*", "a .env", "x/a", id="files in the root only"),
        pytest.param("docs/*", "docs/a.md", "docs/x/a.md docs y/docs/a.md", id="one level below a folder"),
        pytest.param("/docs/*", "docs/a.md", "docs/x/a.md y/docs/a.md", id="one level below an anchored folder"),
        pytest.param("docs/*.md", "docs/a.md docs/a.md/odd", "docs/x/a.md x/docs/a.md", id="an ending one level below"),
        pytest.param("docs/**", "docs/a docs/x/y", "docs x/docs/a", id="all below a folder"),
        pytest.param("docs/**/", "docs/a docs/x/y", "docs", id="all below a folder, with a slash"),
        pytest.param("apps/", "apps/a x/apps/b apps/x/y", "apps x/apps appsx/a", id="a folder anywhere"),
        pytest.param("/apps/", "apps/a apps/x/y", "x/apps/b apps", id="a folder in the root"),
        pytest.param("/build/logs/", "build/logs/a build/logs/x/y", "x/build/logs/a build/a", id="a deeper folder"),
        pytest.param("build/logs", "build/logs build/logs/a", "x/build/logs", id="a slash inside anchors"),
        pytest.param("build/logs/", "build/logs/a", "build/logs x/build/logs/a", id="a slash inside anchors a folder"),
        pytest.param("logs", "logs logs/a x/logs x/logs/a", "logs.txt alogs", id="a bare name, file or folder"),
        pytest.param("/logs", "logs logs/a", "x/logs", id="an anchored name"),
        pytest.param("**/logs", "logs logs/a x/logs x/y/logs/z", "logsx", id="two stars and a name"),
        pytest.param("**/logs/", "logs/a x/logs/a", "logs x/logs", id="two stars and a folder"),
        pytest.param("**/a/b", "a/b x/a/b x/y/a/b/c", "a/x/b", id="two stars and two names"),
        pytest.param("a/**/b", "a/b a/x/b a/x/y/b a/x/b/c", "b x/a/b a/bx", id="two stars between"),
        pytest.param("a/**/b/c*", "a/b/cd a/x/b/c", "a/b a/x/b/d", id="two stars between, a star after"),
        pytest.param("**", "a x/y", "", id="two stars alone"),
        pytest.param("/**", "a x/y", "", id="two stars from the root"),
        pytest.param("**/*", "a x/y", "", id="two stars and a star"),
        pytest.param("/*/", "x/a x/y/z", "a", id="every folder of the root"),
        pytest.param("x/*/z", "x/y/z x/y/z/w", "x/z x/y/y/z", id="one name between"),
        pytest.param("f?o", "foo x/f-o/a", "fo fooo f/o", id="a question mark is one character, no slash"),
        pytest.param("a*b*c", "abc aXbXc x/abc/y", "acb a/b/c", id="stars inside a name stop at slashes"),
        pytest.param("a**b", "ab axb", "a/b", id="two stars inside a name are one"),
        pytest.param(r"f\*o", "f*o", "foo fxo", id="a star behind a backslash"),
        pytest.param(r"f\?o", "f?o", "foo", id="a question mark behind a backslash"),
        pytest.param(r"a\\b", "a\\b", "ab", id="a backslash behind a backslash"),
        pytest.param("Docs/", "Docs/a", "docs/a", id="case counts"),
        pytest.param("ümläut/", "ümläut/a", "umlaut/a", id="beyond ASCII"),
        pytest.param("a.c", "a.c", "abc", id="a dot is a dot"),
        pytest.param("(a|b)+$", "(a|b)+$", "a b", id="no regular expression"),
        pytest.param("/", "", "a x/y", id="a slash alone is nothing"),
        pytest.param("a//b", "", "a/b a/x/b", id="an empty name is nothing"),
        pytest.param("./a", "", "a", id="a dot is no way to the root"),
    ],
)
def test_patterns(pattern: str, yes: str, no: str) -> None:
    rule = Rule(1, pattern, ())
    assert [path for path in yes.split() if not rule.matches(path)] == []
    assert [path for path in no.split() if rule.matches(path)] == []


def test_a_space_behind_a_backslash_belongs_to_the_path() -> None:
    (rule,) = parse(rb"my\ docs/*\ old.md @ada").rules
    assert rule.owners[0].text == "@ada"
    assert rule.matches("my docs/very old.md")
    assert not rule.matches("my docs/very-old.md")


@pytest.mark.parametrize(
    ("line", "owners"),
    [
        pytest.param("* @ada", ["user @ada"], id="a person"),
        pytest.param("* @Ada-L", ["user @Ada-L"], id="capitals and a dash"),
        pytest.param("* @ada_corp", ["user @ada_corp"], id="a managed account"),
        pytest.param("* @octo/web-team", ["team @octo/web-team"], id="a team"),
        pytest.param("* ada@example.com", ["email ada@example.com"], id="an address"),
        pytest.param("* @a @o/t b@c.de", ["user @a", "team @o/t", "email b@c.de"], id="several"),
        pytest.param("\t*  \t @ada  ", ["user @ada"], id="any white space"),
        pytest.param("* @ada\r", ["user @ada"], id="a carriage return"),
        pytest.param("* @ada # @bob", ["user @ada"], id="a comment behind"),
        pytest.param("* @ada #@bob", ["user @ada"], id="a comment behind, no space after the sign"),
        pytest.param("* # @ada", [], id="owners in a comment are none"),
        pytest.param("/free", [], id="nobody"),
        pytest.param("a#b @ada", ["user @ada"], id="a number sign inside a path"),
    ],
)
def test_owners(line: str, owners: list[str]) -> None:
    read = parse(line.encode())
    assert [f"{owner.kind} {owner.text}" for owner in read.rules[0].owners] == owners
    assert read.problems == ()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        pytest.param("!*.py @ada", "`!`", id="negation"),
        pytest.param("[Docs] @ada", "`[ ]`", id="a section"),
        pytest.param("^[Docs][2] @ada", "`[ ]`", id="an optional section"),
        pytest.param("a[0-9] @ada", "`[ ]`", id="a range"),
        pytest.param(r"\#x @ada", "`#`", id="a number sign behind a backslash"),
        pytest.param("a\\", "backslash", id="a backslash at the end"),
        pytest.param("* ada", "ada", id="a name without the sign"),
        pytest.param("* @", "@", id="a sign without a name"),
        pytest.param("* @-ada", "@-ada", id="a name that begins with a dash"),
        pytest.param("* @o/t/x", "@o/t/x", id="a team too deep"),
        pytest.param("* @ada, @bob", "@ada,", id="a comma"),
        pytest.param("* <script>", "<script>", id="markup"),
    ],
)
def test_a_line_that_cannot_be_read_is_left_out_and_said(line: str, word: str) -> None:
    read = parse(f"* @before\n{line}\n".encode())
    assert [problem.line for problem in read.problems] == [2]
    assert word in read.problems[0].why
    rule = read.rule_for("a0")
    assert rule is not None
    assert rule.line == 1


@pytest.mark.parametrize("line", ["", "   ", "# a comment", "  # a comment", "\r"])
def test_lines_of_nothing(line: str) -> None:
    assert parse(line.encode()) == parse(b"")


def test_the_last_match_decides_alone() -> None:
    read = parse(b"* @all\n*.js @js\n/apps/ @apps\n/apps/free\n/apps/free/x.js @x\n")
    deciding = {
        path: rule.line if (rule := read.rule_for(path)) else None
        for path in ("a", "a.js", "apps/a.js", "apps/free/b.js", "apps/free/x.js")
    }
    assert deciding == {"a": 1, "a.js": 2, "apps/a.js": 3, "apps/free/b.js": 4, "apps/free/x.js": 5}
    assert parse(b"/a @a").rule_for("b") is None


def test_needs_name_each_deciding_line_once() -> None:
    read = parse(b"* @all\n*.js @js\n/free\n")
    needs = read.needs(["b.js", "free", "a", "x/a.js", "b.js"])
    assert [(need.rule.line, need.paths) for need in needs] == [(1, ("a",)), (2, ("b.js", "x/a.js"))]


def test_names_are_the_same_in_any_case() -> None:
    one, other = parse(b"a @Ada\nb @aDA\n").rules
    assert one.owners[0].key == other.owners[0].key


@pytest.mark.parametrize(
    ("size", "loaded"),
    [pytest.param(SIZE_LIMIT - 1, True, id="below"), pytest.param(SIZE_LIMIT, False, id="at the limit")],
)
def test_a_file_has_to_stay_under_three_megabytes(size: int, loaded: bool) -> None:
    read = parse(b"* @ada\n#" + b"x" * (size - 8))
    assert (len(read.rules), read.too_large) == ((1, False) if loaded else (0, True))


def test_what_is_no_text_does_no_harm() -> None:
    read = parse(b"\xef\xbb\xbf* @ada\n\xff\xfe\x00 @bob\n\x00\n")
    assert read.rules[0].pattern == "*"
    assert read.rules[0].matches("a")


@pytest.mark.parametrize(
    ("present", "found"),
    [
        pytest.param(LOCATIONS, ".github/CODEOWNERS", id="all three"),
        pytest.param(LOCATIONS[1:], "CODEOWNERS", id="root and docs"),
        pytest.param(LOCATIONS[2:], "docs/CODEOWNERS", id="docs"),
        pytest.param(("codeowners", ".gitlab/CODEOWNERS"), None, id="nowhere that GitHub looks"),
        pytest.param((), None, id="none"),
    ],
)
def test_locations(present: tuple[str, ...], found: str | None) -> None:
    assert location(present) == found


def test_a_pattern_made_to_be_slow_is_not() -> None:
    deep = Rule(1, "**/" + "/".join(["a", "**"] * 40) + "/b", ())
    wide = Rule(1, "*a" * 400 + "b", ())
    begin = time.monotonic()
    assert not deep.matches("/".join(["a"] * 400))
    assert not wide.matches("a" * 2_000)
    assert time.monotonic() - begin < 5
