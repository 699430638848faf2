"""Tests that look at less than before: taken away, fewer in a file, newly skipped, or with fewer assertions.

Told from the text, by the customs of the common test frameworks; nothing is run or imported. Strings and comments are
blanked first, so that what is commented out no longer counts. A test or an assertion that moves to another changed test
file is not missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gates.rules.change import ChangedFile
from gates.rules.finding import Finding

_TEST = re.compile(
    r"""(?mx)
      ^[ \t]*(?:async[ ]+)?def[ ]+(test\w*)[ ]*\(                # Python
    | ^[ \t]*(?:it|test|specify|scenario)(?:\.\w+)*[ ]*\(        # JavaScript, TypeScript; their names are strings
    | ^[ \t]*(?:it|specify|scenario|test)\b.*\bdo\b              # Ruby
    | ^func[ ]+((?:Test|Fuzz|Benchmark|Example)\w*)[ ]*\(        # Go
    | ^[ \t]*\#\[(?:\w+::)*test\b                                # Rust
    | ^[ \t]*@(?:Parameterized|Repeated)?Test\b                  # Java, Kotlin
    | ^[ \t]*\[(?:Fact|Theory|Test|TestMethod|TestCase)\b        # C#
    | ^[ \t]*public[ ]+function[ ]+(test\w*)[ ]*\(               # PHP
    """
)
_SKIP = re.compile(
    r"""(?x)
      @(?:unittest\.|pytest\.mark\.)?(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b
    | \bpytestmark\b | \b(?:pytest\.(?:skip|xfail|importorskip)|self\.skipTest|raise[ ]+(?:unittest\.)?SkipTest)\b
    | \bmark\.(?:skip|skipif|xfail)\b | \bcollect_ignore(?:_glob)?\b | \b__test__[ ]*=[ ]*False
    | \b(?:it|test|describe|suite|context)\.(?:skip|todo|only|fails|skipIf)\b
    | (?<![.\w])(?:xit|xtest|xdescribe|fit|fdescribe)[ ]*\(
    | \bt\.(?:Skip|Skipf|SkipNow)\b | \#\[ignore\b | @(?:Disabled|Ignore)\b | \[Ignore\b | \bmarkTestSkipped\b
    """
)
_ASSERTION = re.compile(
    r"""(?x)
      \bassert\w*!?[ ]*[\s(] | \bself\.(?:assert|fail)\w*[ ]*\( | \b(?:pytest\.)?(?:raises|warns|approx)[ ]*\(
    | \bexpect\w*[ ]*\( | \.should\b | \bt\.(?:Error|Errorf|Fatal|Fatalf|Fail)\b | \b(?:require|assert)\.\w+[ ]*\(
    | \bverify[ ]*\(
    """
)
_OPAQUE = re.compile(
    r'''(?sx) """.*?(?:"""|\Z) | \'\'\'.*?(?:\'\'\'|\Z) | /\*.*?(?:\*/|\Z) | `(?:\\.|[^`\\])*`
        | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | //[^\n]* | \#(?!\[|!\[)[^\n]*'''
)


@dataclass(frozen=True)
class _Tests:
    """What one side of a file tests: its tests by name where they have one, skips, and assertions by their line."""

    count: int
    names: frozenset[str]
    skips: int
    assertions: Counter[str]


def _read(text: str | None) -> _Tests:
    bare = _OPAQUE.sub(_blank, text or "")
    found = list(_TEST.finditer(bare))
    names = frozenset(name for match in found for name in match.groups() if name)
    lines = Counter(line.strip() for line in bare.split("\n") if _ASSERTION.search(line))
    return _Tests(len(found), names, len(_SKIP.findall(bare)), lines)


def _blank(match: re.Match[str]) -> str:
    """Line feeds stay, so that a line stays a line; what differs only in its strings stays different."""
    return "\n" * match[0].count("\n") if match[0][:1] in "/#" else f'"{len(match[0])}"' + "\n" * match[0].count("\n")


def examine(changes: Sequence[ChangedFile]) -> Iterable[Finding]:
    """Findings for the changed test files of one change, looked at together."""
    tests = [(one, _read(one.old_text), _read(one.new_text)) for one in changes if one.is_test]
    new_names = {name for _, before, after in tests for name in after.names - before.names}
    new_lines: Counter[str] = Counter()
    for _, before, after in tests:
        new_lines += after.assertions - before.assertions
    for change, before, after in tests:
        moved = len((before.names - after.names) & new_names) if before.count > after.count else 0
        yield from _of_file(change, before, after, moved)
        gone = before.assertions - after.assertions
        carried = (gone & (new_lines - (after.assertions - before.assertions))).total()
        lost = before.assertions.total() - after.assertions.total() - carried
        if lost > 0 and not change.removed:
            yield change.finding("tests.assertions", "approve", f"it asserts less than before: {lost} fewer")


def _of_file(change: ChangedFile, before: _Tests, after: _Tests, moved: int) -> Iterable[Finding]:
    missing = before.count - after.count - moved
    if change.removed:
        if missing > 0 or not before.count:
            yield change.finding("tests.removed", "approve", "a test file is taken away")
        return
    if change.old_text is not None and change.new_text is None and change.new is not None:
        yield change.finding("tests.unread", "approve", "a test file became something that cannot be read")
    if missing > 0:
        yield change.finding("tests.fewer", "approve", f"it has {missing} fewer tests than before")
    if after.skips > before.skips:
        yield change.finding("tests.skipped", "approve", "it newly skips tests, or expects them to fail")
