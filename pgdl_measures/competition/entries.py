"""Registry entries of the starting kit's baselines and of the competition's first three places."""

from __future__ import annotations

from pgdl_measures.base import IMAGES, INITIAL, Measure

FAMILY = "competition"

_KIT = "PGDL starting kit 2020"
_FIRST = "Natekar and Sharma 2020 (1st place)"
_SECOND = "Aithal et al. 2021 (2nd place)"
_THIRD = "Lassance et al. 2020 (3rd place)"

# module, name, summary, definition, source, needs, cost, use
_ENTRIES: tuple[tuple[str, str, str, str, str, tuple[str, ...], str, str], ...] = (
    (
        *("baselines", "parameter_count", "number of trainable weights"),
        *("number of trainable weights", _KIT, (), "weights"),
        "The baseline that any measure should beat.",
    ),
    (
        *("baselines", "jacobian_norm", "mean square of the Jacobians at all layers"),
        "mean over layers and examples of the mean square of d outputs / d layer input",
        *(_KIT, (), "low", "Sensitivity to small changes, for data without natural perturbations."),
    ),
    (
        *("baselines", "distance_from_init", "distance of the weights from their initial values"),
        *("|w - w^0|_2 of all trainable weights", _KIT, (INITIAL,), "weights"),
        "Like fro_dist, but batch norm is not fused and the number of examples not used.",
    ),
    (
        *(
            "sharpness",
            "sharpness",
            "largest relative weight change (negated) that the network tolerates",
        ),
        "-(largest alpha at which moving each weight by at most alpha |w| costs 0.1 of accuracy)",
        *(f"{_KIT}; Jiang et al. 2020a", (), "medium", "Flatness in the worst direction; slow."),
    ),
    (
        *("dbi", "dbi", "Davies-Bouldin index of early features"),
        "mean_i max_j (S_i + S_j) / M_ij, S the spread of a class, M the distance of two",
        *(_FIRST, (), "low", "How well early features separate the classes; very cheap."),
    ),
    (
        *("dbi", "dbi_mixup", "Davies-Bouldin index times mixup errors"),
        *("DBI (1 - A(0.5))", _FIRST, (), "low", "The measure that won the competition."),
    ),
    (
        *("perturbed_margin", "mixup_margin", "mean margin (negated) of mixed examples"),
        "-mean of (f_y - f_o) / |grad_h (f_y - f_o)|, h the first layer's output, over its spread",
        *(_FIRST, (), "low", "If accuracies on mixed examples are tied."),
    ),
    (
        *("perturbed_margin", "augment_margin", "mean margin (negated) of augmented images"),
        "mixup_margin of mirrored, faded and enlarged images instead of mixed examples",
        *(_FIRST, (IMAGES,), "low", "If accuracies on augmented images are tied."),
    ),
    (
        *("augmentation", "augmentation_penalty", "prediction changes under seven augmentations"),
        "mean over images of the weights of augmentations that change the predicted class",
        *(_SECOND, (IMAGES,), "low", "Images only; one number for seven kinds of change."),
    ),
    (
        *("label_variation", "vpm", "label variation on the graph of mixed features"),
        "median over graphs of tr(Y' L Y) / n, L the Laplacian of nearest neighbours",
        *(_THIRD, (), "low", "How often similar features have different labels."),
    ),
    (
        *("label_variation", "vr", "change of label variation between the last layers"),
        "median over graphs of the mean |difference| of tr(Y' L Y) / n between layers",
        *(_THIRD, (), "low", "For comparison with Lassance et al. 2020; see vpm first."),
    ),
    (
        *("label_variation", "wcv", "largest label variation of the last layers"),
        *("max over the last third of the layers of tr(Y' L Y) / n", _THIRD, (), "low"),
        "For comparison with Lassance et al. 2020; see vpm first.",
    ),
)


def entries() -> list[Measure]:
    """The kit's baselines, then the measures of the first three teams."""
    return [
        Measure(
            name,
            summary,
            f"pgdl_measures.competition.{module}:{name}",
            needs=needs,
            family=FAMILY,
            definition=definition,
            source=source,
            cost=cost,
            use=use,
        )
        for module, name, summary, definition, source, needs, cost, use in _ENTRIES
    ]
