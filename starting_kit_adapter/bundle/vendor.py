"""A private copy of some modules: what they import of us, below a package of its own.

The starting kit *appends* the submission's folder to `sys.path`, so of two packages of one name an
installed one wins; and a worker's process has its own modules loaded already. A bundle therefore
carries its modules below a private package (`pgdl_bundle.pgdl_measures…`) and their imports are
rewritten to it: nothing that is installed can take their place, and they take the place of nothing.

What to copy is found by following the `from … import` statements of the modules, wherever in a
module they stand. The registry's "module:function" strings are not followed, as they name every
measure there is, but they are rewritten too. The data files of a copied package come along. A
user's module is a file of its own, and those beside it that it imports are copied, too.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.bundle.errors import BundleError

if TYPE_CHECKING:
    from typing import TypeGuard  # Python 3.10

PACKAGES = ("pgdl_measures", "ingestion", "scoring", "starting_kit_adapter")

_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the packages
_TARGET = re.compile(rf"({'|'.join(PACKAGES)})\.[\w.]+:\w+")


def vendored(modules: Iterable[str], package: str) -> dict[str, bytes]:
    """The files of `package`: these modules and all that is copied with them, by path."""
    files = {f"{package}/__init__.py": b'"""A copy of modules of pgdl-measures, made by pgdl."""\n'}
    found = closure(modules)
    for name, path in found.items():
        source = _rewritten(path.read_text(encoding="utf-8"), package, set(found))
        folder = f"{package}/{name.replace('.', '/')}"
        if path.name == "__init__.py":
            files[f"{folder}/__init__.py"] = source.encode()
            for data in _data_files(path.parent):
                files[f"{folder}/{data.name}"] = data.read_bytes()
        else:
            files[f"{folder}.py"] = source.encode()
    return files


def closure(modules: Iterable[str]) -> dict[str, Path]:
    """The modules, their packages and everything to be copied that these import, with files."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        path = _file(name)
        if path is None:
            raise BundleError(
                f"{name!r} is no module of {', '.join(PACKAGES)}, nor a file {name}.py of your "
                "own; modules of other packages are not bundled"
            )
        found[name] = path
        waiting += _imports(path, is_users=not is_ours(name))
        if "." in name:
            waiting.append(name.rpartition(".")[0])
    return found


def is_ours(module: str) -> bool:
    """Whether a module is part of this toolkit; else it is a user's."""
    return module.partition(".")[0] in PACKAGES


def _file(module: str) -> Path | None:
    if is_ours(module):
        path = _ROOT.joinpath(*module.split("."))
        candidates = (path / "__init__.py", path.with_suffix(".py"))
        return next((candidate for candidate in candidates if candidate.is_file()), None)
    spec = None if "." in module else importlib.util.find_spec(module)
    if spec is None or not spec.has_location or spec.submodule_search_locations is not None:
        return None
    return Path(spec.origin or "")


def _data_files(package: Path) -> list[Path]:
    """What a package has beside modules: templates, styles, tables."""
    return [
        path
        for path in package.iterdir()
        if path.is_file()
        and path.suffix not in (".py", ".pyc", ".typed")
        and not path.name.startswith(".")
    ]


def _imports(path: Path, is_users: bool) -> Iterator[str]:
    """What a file imports that is copied with it: of ours, and of what is beside a user's file."""

    def is_copied(module: str) -> bool:
        return is_ours(module) or (is_users and (path.parent / f"{module}.py").is_file())

    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            copied = [alias.name for alias in node.names if is_copied(alias.name)]
            if copied and (len(node.names) > 1 or "." in copied[0]):
                raise BundleError(
                    f"{path}:{node.lineno}: only `from … import` and `import` of one name without "
                    "dots can be bundled"
                )
            yield from copied
        if isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise BundleError(f"{path}:{node.lineno}: a relative import cannot be bundled")
            if is_copied(node.module):
                yield node.module
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name for name in names if _file(name))


def _rewritten(source: str, package: str, copied: Container[str]) -> str:
    lines = source.splitlines(keepends=True)

    def prefix(line: int, name: str, before: str) -> None:
        lines[line - 1] = lines[line - 1].replace(before + name, f"{before}{package}.{name}", 1)

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in copied:
            prefix(node.lineno, str(node.module), "from ")
        elif isinstance(node, ast.Import) and node.names[0].name in copied:
            name = node.names[0].name
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line.replace(
                f"import {name}", f"from {package} import {name}", 1
            )
        elif isinstance(node, ast.Constant) and _is_target(node.value):
            prefix(node.lineno, node.value, '"')
    return "".join(lines)


def _is_target(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _TARGET.fullmatch(value) is not None
