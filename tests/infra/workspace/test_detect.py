"""Which command runs a repository's tests."""

from __future__ import annotations

import pytest

from infra.workspace.detect import detect, wanted

PYTEST = ("python", "-m", "pytest", "-q")
UNITTEST = ("python", "-m", "unittest", "discover")
PLAIN = "import unittest\n\nclass T(unittest.TestCase):\n    def test_x(self): ...\n"

CASES = [
    pytest.param({"pytest.ini": "[pytest]"}, PYTEST, "pytest.ini", id="pytest-ini"),
    pytest.param({".pytest.ini": ""}, PYTEST, ".pytest.ini", id="hidden-pytest-ini"),
    pytest.param({"pyproject.toml": "[tool.pytest.ini_options]\n"}, PYTEST, "pyproject.toml", id="pyproject"),
    pytest.param({"pyproject.toml": "[tool.pytest]\n"}, PYTEST, "pyproject.toml", id="pyproject-native"),
    pytest.param({"tox.ini": "[tox]\n[pytest]\n"}, PYTEST, "tox.ini", id="tox"),
    pytest.param({"setup.cfg": "[tool:pytest]\n"}, PYTEST, "setup.cfg", id="setup-cfg"),
    pytest.param({"a/conftest.py": ""}, PYTEST, "a/conftest.py", id="conftest"),
    pytest.param({"tests/test_a.py": "import pytest\n"}, PYTEST, "tests/test_a.py", id="imports-pytest"),
    pytest.param({"tests/test_a.py": "def test_a():\n    pass\n"}, PYTEST, "tests/test_a.py", id="test-function"),
    pytest.param({"a_test.py": "async def test_a(): ...\n"}, PYTEST, "a_test.py", id="suffix-name"),
    pytest.param({"test_a.py": PLAIN}, UNITTEST, "test_a.py", id="unittest-at-the-root"),
    pytest.param({"tests/test_a.py": PLAIN}, (*UNITTEST, "-s", "tests"), "tests/test_a.py", id="unittest-directory"),
    pytest.param(
        {"tests/test_a.py": PLAIN, "tests/__init__.py": ""},
        (*UNITTEST, "-s", "tests", "-t", "."),
        "tests/test_a.py",
        id="unittest-package",
    ),
    pytest.param(
        {"a/tests/test_a.py": PLAIN, "a/tests/__init__.py": ""},
        (*UNITTEST, "-s", "a/tests"),
        "a/tests/test_a.py",
        id="unittest-package-in-no-package",
    ),
    pytest.param({"package.json": '{"scripts": {"test": "node --test"}}'}, ("npm", "test"), "package.json", id="npm"),
    pytest.param({"go.mod": "module x\n"}, ("go", "test", "./..."), "go.mod", id="go"),
    pytest.param({"Cargo.toml": "[package]\n"}, ("cargo", "test"), "Cargo.toml", id="cargo"),
    pytest.param({"Makefile": "all:\n\ttrue\ntest: all\n\t./t\n"}, ("make", "test"), "Makefile", id="make"),
    pytest.param(
        {"Makefile": "test:\n", "package.json": '{"scripts": {"test": "jest"}}', "test_a.py": PLAIN},
        UNITTEST,
        "test_a.py",
        id="python-first",
    ),
]


@pytest.mark.parametrize(("files", "words", "source"), CASES)
def test_detected(files: dict[str, str], words: tuple[str, ...], source: str) -> None:
    found = detect(list(files), {path: files[path] for path in wanted(list(files))})
    assert found is not None
    assert found.words == words
    assert found.source.startswith(source)


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="empty"),
        pytest.param({"README.md": "pytest"}, id="nothing"),
        pytest.param(
            {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
            id="npm-placeholder",
        ),
        pytest.param({"package.json": "{"}, id="npm-broken"),
        pytest.param({"package.json": "[" * 5000}, id="npm-deep"),
        pytest.param({"package.json": '{"scripts": [1]}'}, id="npm-odd"),
        pytest.param({"pyproject.toml": "[tool.pytest\n"}, id="toml-broken"),
        pytest.param({"pyproject.toml": "tool = 1\n"}, id="toml-odd"),
        pytest.param({"tox.ini": "no section\n", "setup.cfg": "[a\n"}, id="ini-broken"),
        pytest.param({"Makefile": "test := x\ntests:\n\ttrue\n"}, id="make-other"),
        pytest.param({"sub/go.mod": "", "sub/Cargo.toml": ""}, id="not-at-the-root"),
        pytest.param({"latest.py": "def test_x(): ...", "contest_x.py": ""}, id="look-alike-names"),
    ],
)
def test_not_detected(files: dict[str, str]) -> None:
    assert detect(list(files), files) is None


def test_only_few_files_are_wanted() -> None:
    paths = [f"tests/test_{number}.py" for number in range(100)] + ["pyproject.toml", "big.bin"]
    assert len(wanted(paths)) == 21
    assert "big.bin" not in wanted(paths)
