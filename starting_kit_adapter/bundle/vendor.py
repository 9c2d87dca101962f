"""A private copy of some of our modules: what they import of us, below a package of its own.

The starting kit *appends* the submission's folder to `sys.path`, so of two packages of one name an
installed one wins; and a worker's process has its own modules loaded already. A bundle therefore
carries its modules below a private package (`pgdl_bundle.pgdl_measures…`) and their imports are
rewritten to it: nothing that is installed can take their place, and they take the place of nothing.

What to copy is found by following the `from … import` statements of the modules, wherever in a
module they stand. The registry's "module:function" strings are not followed, as they name every
measure there is, but they are rewritten too. The data files of a copied package come along.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.bundle.errors import BundleError

if TYPE_CHECKING:
    from typing import TypeGuard  # Python 3.10

PACKAGES = ("pgdl_measures", "ingestion", "scoring", "starting_kit_adapter")

_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the packages
_TARGET = re.compile(rf"({'|'.join(PACKAGES)})\.[\w.]+:\w+")


def vendored(modules: Iterable[str], package: str) -> dict[str, bytes]:
    """The files of `package`: these modules and all of ours that they import, by path."""
    files = {f"{package}/__init__.py": b'"""A copy of modules of pgdl-measures, made by pgdl."""\n'}
    for path in closure(modules).values():
        source = _rewritten(path.read_text(encoding="utf-8"), package)
        files[f"{package}/{path.relative_to(_ROOT).as_posix()}"] = source.encode()
        if path.name == "__init__.py":
            for data in _data_files(path.parent):
                files[f"{package}/{data.relative_to(_ROOT).as_posix()}"] = data.read_bytes()
    return files


def closure(modules: Iterable[str]) -> dict[str, Path]:
    """The modules, their packages and everything of ours that these import, with their files."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        path = _file(name)
        if path is None:
            raise BundleError(f"there is no module {name!r} among {', '.join(PACKAGES)}")
        found[name] = path
        waiting += _imports(path)
        if "." in name:
            waiting.append(name.rpartition(".")[0])
    return found


def _file(module: str) -> Path | None:
    path = _ROOT.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _data_files(package: Path) -> list[Path]:
    """What a package has beside modules: templates, styles, tables."""
    return [
        path
        for path in package.iterdir()
        if path.is_file() and path.suffix not in (".py", ".pyc") and not path.name.startswith(".")
    ]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) and any(_is_ours(alias.name) for alias in node.names):
            raise BundleError(f"{path}:{node.lineno}: only `from … import` can be bundled")
        if isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise BundleError(f"{path}:{node.lineno}: a relative import cannot be bundled")
            if _is_ours(node.module):
                yield node.module
                names = (f"{node.module}.{alias.name}" for alias in node.names)
                yield from (name for name in names if _file(name))


def _rewritten(source: str, package: str) -> str:
    lines = source.splitlines(keepends=True)

    def prefix(line: int, name: str, before: str) -> None:
        lines[line - 1] = lines[line - 1].replace(before + name, f"{before}{package}.{name}", 1)

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            prefix(node.lineno, node.module, "from ")
        elif isinstance(node, ast.Constant) and _is_target(node.value):
            prefix(node.lineno, node.value, '"')
    return "".join(lines)


def _is_target(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _TARGET.fullmatch(value) is not None


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES
