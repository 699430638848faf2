"""What a project says about itself in pyproject.toml, setup.cfg or setup.py; nothing of it is run.

Sources: the "pyproject.toml specification" and "Dependency Groups" pages of the Python packaging user guide (PEP 621,
PEP 735), Poetry's "The pyproject.toml file", uv's "Dependency sources", setuptools' "Configuring setuptools using
setup.cfg files". Of a setup.py only what is written out literally is known.
"""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Mapping

from infra.dependencies import poetry
from infra.dependencies.about import Listed, Metadata, listed, normal, table
from infra.dependencies.found import Found, Tree

_VERSION = re.compile(r"""^(?:__version__|version|VERSION)\b(?:[^=\n]*=)+\s*['"]([^'"\n]{1,60})['"]""", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?\Z")


def read(tree: Tree, found: Found) -> Metadata | None:
    """What the project's files say, the first of pyproject.toml, setup.cfg and setup.py that names it counting most."""
    given = [one for one in (_pyproject(tree, found), _setup_cfg(tree, found), _setup_py(tree, found)) if one]
    if not given:
        return None
    first = next((one for one in given if one.dependencies is not None), given[0])
    return Metadata(
        where=first.where,
        name=next((one.name for one in given if one.name), ""),
        version=next((one.version for one in given if one.version), ""),
        requires_python=next((one.requires_python for one in given if one.requires_python), ""),
        dependencies=first.dependencies,
        extras=next((one.extras for one in given if one.extras), {}),
        groups=given[0].groups,
        entry_points=next((one.entry_points for one in given if one.entry_points), ()),
        roots=next((one.roots for one in given if one.roots), ()),
        elsewhere=given[0].elsewhere,
    )


def toml(tree: Tree, path: str, found: Found) -> Mapping[str, object] | None:
    """A TOML file of the repository; None without it, and when it cannot be read, which is noted."""
    text = tree.read(path) if path in tree.paths else None
    if text is None:
        return None
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found.refuse(path, str(error) or type(error).__name__, "not valid TOML")
        return None


def _pyproject(tree: Tree, found: Found) -> Metadata | None:
    where = "pyproject.toml"
    whole = toml(tree, where, found)
    if whole is None:
        return None
    project, tool = table(whole.get("project")), table(whole.get("tool"))
    groups = {normal(name): listed(one) for name, one in table(whole.get("dependency-groups")).items()}
    uv = table(tool.get("uv"))
    if "dev-dependencies" in uv:
        groups["dev"] = (*groups.get("dev", ()), *listed(uv["dev-dependencies"]))
    setuptools = table(tool.get("setuptools"))
    found_in = table(table(setuptools.get("packages")).get("find"))
    roots = _roots(table(setuptools.get("package-dir")), listed(found_in.get("where")))
    if not project and "poetry" in tool:
        return poetry.read(table(tool["poetry"]), groups)
    dynamic = {str(one) for one in listed(project.get("dynamic"))}
    return Metadata(
        where=where,
        name=_name(project.get("name")),
        version=_text(project.get("version")) or _dynamic_version(tree, whole),
        requires_python=_text(project.get("requires-python")),
        dependencies=None if not project or "dependencies" in dynamic else listed(project.get("dependencies")),
        extras=_lists(project.get("optional-dependencies")),
        groups=groups,
        entry_points=_entry_points(project),
        roots=roots,
        elsewhere=_sources(table(uv.get("sources"))),
    )


def _sources(sources: Mapping[str, object]) -> dict[str, str]:
    """Packages that uv is told to take from a place of their own."""
    kinds = {"git": "version control", "url": "a URL", "path": "a path", "workspace": "a workspace"}
    found = {}
    for name, given in sources.items():
        keys = {key for one in (given if isinstance(given, list) else [given]) for key in table(one)}
        kind = next((word for key, word in kinds.items() if key in keys), "an index of its own")
        found[normal(name)] = f"tool.uv.sources takes it from {kind}"
    return found


def _entry_points(project: Mapping[str, object]) -> tuple[tuple[str, str, str], ...]:
    groups = {
        "console_scripts": table(project.get("scripts")),
        "gui_scripts": table(project.get("gui-scripts")),
        **{group: table(one) for group, one in table(project.get("entry-points")).items()},
    }
    return tuple(
        (group, name, target)
        for group, entries in sorted(groups.items())
        for name, target in sorted(entries.items())
        if isinstance(target, str)
    )


def _dynamic_version(tree: Tree, whole: Mapping[str, object]) -> str:
    """A version that stands in one of the project's own files: where the build tool is told to look, or usually."""
    tool = table(whole.get("tool"))
    setuptools = table(table(table(tool.get("setuptools")).get("dynamic")).get("version"))
    hatch = table(table(tool.get("hatch")).get("version"))
    paths = [_text(hatch.get("path")), *(str(one) for one in listed(setuptools.get("file")))]
    attribute = _text(setuptools.get("attr"))
    if "." in attribute:
        module = attribute.rpartition(".")[0].replace(".", "/")
        paths += [f"{root}{module}{end}" for root in ("", "src/") for end in (".py", "/__init__.py")]
    scm, hooks = table(tool.get("setuptools_scm")), table(table(table(tool.get("hatch")).get("build")).get("hooks"))
    paths += [_text(one) for one in (scm.get("version_file"), scm.get("write_to"))]
    paths.append(_text(table(hooks.get("vcs")).get("version-file")))
    named = _text(table(table(tool.get("flit")).get("module")).get("name"))
    module = named or normal(_text(table(whole.get("project")).get("name"))).replace("-", "_")
    ends = ("__init__.py", "_version.py", "version.py", "__about__.py")
    paths += [f"{root}{module}/{end}" for root in ("", "src/") for end in ends if module]
    return _first_version(tree, paths)


def _first_version(tree: Tree, paths: list[str]) -> str:
    for path in paths:
        text = tree.read(path) if path in tree.paths else None
        match = _VERSION.search(text) if text else None
        if match is not None:
            return match[1]
        if text and len(text) < 60 and re.match(r"\d[\w.+!-]*\s*\Z", text):
            return text.strip()
    return ""


def _setup_cfg(tree: Tree, found: Found) -> Metadata | None:
    where = "setup.cfg"
    text = tree.read(where) if where in tree.paths else None
    if text is None:
        return None
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        found.refuse(where, error, "not a valid configuration file")
        return None
    options = dict(parser["options"]) if parser.has_section("options") else {}
    about = dict(parser["metadata"]) if parser.has_section("metadata") else {}
    if not options and not about:
        return None
    extras = dict(parser["options.extras_require"]) if parser.has_section("options.extras_require") else {}
    version = about.get("version", "")
    if version.startswith("attr:"):
        module = version.removeprefix("attr:").strip().rpartition(".")[0].replace(".", "/")
        ends = (".py", "/__init__.py")
        version = _first_version(tree, [f"{root}{module}{end}" for root in ("", "src/") for end in ends])
    folders = dict(line.partition("=")[::2] for line in _lines(options.get("package_dir", "")))
    return Metadata(
        where=where,
        name=_name(about.get("name", "")),
        version="" if version.startswith("file:") else version,
        requires_python=options.get("python_requires", ""),
        dependencies=_lines(options["install_requires"]) if "install_requires" in options else None,
        extras={normal(name): _lines(lines) for name, lines in extras.items()},
        entry_points=_ini_entry_points(parser),
        roots=_roots({key.strip(): one.strip() for key, one in folders.items()}, ()),
    )


def _ini_entry_points(parser: configparser.RawConfigParser) -> tuple[tuple[str, str, str], ...]:
    section = dict(parser["options.entry_points"]) if parser.has_section("options.entry_points") else {}
    pairs = [(group, line.partition("=")) for group, lines in sorted(section.items()) for line in _lines(lines)]
    return tuple((group, name.strip(), target.strip()) for group, (name, _, target) in pairs if target)


def _setup_py(tree: Tree, found: Found) -> Metadata | None:
    where = "setup.py"
    text = tree.read(where) if where in tree.paths else None
    if text is None:
        return None
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found.refuse(where, where, "cannot be parsed")
        return None
    names = {
        target.id: _literal(node.value, {})
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and _called(node) == "setup"]
    if not calls:
        return None
    given = {word.arg: _literal(word.value, names) for word in calls[-1].keywords if word.arg}
    if "install_requires" in given and given["install_requires"] is None:
        found.refuse(where, "install_requires", "not written out, and setup.py is not run")
    extras = {normal(name): listed(one) for name, one in table(given.get("extras_require")).items()}
    if "tests_require" in given:
        extras.setdefault("tests", listed(given["tests_require"]))
    points = table(given.get("entry_points"))
    pairs = [(group, str(line).partition("=")) for group, lines in points.items() for line in listed(lines)]
    return Metadata(
        where=where,
        name=_name(given.get("name")),
        version=_text(given.get("version")),
        requires_python=_text(given.get("python_requires")),
        dependencies=listed(given["install_requires"]) if given.get("install_requires") is not None else None,
        extras=extras,
        entry_points=tuple((group, name.strip(), target.strip()) for group, (name, _, target) in pairs if target),
        roots=_roots(table(given.get("package_dir")), ()),
    )


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal(node: ast.expr, names: Mapping[str, object]) -> object:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value


def _roots(folders: Mapping[str, object], where: Listed) -> tuple[str, ...]:
    """Plain folders that packages are below; the root and src are looked in anyway."""
    named = [folders.get(""), *where]
    plain = [one.strip("/").removeprefix("./") for one in named if isinstance(one, str)]
    return tuple(one for one in plain if re.match(r"[A-Za-z0-9_][\w.-]*\Z", one) and one not in ("src", ".."))


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#"))


def _lists(value: object) -> dict[str, Listed]:
    return {normal(name): listed(one) for name, one in table(value).items()}


def _name(value: object) -> str:
    return value if isinstance(value, str) and _NAME.match(value) else ""


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
