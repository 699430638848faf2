"""The step that looks at the repository once, so that every role starts from the same map."""

from __future__ import annotations

from agents.board import Guidance, RepoMap
from handlers import configs
from handlers.ports import Commit
from handlers.work import Work


async def run(work: Work) -> Commit:
    """Write `repo_map` for the run's base commit."""
    found = await work.context.workspaces.survey(work.run.repo, work.run.base_sha)
    hidden = configs.veil(await configs.of(work.context, work.run.repo))
    value = RepoMap(
        base_sha=work.run.base_sha,
        default_branch=work.run.default_branch,
        listing="\n".join(path for path in found.paths if not hidden.hides(path)),
        files=found.files,
        test_command=found.test_command,
        test_command_source=found.test_command_source,
        outline="\n".join(text for path, text in found.outline if not path or not hidden.hides(path)),
        customs=found.customs,
        unseen=found.unseen,
        sign_off=found.sign_off,
        guidance=tuple(Guidance(path=path, text=text) for path, text in found.guidance if not hidden.hides(path)),
    )
    return work.done(work.entry("repo_map", value))
