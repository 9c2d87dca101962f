"""Name -> Measure. Listing the measures imports none of them, nor TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pgdl_measures.base import CHAIN, IMAGES, INITIAL, Measure, Subject
from pgdl_measures.errors import PgdlError, UnknownNameError

if TYPE_CHECKING:
    import tensorflow as tf

_measures: dict[str, Measure] = {}


def register(measure: Measure) -> None:
    """Adds a measure; a name is given once."""
    if measure.name in _measures:
        raise PgdlError(f"there is a measure named {measure.name!r} already")
    _measures[measure.name] = measure


def measures() -> list[Measure]:
    """All registered measures, in the order of their families."""
    return list(_measures.values())


def complexity(name: str, **options: Any) -> Measure:
    """The measure of that name: a function `complexity(model, dataset) -> float`."""
    if name not in _measures:
        raise UnknownNameError("measure", name, _measures)
    return _measures[name].with_options(**options) if options else _measures[name]


def complexities(
    names: Sequence[str], **options: Any
) -> Callable[[tf.keras.Model, tf.data.Dataset], dict[str, float]]:
    """Several measures at once; what they have in common is computed once.

    Each option is given to the measures that have it.
    """
    chosen = [complexity(name) for name in names]
    max_bytes = options.pop("max_bytes", None)
    for option in options:
        if not any(option in measure.defaults() for measure in chosen):
            known = {known for measure in chosen for known in measure.defaults()}
            raise UnknownNameError("option", option, known)
    chosen = [
        m.with_options(**{k: v for k, v in options.items() if k in m.defaults()}) for m in chosen
    ]

    def compute(model: tf.keras.Model, dataset: tf.data.Dataset) -> dict[str, float]:
        subject = Subject(model, dataset, max_bytes=max_bytes)
        return {measure.name: measure.on(subject) for measure in chosen}

    return compute


def _register_response() -> None:
    words = {
        "gi": "Gi-score of the {} mixup curve at {}",
        "pal": "Pal-score (negated) of the {} mixup curve at {}",
        "mean_accuracy": "mean accuracy (negated) of the {} mixup curve at {}",
    }
    target = "pgdl_measures.response:response"
    for statistic, summary in words.items():
        for pairing in ("intra", "inter"):
            for layer, where in enumerate(("the input", "the first layer's output")):
                register(
                    Measure(
                        f"{statistic}_{pairing}_l{layer}",
                        summary.format(f"{pairing}-class", where),
                        target,
                        {"statistic": statistic, "pairing": pairing, "layer": layer},
                        needs=(CHAIN,) if layer else (),
                    )
                )
    for name, layer, where in (
        ("mixup", 0, "inputs"),
        ("manifold_mixup", 1, "first-layer outputs"),
    ):
        register(
            Measure(
                name,
                f"accuracy (negated) on the means of two {where} of one class",
                target,
                {
                    "statistic": "end_point",
                    "pairing": "intra",
                    "layer": layer,
                    "magnitudes": (0.5,),
                },
                needs=(CHAIN,) if layer else (),
            )
        )


def _register_contre() -> None:
    words = {
        "gap": "accuracy on the training data less that on contrastive examples",
        "accuracy": "accuracy (negated) on contrastive examples",
        "fisher": "Fisher ratio (negated) of the features of contrastive examples",
    }
    for statistic, summary in words.items():
        target = f"pgdl_measures.contre:{statistic}"
        needs = (IMAGES, CHAIN) if statistic == "fisher" else (IMAGES,)
        register(Measure(f"contre_{statistic}", summary, target, needs=needs))
    for name, operation, what in (
        ("center_crop", "CenterCrop", "the enlarged middles of the training images"),
        ("random_crop", "RandomCrop", "randomly shifted training images"),
        ("random_flip", "RandomFlip", "randomly mirrored training images"),
        ("random_rotation", "RandomRotation", "randomly rotated training images"),
    ):
        register(
            Measure(
                f"contre_{name}",
                f"accuracy (negated) on {what}",
                "pgdl_measures.contre:accuracy",
                {"operations": (operation,), "count": 1, "magnitude": 30.0},
                needs=(IMAGES,),
            )
        )


def _register_adversarial() -> None:
    register(
        Measure(
            "adversarial_pvalue",
            "evidence, by adversarial translations, that the model depends on its training data",
            "pgdl_measures.adversarial.measure:adversarial_pvalue",
            needs=(IMAGES,),
        )
    )


def register_invariance(perturbation: str, words: str, where: str = "") -> None:
    """The measures of a perturbation; `where` is `module:name` for one that a module registers."""
    for name, function, summary in (
        ("gi", "gi", f"Gi-score of the response curve of {words}"),
        ("mean_accuracy", "mean_accuracy", f"mean accuracy (negated) under {words}"),
        ("augmented_accuracy", "augmented", f"accuracy (negated) under random {words}"),
    ):
        register(
            Measure(
                f"{name}_{perturbation}",
                summary,
                f"pgdl_measures.invariance:{function}",
                {"perturbation": where or perturbation},
                needs=(IMAGES,),
            )
        )


def _register_invariance() -> None:
    """Section 4.2 of paper 000, and two more perturbations."""
    for perturbation, words in (
        ("rotation", "rotation by up to 180 degrees"),
        ("rotation90", "rotation by up to 90 degrees"),
        ("translation_x", "horizontal translation"),
        ("translation_y", "vertical translation"),
        ("colour_jitter", "colour jitter"),
        ("noise", "Gaussian noise"),
        ("intensity", "scaling of the intensity"),
    ):
        register_invariance(perturbation, words)


def _register_norms() -> None:
    """The 24 measures of paper 003, by module."""
    words: dict[str, dict[str, tuple[str, ...]]] = {
        "output": {
            "params": ("number of weights",),
            "inverse_margin": ("inverse of the output margin",),
        },
        "spectral_measures": {
            "log_spec_init_main": ("margin bound: spectral norms, distance from init", INITIAL),
            "log_spec_orig_main": ("margin bound: spectral norms, distance from zero",),
            "log_prod_of_spec_over_margin": ("product of spectral norms over the margin",),
            "log_prod_of_spec": ("product of spectral norms",),
            "fro_over_spec": ("Frobenius over spectral norms",),
            "log_sum_of_spec_over_margin": ("sum of spectral norms over the margin",),
            "log_sum_of_spec": ("sum of spectral norms",),
        },
        "frobenius": {
            "log_prod_of_fro_over_margin": ("product of Frobenius norms over the margin",),
            "log_prod_of_fro": ("product of Frobenius norms",),
            "log_sum_of_fro_over_margin": ("sum of Frobenius norms over the margin",),
            "log_sum_of_fro": ("sum of Frobenius norms",),
            "fro_dist": ("Frobenius distance from initialization", INITIAL),
            "dist_spec_init": ("spectral distance from initialization", INITIAL),
            "param_norm": ("norm of all kernels",),
        },
        "path": {
            "path_norm_over_margin": ("path norm over the margin",),
            "path_norm": ("path norm",),
        },
        "flatness": {
            "pacbayes_init": ("PAC-Bayes bound around the initial weights", INITIAL),
            "pacbayes_orig": ("PAC-Bayes bound around zero",),
            "pacbayes_flatness": ("inverse of the perturbation borne",),
            "pacbayes_mag_init": ("magnitude-aware bound around the initial weights", INITIAL),
            "pacbayes_mag_orig": ("magnitude-aware bound around zero", INITIAL),
            "pacbayes_mag_flatness": ("inverse of the magnitude-aware perturbation borne",),
        },
    }
    for module, measures_of_it in words.items():
        for name, (summary, *needs) in measures_of_it.items():
            if name != "inverse_margin":  # which is of the outputs alone
                needs.append(CHAIN)
            target = f"pgdl_measures.norms.{module}:{name}"
            register(Measure(name, summary, target, needs=tuple(needs)))


def _register_competition() -> None:
    """The starting kit's baselines, then the podium of the competition."""
    for module, name, summary, *needs in (
        ("baselines", "parameter_count", "number of trainable weights"),
        ("baselines", "jacobian_norm", "mean square of the Jacobians at all layers", CHAIN),
        ("baselines", "distance_from_init", "distance of the weights from their start", INITIAL),
        ("sharpness", "sharpness", "worst relative change of weights borne (negated)", CHAIN),
        ("dbi", "dbi", "Davies-Bouldin index of early features", CHAIN),
        ("dbi", "dbi_mixup", "Davies-Bouldin index times mixup errors (1st place)", CHAIN),
        ("perturbed_margin", "mixup_margin", "mean margin (negated) of mixed examples", CHAIN),
        ("perturbed_margin", "augment_margin", "the same of augmented images", IMAGES, CHAIN),
        ("augmentation", "augmentation_penalty", "changes by augmentation (2nd place)", IMAGES),
        ("label_variation", "vpm", "label variation of mixed features (3rd place)", CHAIN),
        ("label_variation", "vr", "change of label variation between layers", CHAIN),
        ("label_variation", "wcv", "largest label variation of the last layers", CHAIN),
    ):
        target = f"pgdl_measures.competition.{module}:{name}"
        register(Measure(name, summary, target, needs=tuple(needs)))


_register_response()
_register_contre()
_register_invariance()
_register_adversarial()
_register_norms()
_register_competition()
