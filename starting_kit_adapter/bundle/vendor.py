"""A private copy of some modules, with what they import of the toolkit, in a package of its own.

The starting kit *appends* the submission's folder to `sys.path`, so an installed
package of the same name would be imported instead, and a worker has loaded its own modules already.
A bundle therefore has its modules in a private package (`pgdl_bundle.pgdl_measures…`), and their
imports are rewritten to it: they neither replace installed packages nor are replaced by them.

`ingestion.source_closure` finds what to copy. The registry's "module:function" strings are not
followed, because they name every measure there is, but they are rewritten as well. The data files
of a copied package are copied, and so are the files beside a user's module that it imports.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Container, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ingestion.source_closure import PACKAGES, closure, import_statements, is_ours
from starting_kit_adapter.bundle.errors import BundleError

if TYPE_CHECKING:
    from typing import TypeGuard  # Python 3.10

_TARGET = re.compile(rf"({'|'.join(PACKAGES)})\.[\w.]+:\w+")


def vendored(modules: Iterable[str], package: str) -> dict[str, bytes]:
    """The files of `package`: these modules and all that is copied with them, by path."""
    files = {f"{package}/__init__.py": b'"""A copy of modules of pgdl-measures, made by pgdl."""\n'}
    found = _checked_closure(modules)
    for name, path in found.items():
        encoding = _encoding(path)
        source = _rewritten(path.read_text(encoding), package, set(found)).encode(encoding)
        folder = f"{package}/{name.replace('.', '/')}"
        if path.name == "__init__.py":
            files[f"{folder}/__init__.py"] = source
            for data in _data_files(path.parent):
                files[f"{folder}/{data.name}"] = data.read_bytes()
        else:
            files[f"{folder}.py"] = source
    return files


def _checked_closure(modules: Iterable[str]) -> dict[str, Path]:
    """All modules to be copied; an error for what cannot be, or whose imports cannot be changed."""
    requested = list(modules)
    found = closure(requested, packages=True)
    for name in [*requested, *found]:
        is_single_file = "." not in name and found.get(name, Path()).name != "__init__.py"
        if name not in found or not (is_ours(name) or is_single_file):
            raise BundleError(
                f"{name!r} is no module of {', '.join(PACKAGES)}, nor a file {name}.py of your "
                "own; modules of other packages are not bundled"
            )
    for name, path in found.items():
        for node, followed in import_statements(name, path):
            if isinstance(node, ast.ImportFrom) and node.level:
                raise BundleError(f"{path}:{node.lineno}: a relative import cannot be bundled")
            if isinstance(node, ast.Import) and (len(node.names) > 1 or len(followed) > 1):
                raise BundleError(
                    f"{path}:{node.lineno}: only `from … import` and `import` of one name without "
                    "dots can be bundled"
                )
    return found


def _data_files(package: Path) -> list[Path]:
    """What a package has beside modules: templates, styles, tables."""
    return [
        path
        for path in package.iterdir()
        if path.is_file()
        and path.suffix not in (".py", ".pyc", ".typed")
        and not path.name.startswith(".")
    ]


def _encoding(path: Path) -> str:
    """That of a Python file, which a user's own may declare."""
    with path.open("rb") as file:
        return tokenize.detect_encoding(file.readline)[0]


def _rewritten(source: str, package: str, copied: Container[str]) -> str:
    lines = source.split("\n")  # as Python counts them

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
    return "\n".join(lines)


def _is_target(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _TARGET.fullmatch(value) is not None
