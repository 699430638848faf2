"""The tools that roles can be given, written out once; one file each."""

from __future__ import annotations

from typing import Any

from agents.tools import (
    delete_file,
    edit_file,
    list_directory,
    read_file,
    run_tests,
    search_codebase,
    show_diff,
    write_file,
)
from agents.tools.tool import Tool

TOOLS: tuple[Tool[Any], ...] = (
    read_file.TOOL,
    list_directory.TOOL,
    search_codebase.TOOL,
    edit_file.TOOL,
    write_file.TOOL,
    delete_file.TOOL,
    run_tests.TOOL,
    show_diff.TOOL,
)
