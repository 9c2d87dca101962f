"""Digests of values, of files, and of source code by what it computes."""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

_READ = 1 << 20


def digest(value: Any) -> str:
    """A short digest of plain values, as JSON has them."""
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def file_digest(path: Path) -> str:
    """A digest of the bytes of a file."""
    hasher = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(_READ):
            hasher.update(block)
    return hasher.hexdigest()


@cache
def code_digest(source: bytes) -> str:
    """A digest of source code without what changes no value: comments, docstrings, layout, and the
    texts of errors."""
    tree = _Bare().visit(ast.parse(source))
    return digest(ast.unparse(tree))


class _Bare(ast.NodeTransformer):
    """Removes docstrings, and the words of errors that are raised."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):  # a lambda's body is one expression
            node.body = [each for each in body if not _is_text(each)] or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return _Wordless().visit(node)


class _Wordless(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
