"""When the App is installed, removed or suspended, and when a repository moves: its open runs learn of it."""

from __future__ import annotations

from collections.abc import Callable

from handlers.context import Context
from handlers.events import Event, InstallationChanged, RepositoryMoved
from handlers.ports import Later, RunFacts, Unknown
from handlers.sweep import settle


async def installation_changed(context: Context, event: Event) -> None:
    """What was granted is asked for anew, and the installation's open runs are compared with GitHub."""
    changed = InstallationChanged.model_validate(event.data)
    context.github.installations.forget(changed.installation)
    named = {repo.id for repo in changed.repositories}
    await _settle(context, lambda run: run.repo.installation == changed.installation or run.repo.id in named)


async def repository_moved(context: Context, event: Event) -> None:
    """The repository's open runs are compared with GitHub: they go on under the new name, or end with the reason."""
    moved = RepositoryMoved.model_validate(event.data)
    await _settle(context, lambda run: run.repo.id == moved.repo.id)


async def _settle(context: Context, concerned: Callable[[RunFacts], bool]) -> None:
    """Raises `Later` or `Unknown` when a run could not be compared for now, so that the event comes again."""
    runs = [await context.store.runs.facts(run) for run in await context.store.open_runs.open()]
    settled = await settle(context, [run for run in runs if run is not None and concerned(run)], sure=True)
    for error in settled.errors:
        if isinstance(error, Later | Unknown):
            raise error
