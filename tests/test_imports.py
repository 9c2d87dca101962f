"""The arrows between packages and rooms, read off every import statement.

Imports inside functions and under `TYPE_CHECKING` count like any other: a module that needs
another one's types cannot be read, moved or vendored without it. Looking up a module by its name
(`pgdl_measures.registry`, the verbs of `pgdl`, the studies) is dispatch and not an import; only a
literal `import_module("…")` is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("pgdl_measures", "ingestion", "scoring", "starting_kit_adapter")
ALLOWED = {
    "starting_kit_adapter": {"ingestion", "pgdl_measures", "scoring"},
    # One room writes run.json and records.jsonl and the other reads them: one schema for both.
    "ingestion": {"pgdl_measures", "scoring.files", "scoring.record"},
    "pgdl_measures": set(),
    "scoring": set(),
}
COMMAND = "starting_kit_adapter.cli"
TERMINAL = "starting_kit_adapter.terminal"


@dataclass(frozen=True)
class Edge:
    """`source` imports `name` of the module `target`, or the module as such."""

    source: str
    target: str
    name: str | None
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}" + (
            f" ({self.name})" if self.name else ""
        )


@dataclass(frozen=True)
class Sources:
    """Modules by dotted name; a package's own name is that of its `__init__`."""

    trees: dict[str, ast.Module]
    packages: frozenset[str]

    def edges(self) -> list[Edge]:
        return [edge for module in self.trees for edge in self._imports(module)]

    def _imports(self, module: str) -> Iterator[Edge]:
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._edge(module, alias.name, None, node.lineno)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(module, node)
                for alias in node.names:
                    yield from self._edge(module, base, alias.name, node.lineno)
            elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield from self._edge(module, first.value, None, node.lineno)

    def _base(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = module if module in self.packages else module.rpartition(".")[0]
        parts = package.split(".")[: len(package.split(".")) - node.level + 1]
        return ".".join([*parts, node.module] if node.module else parts)

    def _edge(self, source: str, base: str, name: str | None, line: int) -> Iterator[Edge]:
        if base.split(".")[0] not in PACKAGES:
            return
        if name is not None and f"{base}.{name}" in self.trees:
            base, name = f"{base}.{name}", None
        yield Edge(source, base, name, line)

    def private_names(self) -> Iterator[str]:
        """Names with a leading underscore that are taken from another module."""
        for edge in self.edges():
            parts = [*edge.target.split("."), *([edge.name] if edge.name else [])]
            if any(map(_is_private, parts)):
                yield str(edge)
        for module, tree in self.trees.items():
            bound = self._modules_bound_in(module)
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and _is_private(node.attr):
                    owner = ast.unparse(node.value)
                    if owner in bound:
                        yield f"{module}:{node.lineno} takes {owner}.{node.attr}"
                elif isinstance(node, ast.Call) and _called(node) == "setattr":
                    owner, name = _replaced(node)
                    if _is_private(name) and (owner in bound or owner in self.trees):
                        yield f"{module}:{node.lineno} replaces {owner}.{name}"

    def _modules_bound_in(self, module: str) -> set[str]:
        """What the source calls the project's modules that it imported."""
        bound = set()
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                bound |= {
                    alias.asname or alias.name
                    for alias in node.names
                    if alias.name.split(".")[0] in PACKAGES
                }
            elif isinstance(node, ast.ImportFrom):
                base = self._base(module, node)
                bound |= {
                    alias.asname or alias.name
                    for alias in node.names
                    if f"{base}.{alias.name}" in self.trees
                }
        return bound

    def rooms(self) -> dict[str, dict[str, set[str]]]:
        """For each package the imports between its files and rooms, as a graph of its own.

        A cycle of modules shows in the graph of the innermost package that holds all of them.
        """
        graphs: dict[str, dict[str, set[str]]] = {package: {} for package in self.packages}
        for edge in self.edges():
            source, target = self._path(edge.source), self._path(edge.target)
            depth = next((i for i, (a, b) in enumerate(zip(source, target)) if a != b), None)
            if depth:  # 0: between packages, which have a test of their own
                graph = graphs[".".join(source[:depth])]
                graph.setdefault(source[depth], set()).add(target[depth])
        return graphs

    def _path(self, module: str) -> list[str]:
        return [*module.split("."), "__init__"] if module in self.packages else module.split(".")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _replaced(node: ast.Call) -> tuple[str, str]:
    """What `setattr(owner, "name", …)` or `monkeypatch.setattr("owner.name", …)` replaces."""
    texts = [a.value if isinstance(a, ast.Constant) else ast.unparse(a) for a in node.args[:2]]
    if isinstance(node.args[0], ast.Constant):
        owner, _, name = str(texts[0]).rpartition(".")
        return owner, name
    return str(texts[0]), str(texts[1])


def _inside(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def _cycle(graph: dict[str, set[str]]) -> list[str] | None:
    """The nodes of one cycle, the first repeated at the end; None if there is none."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str] | None:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return None
        for following in sorted(graph.get(node, ())):
            found = visit(following, [*path, node])
            if found:
                return found
        done.add(node)
        return None

    return next((found for node in sorted(graph) if (found := visit(node, []))), None)


def read_sources(root: Path) -> Sources:
    trees, packages = {}, set()
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
                packages.add(".".join(parts))
            trees[".".join(parts)] = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return Sources(trees, frozenset(packages))


@cache
def project() -> Sources:
    return read_sources(ROOT)


def with_users(sources: Sources, root: Path) -> Sources:
    """Also the files of `tests/` and `benchmarks/`, by their paths."""
    users = {
        str(file.relative_to(root)): ast.parse(file.read_text(encoding="utf-8"), str(file))
        for folder in ("tests", "benchmarks")
        for file in sorted((root / folder).rglob("*.py"))
    }
    return Sources({**sources.trees, **users}, sources.packages)


def wrong_between_packages(sources: Sources) -> list[str]:
    return [
        str(edge)
        for edge in sources.edges()
        if (package := edge.source.split(".")[0]) != edge.target.split(".")[0]
        and not any(_inside(edge.target, allowed) for allowed in ALLOWED[package])
    ]


def wrong_in_adapter(sources: Sources) -> list[str]:
    wrong = []
    for edge in sources.edges():
        if _inside(edge.target, COMMAND) or (
            _inside(edge.source, TERMINAL)
            and _inside(edge.target, "starting_kit_adapter")
            and not _inside(edge.target, TERMINAL)
        ):
            wrong.append(str(edge))
    return wrong


def cycles(sources: Sources) -> list[str]:
    found = {package: _cycle(graph) for package, graph in sources.rooms().items()}
    return [f"{package}: {' -> '.join(cycle)}" for package, cycle in found.items() if cycle]


def test_packages_import_each_other_one_way():
    assert wrong_between_packages(project()) == []


def test_nobody_imports_the_command_and_the_terminal_imports_nothing_of_the_adapter():
    assert wrong_in_adapter(project()) == []


def test_only_the_entry_point_names_the_command():
    named = {
        str(file.relative_to(ROOT))
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        if COMMAND in file.read_text(encoding="utf-8")
    }
    assert named <= {"starting_kit_adapter/cli/main.py"}


def test_no_cycle_between_modules_or_rooms():
    assert cycles(project()) == []


def test_no_private_name_crosses_a_module():
    assert list(with_users(project(), ROOT).private_names()) == []


@pytest.fixture
def house(tmp_path: Path):
    """Writes files by their path and reads them as a project."""

    def build(**files: str) -> Sources:
        for package in PACKAGES:
            (tmp_path / package).mkdir()
            (tmp_path / package / "__init__.py").touch()
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(text)
        return read_sources(tmp_path)

    return build


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scoring__a", "import pgdl_measures.base"),
        ("pgdl_measures__a", "def f():\n    from scoring import cmi"),
        ("ingestion__a", "from scoring import cmi"),
        ("ingestion__b", "from starting_kit_adapter.terminal.text import table"),
        ("scoring__b", "import importlib\nimportlib.import_module('ingestion.corpus')"),
    ],
)
def test_a_wrong_arrow_is_found(house, name, text):
    assert len(wrong_between_packages(house(**{name: text}))) == 1


def test_the_shared_schema_is_no_wrong_arrow(house):
    sources = house(
        scoring__files="", scoring__record="", ingestion__a="from scoring import files, record"
    )
    assert not wrong_between_packages(sources)


def test_an_import_of_the_command_is_found_even_from_the_command(house):
    sources = house(
        starting_kit_adapter__cli__table="",
        starting_kit_adapter__cli__report="from starting_kit_adapter.cli.table import run",
    )
    assert len(wrong_in_adapter(sources)) == 1


def test_a_cycle_of_rooms_without_a_cycle_of_modules_is_found(house):
    sources = house(
        scoring__kit__a="from scoring.report import b",
        scoring__kit__c="",
        scoring__report__b="",
        scoring__report__d="def f():\n    from ..kit import c",
    )
    assert cycles(sources) == ["scoring: kit -> report -> kit"]


def test_a_private_name_is_found_however_it_is_reached(house):
    sources = house(
        scoring__a="_x = 1",
        scoring__b="from scoring.a import _x",
        scoring__c="from scoring import a\nprint(a._x, a.__name__)",
        scoring__d="import scoring.a\nprint(scoring.a._x)",
    )
    assert len(list(sources.private_names())) == 3


@pytest.mark.parametrize(
    "text",
    [
        "from scoring.a import _x",
        "from scoring import a\nprint(a._x)",
        "from scoring import a\ndef test(monkeypatch): monkeypatch.setattr(a, '_x', 2)",
        "def test(monkeypatch): monkeypatch.setattr('scoring.a._x', 2)",
    ],
)
def test_a_private_name_is_found_in_a_test(house, tmp_path, text):
    sources = house(scoring__a="_x = 1")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(text)
    assert len(list(with_users(sources, tmp_path).private_names())) == 1
