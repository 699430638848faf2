"""`seconder config`: look at a repository's settings before they are committed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

config_app = typer.Typer(help="Look at a repository's settings (.github/seconder.yml).", no_args_is_help=True)


@config_app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The file, before or after it is committed.")],
    as_json: Annotated[bool, typer.Option("--json", help="For scripts: JSON on standard output.")] = False,
) -> None:
    """Say what is wrong with a configuration file, by line, and how to put it right. Exit code 1: something is."""
    from handlers.config import Config, ConfigError, Problem, load

    config: Config | None = None
    problems: tuple[Problem, ...] = ()
    try:
        config = load(file.read_bytes())
    except OSError as error:
        typer.echo(f"{file} cannot be read: {error.strerror}", err=True)
        raise typer.Exit(2) from None
    except ConfigError as error:
        problems = error.problems
    if as_json:
        found = {"good": not problems, "problems": [vars(one) for one in problems]}
        typer.echo(json.dumps(found | ({"config": config.model_dump(mode="json")} if config else {}), indent=2))
    else:
        for one in problems:
            typer.echo(f"{file}:{one.line}: {one.key or 'the file'} {one.what}. {one.fix}")
        if not problems:
            typer.echo(f"{file}: nothing wrong")
    raise typer.Exit(1 if problems else 0)


@config_app.command()
def schema() -> None:
    """Print the JSON schema of the file, for editors."""
    from handlers.config import schema as made

    typer.echo(json.dumps(made(), indent=2))
