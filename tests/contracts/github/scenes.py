"""What the contract cases begin with."""

from __future__ import annotations

from handlers.ports import Button, CheckState, NewCommit, NewPull, PullFacts, TreeEdit
from tests.contracts.github.stage import BASE_FILES, Stage
from tests.fakes.git_objects import tree_sha

BRANCH = "seconder/issue-1-fix"
FIXED = "def add(a, b):\n    return a + b\n"


def files_with(**changed: bytes | None) -> dict[str, tuple[str, bytes]]:
    """The base files with changes; `__` in a name stands for a slash, `_dot_` for a dot."""
    files = {path: ("100644", text.encode()) for path, text in BASE_FILES.items()}
    for name, content in changed.items():
        path = name.replace("__", "/").replace("_dot_", ".")
        files.pop(path, None)
        if content is not None:
            files[path] = ("100644", content)
    return files


async def base_of(stage: Stage) -> str:
    head = await stage.ports.repository.branch(stage.repo, "main")
    assert head is not None
    return head


async def new_commit(stage: Stage, content: bytes = FIXED.encode(), parent: str | None = None) -> NewCommit:
    return NewCommit(
        parent=parent or await base_of(stage),
        tree=tree_sha(files_with(app_dot_py=content)),
        edits=(TreeEdit("app.py", content),),
        message="Add, not subtract\n\nCloses #1",
        author_name="seconder[bot]",
        author_email="1+seconder[bot]@users.noreply.github.com",
        date=1_700_000_000,
    )


async def pull_of(stage: Stage, branch: str = BRANCH, draft: bool = True) -> PullFacts:
    repository = stage.ports.repository
    sha = await repository.commit(stage.repo, await new_commit(stage))
    await repository.create_branch(stage.repo, branch, sha)
    return await stage.ports.pulls.open(stage.repo, NewPull("Fix add", "Text", branch, "main", draft))


def check_of(head: str) -> CheckState:
    buttons = (Button("Approve", "Let it pass", "approve"), Button("Reject", "Stop it", "reject"))
    return CheckState("seconder/quality", head, "q:1", "action_required", "Waits", "For two", "", buttons)
