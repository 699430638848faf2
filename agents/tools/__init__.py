"""The tools that roles can be given, written out once; one file each."""

from __future__ import annotations

from typing import Any

from agents.tools import (
    apply_patch,
    delete_file,
    edit_file,
    list_directory,
    read_file,
    run_linter,
    run_tests,
    search_codebase,
    shell,
    show_diff,
    write_file,
)
from agents.tools.tool import Tool

TOOLS: tuple[Tool[Any], ...] = (
    read_file.TOOL,
    list_directory.TOOL,
    search_codebase.TOOL,
    edit_file.TOOL,
    apply_patch.TOOL,
    write_file.TOOL,
    delete_file.TOOL,
    shell.TOOL,
    run_tests.TOOL,
    run_linter.TOOL,
    show_diff.TOOL,
)
