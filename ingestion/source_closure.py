"""The source files that a module's results depend on: its own, and all that it imports of ours.

Imports are read from the source, wherever in a module they stand, so nothing is imported here and
lazy imports count. Imports of other libraries are not followed. From a user's module those of its
own package and of the files beside it are. The registry's "module:function" strings are no imports.

A copy of the modules needs their packages as well (`packages=True`). For results the `__init__` of
a package counts only where a name of its own is imported: not for `from package import module`, nor
for a name that it passes on from one of its modules.
"""

from __future__ import annotations

import ast
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pgdl_measures.errors import PgdlError

PACKAGES = ("pgdl_measures", "ingestion", "scoring", "starting_kit_adapter")

TOOLKIT_ROOT = Path(__file__).resolve().parents[1]  # the folder that holds the packages
_INSTALLED = {
    Path(path).resolve()
    for name, path in sysconfig.get_paths().items()
    if name in ("stdlib", "platstdlib", "purelib", "platlib")
}


class ImportStatement(NamedTuple):
    """An import in a module, and what is to be followed of it."""

    node: ast.Import | ast.ImportFrom
    modules: tuple[str, ...]


def closure(modules: Iterable[str], *, packages: bool = False) -> dict[str, Path]:
    """The modules that have a source file, and everything that these import, with their files."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = None if name in found else module_file(name)
        if path is None:
            continue
        found[name] = path
        waiting += [m for statement in import_statements(name, path) for m in statement.modules]
        if packages and "." in name:
            waiting.append(name.rpartition(".")[0])
    return found


def is_ours(module: str) -> bool:
    """Whether a module is part of this toolkit; else it is a user's."""
    return module.partition(".")[0] in PACKAGES


def module_file(module: str) -> Path | None:
    """The source file of a module, if it has one."""
    if is_ours(module):
        return _file_below(TOOLKIT_ROOT, module)
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # a package above it is missing; a module without a spec
        return None
    if spec is None or not spec.has_location or not (spec.origin or "").endswith(".py"):
        return None
    return Path(str(spec.origin))


def import_statements(module: str, path: Path) -> Iterator[ImportStatement]:
    """The imports of a module that name something to be followed, and all relative ones."""
    for node in _imports(path):
        if isinstance(node, ast.Import):
            named = [prefix for alias in node.names for prefix in _prefixes(alias.name)]
        else:
            named = list(_imported_from(node, module, path))
        followed = tuple(name for name in named if _is_followed(name, module, path))
        if followed or (isinstance(node, ast.ImportFrom) and node.level):
            yield ImportStatement(node, followed)


def _imported_from(node: ast.ImportFrom, module: str, path: Path) -> Iterator[str]:
    """`from package import module, name`: the module, and the package because of the name."""
    source = node.module or ""
    if node.level:
        parts = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
        parts = parts[: len(parts) + 1 - node.level]
        source = ".".join([*parts, source] if source else parts)
    if not _is_followed(source, module, path):
        return
    for alias in node.names:
        inner = f"{source}.{alias.name}"
        yield inner if module_file(inner) else _origin(source, alias.name)


def _origin(module: str, name: str) -> str:
    """Where one of our packages has a name from, if its `__init__` only passes it on."""
    path = module_file(module) if is_ours(module) else None
    if path is not None and path.name == "__init__.py":
        for node in _imports(path):
            if isinstance(node, ast.ImportFrom) and name in {
                a.asname or a.name for a in node.names
            }:
                return node.module or module
    return module


def _is_followed(name: str, module: str, path: Path) -> bool:
    """Whether what `module`, the file `path`, imports as `name` is code of ours or of its user."""
    if is_ours(name) or is_ours(module):
        return is_ours(name)
    top = name.partition(".")[0]
    if top == module.partition(".")[0]:
        return True
    depth = module.count(".") + (path.name == "__init__.py")
    folder = path.resolve().parents[depth]
    return folder not in _INSTALLED and _file_below(folder, top) is not None


def _file_below(folder: Path, module: str) -> Path | None:
    path = folder.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _prefixes(name: str) -> list[str]:
    """`a.b` makes a package known by its own name, too: `a`, `a.b`."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _imports(path: Path) -> list[ast.Import | ast.ImportFrom]:
    try:
        return _import_nodes(path.read_bytes())
    except (SyntaxError, ValueError) as error:  # a user's, imported by a module that runs
        raise PgdlError(f"{path} cannot be read as Python code: {error}") from error


@cache
def _import_nodes(source: bytes) -> list[ast.Import | ast.ImportFrom]:
    nodes = ast.walk(ast.parse(source))
    return [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
