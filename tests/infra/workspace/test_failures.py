"""Which tests a runner's output names as failing, and which files they are in."""

from __future__ import annotations

import pytest

from infra.workspace.failures import MAX_NAMES, failing, files_of

SHORT = "\n=========================== short test summary info ============================\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(
            f"F.E{SHORT}FAILED tests/test_a.py::test_x - assert 1 == 2\nERROR tests/test_b.py\n1 failed in 0.1s",
            ("tests/test_a.py::test_x", "tests/test_b.py"),
            id="pytest",
        ),
        pytest.param(f"{SHORT}FAILED t.py::test[a b] - no", ("t.py::test[a b]",), id="a parameter with a blank"),
        pytest.param(f"FAILED before the summary{SHORT}1 passed", (), id="words of the test itself are no names"),
        pytest.param(
            f"{'=' * 70}\nFAIL: test_add (tests.test_add.AddTest.test_add)\n{'-' * 70}\n",
            ("tests.test_add.AddTest.test_add",),
            id="unittest since 3.11",
        ),
        pytest.param(
            f"{'=' * 70}\nERROR: test_add (test_add.AddTest)\n", ("test_add.AddTest.test_add",), id="unittest"
        ),
        pytest.param(
            f"{'=' * 70}\nERROR: tests.test_add (unittest.loader._FailedTest.tests.test_add)\n",
            ("tests.test_add",),
            id="unittest: the module does not load",
        ),
        pytest.param(
            f"{'=' * 70}\nFAIL: test_a (t.T.test_a) (i=1)\n{'=' * 70}\nFAIL: test_a (t.T.test_a) (i=2)\n",
            ("t.T.test_a",),
            id="sub-tests are one test",
        ),
        pytest.param("  ● sum › adds\n\n  ● Console\n", ("sum › adds",), id="jest"),
        pytest.param("ok 1 - a\nnot ok 2 - b\n", ("b",), id="tap"),
        pytest.param("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n", ("TestA", "TestA/b"), id="go"),
        pytest.param("FAIL\tacme/x [build failed]\n", ("acme/x",), id="go: does not build"),
        pytest.param("test a::b ... FAILED\ntest c ... ok\n", ("a::b",), id="cargo"),
        pytest.param("  1) sum adds:\n", ("sum adds",), id="mocha"),
        pytest.param("make: *** [test] Error 1\n", (), id="nobody knows"),
        pytest.param("", (), id="silence"),
    ],
)
def test_failing(text: str, names: tuple[str, ...]) -> None:
    assert failing(text) == names


def test_a_flood_of_names_is_bounded() -> None:
    found = failing(SHORT + "".join(f"FAILED t.py::test_{number}{'x' * 5000}\n" for number in range(2000)))
    assert len(found) == MAX_NAMES
    assert max(map(len, found)) <= 400


PATHS = frozenset({"tests/test_a.py", "tests/sub/test_b.py", "a.py"})


@pytest.mark.parametrize(
    ("names", "files"),
    [
        pytest.param(("tests/test_a.py::T::test_x", "tests/test_a.py"), ("tests/test_a.py",), id="pytest"),
        pytest.param(("tests.sub.test_b.T.test_x",), ("tests/sub/test_b.py",), id="unittest"),
        pytest.param(("tests/test_new.py::test_x",), (), id="a new file"),
        pytest.param(("tests.test_new.T.test_x",), (), id="a new module"),
        pytest.param(("sum › adds",), None, id="words"),
        pytest.param(("TestA",), None, id="one word"),
    ],
)
def test_files_of(names: tuple[str, ...], files: tuple[str, ...] | None) -> None:
    assert files_of(names, PATHS) == files
