"""How the processes write their logs: one line an event to standard error, JSON where no person looks."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog


def configure(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Set structlog up for this process. `stream` None: standard error."""
    out = stream if stream is not None else sys.stderr
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if out.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
