"""Reading the cases of `make solves`, and the table of what came of them. Nothing is fetched or solved here."""

from __future__ import annotations

import pytest
import yaml

from bot.local.issue import read_issue
from tests.solves.__main__ import BadCase, cases, read_case
from tests.solves.table import table

GOOD: dict[str, object] = {
    "kind": "python",
    "project": "leaf",
    "base": "1.0",
    "fixed": "1.0.1",
    "packages": ["pytest==8.3.5"],
    "tests": ["tests/test_leaf.py"],
    "test_command": "python -m pytest -q",
    "judge": ["python", "-m", "pytest"],
}


def test_our_own_cases_can_be_used_and_do_not_give_the_fix_away() -> None:
    every = cases([])
    assert len({case.project for case in every}) >= 6
    for case in every:
        issue = read_issue(case.issue)
        assert issue.title
        assert issue.body
        assert case.fixed not in issue.title + issue.body, case.name


def test_cases_are_picked_by_name() -> None:
    assert [case.name for case in cases(["sqlparse-cte", "click-flags"])] == ["sqlparse-cte", "click-flags"]
    with pytest.raises(BadCase, match=r"no case leaf-up\. There are: .*click-flags"):
        cases(["leaf-up"])


def test_a_case_is_read() -> None:
    case = read_case("leaf-up", yaml.safe_dump(GOOD))
    assert (case.name, case.base, case.tests) == ("leaf-up", "1.0", ("tests/test_leaf.py",))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"judge": None}, "judge must be a list", id="no judge"),
        pytest.param({"judge": []}, "judge must be a list", id="a judge without words"),
        pytest.param({"tests": "tests/test_leaf.py"}, "tests must be a list", id="a text for a list"),
        pytest.param({"packages": [8]}, "packages must be a list of texts", id="a number in a list"),
        pytest.param({"tests": ["../outside.py"]}, "below the project's root", id="tests above the project"),
        pytest.param({"tests": ["/etc/passwd"]}, "below the project's root", id="tests elsewhere"),
        pytest.param({"fixed": "1.0"}, "the same version", id="no two versions"),
        pytest.param({"base": 1.0}, "needs quotes", id="a version that YAML takes for a number"),
        pytest.param({"base": "--pre"}, "base must be a text that is no option", id="a version that is an option"),
        pytest.param({"project": "-r"}, "project must be a text that is no option", id="a project that is an option"),
        pytest.param({"kind": "rust"}, "python or node", id="another kind"),
        pytest.param({"fix": "x"}, "must have exactly", id="a word that is none"),
    ],
)
def test_what_is_wrong_with_a_case_is_said(change: dict[str, object], said: str) -> None:
    with pytest.raises(BadCase, match=r"^leaf-up: ") as caught:
        read_case("leaf-up", yaml.safe_dump({**GOOD, **change}))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("a: [", "is no YAML", id="no YAML"),
        pytest.param("", "must have exactly", id="empty"),
        pytest.param("- a\n", "must have exactly", id="a list"),
    ],
)
def test_a_file_that_holds_no_case(text: str, said: str) -> None:
    with pytest.raises(BadCase, match=said):
        read_case("leaf-up", text)


def test_the_table() -> None:
    figures = {"turns": 21, "tokens": 91_500, "cached_share": 0.8, "usd": 0.12, "seconds": 100.0, "model_s": 30.2}
    solved = {"case": "leaf-up", "solved": True, "outcome": "approved", **figures}
    assert table([solved, {"case": "b", "solved": False, "outcome": "waiting", "why": "no money"}]) == [
        "| case    | solved | outcome  | calls | tokens | cached | list price | seconds | of the model |",
        "|---------|--------|----------|-------|--------|--------|------------|---------|--------------|",
        "| leaf-up | yes    | approved | 21    | 91,500 | 80%    | $0.12      | 100     | 30           |",
        "| b       | no     | waiting  | ?     | ?      | ?      | ?          | ?       | ?            |",
        "",
        "1 of 2 solved, $0.12 at list price",
    ]
