"""Weakened tests: what is taken away is found, what moves or grows is not."""

from __future__ import annotations

import pytest

from gates.rules import ChangedFile, weakened
from tests.gates.rules.changes import changed

TWO = "def test_a():\n    assert f(1)\n\n\ndef test_b():\n    assert f(2)\n"
ONE = "def test_a():\n    assert f(1)\n"
SECOND = "def test_b():\n    assert f(2)\n"


def suite(new: str | bytes | None, old: str | None = TWO, path: str = "tests/test_x.py") -> ChangedFile:
    """A changed test file."""
    return changed(path, new, old, is_test=True)


JS = "it('adds', () => {\n  expect(add(1, 2)).toBe(3)\n})\n"
GO = "func TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal(1)\n\t}\n}\n"
JAVA = "@Test\nvoid adds() {\n  assertEquals(3, add(1, 2));\n}\n"
RUST = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"

WEAKER = [
    pytest.param([suite(None)], ["tests.removed"], id="a file of tests is removed"),
    pytest.param([suite(ONE)], ["tests.fewer", "tests.assertions"], id="a test is removed"),
    pytest.param([suite(TWO.replace("    assert f(2)\n", "    f(2)\n"))], ["tests.assertions"], id="assertion gone"),
    pytest.param([suite("import pytest\n\n\n@pytest.mark.skip\n" + TWO)], ["tests.skipped"], id="skipped"),
    pytest.param([suite("@pytest.mark.xfail(strict=False)\n" + TWO)], ["tests.skipped"], id="expected to fail"),
    pytest.param([suite("pytestmark = pytest.mark.skipif(True)\n" + TWO)], ["tests.skipped"], id="a whole module"),
    pytest.param([suite("raise SkipTest\n" + TWO)], ["tests.skipped"], id="raised at the top"),
    pytest.param([suite(TWO.replace("test_b", "x_test_b"))], ["tests.fewer"], id="renamed so that it never runs"),
    pytest.param([suite("# " + TWO.replace("\n", "\n# "))], ["tests.fewer", "tests.assertions"], id="commented out"),
    pytest.param([suite('"""\n' + TWO + '"""\n')], ["tests.fewer", "tests.assertions"], id="put into a string"),
    pytest.param([suite(b"\0")], ["tests.unread", "tests.fewer", "tests.assertions"], id="made unreadable"),
    pytest.param([suite(JS.replace("it(", "it.skip("), JS, "a.test.ts")], ["tests.skipped"], id="it.skip"),
    pytest.param([suite(JS.replace("it(", "it.only("), JS, "a.test.ts")], ["tests.skipped"], id="it.only"),
    pytest.param([suite("", JS, "a.test.ts")], ["tests.fewer", "tests.assertions"], id="TypeScript, emptied"),
    pytest.param(
        [suite(GO.replace("\tif", "\tt.Skip()\n\tif", 1), GO, "a_test.go")], ["tests.skipped"], id="Go, skipped"
    ),
    pytest.param([suite(None, GO, "a_test.go")], ["tests.removed"], id="Go, removed"),
    pytest.param([suite("@Disabled\n" + JAVA, JAVA, "ATest.java")], ["tests.skipped"], id="Java, disabled"),
    pytest.param([suite("#[ignore]\n" + RUST, RUST, "tests/a.rs")], ["tests.skipped"], id="Rust, ignored"),
    pytest.param(
        [suite("fn adds() {\n}\n", RUST, "tests/a.rs")], ["tests.fewer", "tests.assertions"], id="Rust, unmarked"
    ),
]


@pytest.mark.parametrize(("changes", "rules"), WEAKER)
def test_weaker_tests_are_found(changes: list[ChangedFile], rules: list[str]) -> None:
    found = list(weakened.examine(changes))
    assert [one.rule for one in found] == rules
    assert {one.level for one in found} == {"approve"}


AS_STRONG = [
    pytest.param([suite(TWO, None)], id="a new file"),
    pytest.param([suite(TWO + "\n\ndef test_c():\n    assert f(3)\n")], id="one more test"),
    pytest.param([suite(TWO.replace("f(2)", "g(2)"))], id="another assertion in its place"),
    pytest.param([suite(TWO.replace("test_b", "test_c"))], id="renamed, and runs as before"),
    pytest.param([suite(ONE), suite(SECOND, None, "tests/test_y.py")], id="a test moves to another changed file"),
    pytest.param([suite(None), suite(TWO, None, "tests/test_y.py")], id="a file is renamed"),
    pytest.param([suite("@pytest.mark.skip\n" + TWO, "@pytest.mark.skip\n" + TWO)], id="skipped before as well"),
    pytest.param([suite("x = model.fit(1)\n" + TWO)], id="fit of a model"),
    pytest.param([suite('note = "pytest.mark.skip"\n' + TWO)], id="a skip in a string"),
    pytest.param([changed("src/app.py", "", TWO)], id="no test file"),
    pytest.param([], id="nothing"),
]


@pytest.mark.parametrize("changes", AS_STRONG)
def test_tests_that_are_as_strong_are_not(changes: list[ChangedFile]) -> None:
    assert list(weakened.examine(changes)) == []
