"""apply_patch: a unified diff over one or several files, all of it or nothing."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field, field_validator

from agents import patches
from agents.ports import ToolError, Tools
from agents.tools.paths import clean_path
from agents.tools.tool import Changes, Tool

MAX_CHARS = 200_000


class ApplyPatch(Changes):
    """The patch."""

    patch: str = Field(
        max_length=MAX_CHARS,
        description="unified diff: `--- a/path` and `+++ b/path` (/dev/null for a new or a deleted file), then hunks",
    )

    @field_validator("patch")
    @classmethod
    def _readable(cls, patch: str) -> str:
        files_of(patch)
        return patch

    def changed(self) -> tuple[str, ...]:
        """The paths in its headers."""
        return tuple(one.path for one in files_of(self.patch))


def files_of(patch: str) -> tuple[patches.FilePatch, ...]:
    """The files of a patch by their clean paths, each once. Raises `ValueError`."""
    found = tuple(replace(one, path=clean_path(one.path)) for one in patches.parse(patch))
    paths = [one.path for one in found]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} stands in the patch twice: put all of its hunks under one header")
    return found


async def run(tools: Tools, args: ApplyPatch) -> str:
    """Work everything out first, then write; what cannot be written to the end is put back."""
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    for one in files_of(args.patch):
        is_new = one.kind == "create" and not await _exists(tools, one.path)
        before[one.path] = None if is_new else (await tools.read(one.path)).text
        after[one.path] = patches.apply(one, before[one.path])
    done: list[str] = []
    try:
        for path, text in after.items():
            await _set(tools, path, text)
            done.append(path)
    except ToolError as error:
        for path in reversed(done):
            await _set(tools, path, before[path])
        raise ToolError(f"{error}. Nothing was changed") from error
    words = {True: "Deleted", False: "Changed"}
    return "\n".join(
        f"{'Created' if before[path] is None else words[text is None]} {path}." for path, text in after.items()
    )


async def _exists(tools: Tools, path: str) -> bool:
    """Whether something stands at the path, a file that cannot be read as text included."""
    folder, _, name = path.rpartition("/")
    try:
        names = await tools.listing(folder)
    except ToolError:
        return False
    return name in names or f"{name}/" in names


async def _set(tools: Tools, path: str, text: str | None) -> None:
    await (tools.delete(path) if text is None else tools.write(path, text))


TOOL = Tool(
    name="apply_patch",
    description=(
        "Apply a unified diff to one or several files at once, all of it or nothing. Kept and removed lines must stand "
        "in the file exactly so; line numbers only say where to look first. Use it for changes at several places; for "
        "one passage edit_file is simpler."
    ),
    input=ApplyPatch,
    run=run,
    mutates=True,
)
