"""Values of every kind, for tests of what reads them."""

from __future__ import annotations

from agents.board import (
    Code,
    Conflict,
    Decision,
    Design,
    FileChange,
    HumanNote,
    Issue,
    PullRequest,
    Questions,
    RepoMap,
    Report,
    Requirement,
    Requirements,
    Review,
    ReviewComment,
    Summary,
    TestResults,
    Tests,
    Vote,
)

HEAD, TREE = "0123abcd" * 5, "7" * 40
ISSUE = Issue(number=1, title="Add a total", body="Please.", author="rita", author_id=5)
REPO_MAP = RepoMap(base_sha=HEAD, default_branch="main", listing="a.py", files=1, test_command=("pytest", "-q"))
REQUIREMENTS = Requirements(summary="Sums.", items=(Requirement(id="R1", text="adds"), Requirement(id="R2", text="b")))
DESIGN = Design(approach="Add total().", decisions=(Decision(decision="stdlib", why="small"),))
FILES = tuple(FileChange(path=path, status="M", additions=2, deletions=1) for path in ("a.py", "b.py"))
CODE = Code(
    summary="Add total.\n\nMore.",
    base_sha=HEAD,
    tree=TREE,
    pack="p",
    files=FILES,
    requirement_ids=("R1",),
    limitations=("none",),
)
TESTS = Tests(summary="Test total.", base_sha=HEAD, tree=TREE, pack="p", files=FILES[:1])
PASSED = TestResults(
    outcome="passed",
    base_sha=HEAD,
    tree=TREE,
    pack="p",
    files=FILES,
    command=("pytest", "-q"),
    passed=3,
    failed=0,
    output="...\n3 passed\n\n",
)
CONFLICT = PASSED.model_copy(
    update={"outcome": "conflict", "conflicts": (Conflict(path="t.py", developer="a", tester="b"),)}
)
REVIEW = Review(approved=True, summary="Good.", tree=TREE)
BLOCKER = ReviewComment(file="a.py", line=1, severity="blocker", message="wrong")
PULL = PullRequest(
    number=2,
    url="https://github.test/octo/calc/pull/2",
    branch="seconder/issue-1-add-a-total",
    base="main",
    head_sha=HEAD,
    tree=TREE,
    action="ready",
    draft=False,
)
NOTE = HumanNote(text="Use another name.", via="review")
QUESTIONS = Questions(questions=("Which?", "Why?"))
REPORT = Report(outcome="declined", text="It is there already.")
VOTE = Vote(gate="quality", digest=HEAD, word="yes")
MERGED = Summary(outcome="merged", text="merged at the word of max", merged_sha=HEAD)
