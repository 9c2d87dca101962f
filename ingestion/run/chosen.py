"""The measures that a user chose: by name, all of them, or functions of their own, with options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pgdl_measures.base import IMAGES, INITIAL, Measure
from pgdl_measures.errors import PgdlError, UnknownNameError
from pgdl_measures.own_modules import import_own
from pgdl_measures.registry import complexity, measures


def choose_measures(
    names: Sequence[str],
    options: Mapping[str, Any],
    seed: int | None = None,
    *,
    offers: Collection[str] = (IMAGES, INITIAL),
) -> list[Measure]:
    """Measures by name; each option goes to those that have it, and the seed to those that draw.

    `all` is every registered measure that needs no more than `offers`; `module:function` is a
    function of the user's with the signature `function(subject, *, option=…) -> float`, named by
    the function. An option that is set to its default is the same as one that is not set.
    """
    chosen: dict[str, Measure] = {}
    for name in names:
        for measure in _all(offers) if name == "all" else [_measure(name)]:
            if chosen.setdefault(measure.name, measure).target != measure.target:
                raise PgdlError(f"two measures are named {measure.name!r}: rename your function")
    if not options and seed is None:  # then no measure's code needs to be imported, nor TensorFlow
        return list(chosen.values())
    defaults = {name: measure.defaults() for name, measure in chosen.items()}
    # An option of a measure that `all` leaves out here is not a mistake.
    others = [m.defaults() for m in measures()] if "all" in names else []
    known = {"max_bytes"}.union(*defaults.values(), *others)
    for option in options:
        if option not in known:
            raise UnknownNameError("option", option, known)
    if seed is not None:
        options = {**options, "seed": seed}
    return [
        measure.with_options(
            **{
                option: value
                for option, value in options.items()
                if option == "max_bytes"
                or (option in defaults[name] and value != defaults[name][option])
            }
        )
        for name, measure in chosen.items()
    ]


def left_out_of_all(offers: Collection[str]) -> str | None:
    """One line on the registered measures that `all` leaves out, by what they need; None: none."""
    groups: dict[str, list[str]] = {}
    for measure in measures():
        missing = [need for need in measure.needs if need not in offers]
        if missing:
            groups.setdefault(" and ".join(missing), []).append(measure.name)
    if not groups:
        return None
    parts = [
        f"{len(names)} that need {what} ({', '.join(names)})" for what, names in groups.items()
    ]
    return f"left out of `all`, because not every model here has what they need: {'; '.join(parts)}"


def _all(offers: Collection[str]) -> list[Measure]:
    return [m for m in measures() if set(m.needs) <= set(offers)]


def _measure(name: str) -> Measure:
    if ":" not in name:
        return complexity(name)
    return _own(name[1:]).negated() if name.startswith("-") else _own(name)


def _own(target: str) -> Measure:
    """A measure in a module of the user's, in the current folder or installed."""
    module, _, function = target.partition(":")
    try:
        imported = import_own(module)
        registered = [measure for measure in measures() if measure.name == function]
        if registered and not hasattr(imported, function):  # such as `gi_blur`
            return registered[0]
        found = getattr(imported, function)
    except (ImportError, AttributeError) as error:
        raise PgdlError(f"there is no measure {target!r}: {error}") from error
    if not callable(found):
        raise PgdlError(f"there is no measure {target!r}: found {found!r}, which is no function")
    summary = ((found.__doc__ or "").strip() or "a measure of yours").splitlines()[0]
    return Measure(function, summary, target)
