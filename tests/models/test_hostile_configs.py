"""A configuration never runs code of its own: the known tricks are each refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from models.networks import NETWORKS

from ingestion.errors import CorpusError
from ingestion.model_files.keras_config import checked_config
from ingestion.model_files.keras_graph import build_graph
from ingestion.model_files.models import read_config
from ingestion.run.architecture import architecture

pytestmark = pytest.mark.keras2
HERE = Path("evil.keras")


def _layer(kind: str, module: str | None = "keras.layers", **config: Any) -> dict[str, Any]:
    return {
        "module": module,
        "class_name": kind,
        "config": {"name": "evil", "trainable": True, "dtype": "float32", **config},
        "registered_name": None,
    }


def _model(*layers: dict[str, Any]) -> dict[str, Any]:
    inputs = _layer("InputLayer", batch_shape=[None, 4])
    inputs["config"] = {"batch_shape": [None, 4], "dtype": "float32", "name": "in"}
    return {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "model", "layers": [inputs, *layers]},
    }


def _function(name: str, module: str, registered: str | None = None) -> dict[str, Any]:
    return {
        "module": module,
        "class_name": "function",
        "config": name,
        "registered_name": registered or name,
    }


LAMBDA = {"class_name": "__lambda__", "config": {"value": ["4wAAAA==", None, None]}}
SYSTEM = {
    "module": "os",
    "class_name": "system",
    "config": {"command": "x"},
    "registered_name": None,
}
TRICKS: dict[str, tuple[dict[str, Any], str]] = {
    "Lambda": (_layer("Lambda", function=LAMBDA), "is a Lambda, which could run code"),
    "Lambda of another module": (_layer("Lambda", "keras.src.layers.core.lambda_layer"), "Lambda"),
    "Lambda in a model": (
        {**_model(_layer("Lambda")), "config": {**_model(_layer("Lambda"))["config"], "name": "m"}},
        "layer 1 of layer m is a Lambda",
    ),
    "Lambda in a wrapper": (_layer("TimeDistributed", layer=_layer("Lambda")), "is a Lambda"),
    "Lambda in a list": (_layer("Pipeline", layers=[_layer("Lambda")]), "Lambda|Pipeline"),
    "module os": (SYSTEM | {"config": {"name": "evil"}}, "is a 'system' of 'os'"),
    "module builtins": (_layer("eval", "builtins"), "is a 'eval' of 'builtins'"),
    "a class of another module": (_layer("Dense", "pty", units=2), "'Dense' of 'pty'"),
    "a registered name": (_layer("Dense", units=2) | {"registered_name": "evil>Popen"}, "'Dense'"),
    "keras.utils": (_layer("get_file", "keras.utils", origin="http://x"), "is a 'get_file'"),
    "not a layer of keras.layers": (_layer("deserialize"), "is a 'deserialize'"),
    "TFSMLayer": (_layer("TFSMLayer", filepath="/tmp/x"), "is a TFSMLayer"),
    "TorchModuleWrapper": (_layer("TorchModuleWrapper", module="x"), "is a TorchModuleWrapper"),
    "JaxLayer": (_layer("JaxLayer", call_fn=LAMBDA), "is a JaxLayer"),
    "StringLookup": (_layer("StringLookup", vocabulary="/etc/passwd"), "is a StringLookup"),
    "IntegerLookup": (_layer("IntegerLookup", vocabulary="/etc/passwd"), "is a IntegerLookup"),
    "TextVectorization": (_layer("TextVectorization", vocabulary="/etc/passwd"), "TextVectoriz"),
    "a lambda as activation": (_layer("Dense", units=2, activation=LAMBDA), "__lambda__"),
    "os.system as activation": (
        _layer("Dense", units=2, activation=_function("system", "os")),
        "is the function 'system'",
    ),
    "builtins.eval as activation": (
        _layer("Dense", units=2, activation=_function("eval", "builtins")),
        "is the function 'eval'",
    ),
    "get_file as activation": (
        _layer("Dense", units=2, activation=_function("get_file", "keras.utils")),
        "is the function 'get_file'",
    ),
    "a function of the settings": (
        _layer("Dense", units=2, activation=_function("set_floatx", "keras.config")),
        "is the function 'set_floatx'",
    ),
    "an object as units": (_layer("Dense", units=SYSTEM), "'units' is a 'system' of 'os'"),
    "a type": (_layer("Dense", units=2, dtype=SYSTEM), "'dtype' is .*expected one of"),
    "a typespec": (
        _layer("Dense", units={"class_name": "__typespec__", "config": []}),
        "'__typespec__'",
    ),
    "bytes": (
        _layer("Dense", units={"class_name": "__bytes__", "config": {"value": "x"}}),
        "__bytes__",
    ),
    "a higher operation": (_layer("Map", "keras.src.ops.core", f=SYSTEM), "is a 'Map'"),
    "a module like ours": (_layer("Popen", "keras.src.ops.numpy/../os"), "is a 'Popen'"),
    "a custom class": (_layer("Mine", "custom"), "is a 'Mine'.*--custom MODULE"),
    "TFOpLambda": (
        _layer("TFOpLambda", function="io.write_file"),
        "calls the function 'io.write_file', which is not known",
    ),
    "TFOpLambda by another way": (_layer("TFOpLambda", function="math.add.__class__"), "calls"),
    "a name that leads outside": (_layer("Dense", units=2, name="../../x"), "has the name"),
    "no name": (_layer("Dense", units=2, name=None), "has the name None"),
    "a huge layer": (_layer("Dense", units=10**12), "is 1000000000000, a number that no network"),
    "a huge number": (_layer("Dense", units=10**400), "a number that no network"),
    "infinity": (_layer("Dropout", rate=float("inf")), "'rate' is inf, a number that no network"),
    "no arguments": ({"class_name": "Dense", "config": None}, "has no configuration"),
    "not a layer": (7, "has no configuration; found 7"),  # type: ignore[dict-item]
    "an argument that is none": (_layer("Dense", units=2, wings=3), "'wings' is not an argument"),
    "arguments of the wrong kind": (_layer("Dense", units="many"), "Dense"),
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_is_refused_by_name(trick: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer, message = TRICKS[trick]

    def never(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("ran")

    monkeypatch.setattr("os.system", never)
    monkeypatch.setattr("subprocess.Popen", never)
    monkeypatch.setattr(tf.keras.utils, "get_file", never)
    with pytest.raises(CorpusError, match=message) as caught:
        build_graph(_model(layer), HERE)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 500


def test_layers_of_keras_that_do_no_harm_are_built() -> None:
    checked_config(_model(_layer("Hashing", num_bins=3, dtype="int32")), HERE)
    for kind, arguments in {
        "UnitNormalization": {},
        "GaussianNoise": {"stddev": 0.1},
        "Normalization": {"axis": None, "mean": 1.0, "variance": 4.0},
    }.items():
        build_graph(_model(_layer(kind, **arguments)), HERE)


def test_models_in_models_end_somewhere() -> None:
    model = _model(_layer("Dense", units=2))
    for i in range(200):
        model["config"]["name"] = f"m{i}"
        model = _model(model)
    with pytest.raises(CorpusError, match="more than 64"):
        build_graph(model, HERE)
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(CorpusError, match="more than 64 deep"):
        build_graph(_model(_layer("Reshape", target_shape=deep)), HERE)


GRAPHS = {
    "an unknown input": ([["nowhere", 0, 0]], [["d", 0, 0]], "which is not a layer"),
    "itself": ([["d", 0, 0]], [["d", 0, 0]], "take outputs that do not exist: d"),
    "a call that is not": ([["in", 3, 0]], [["d", 0, 0]], "take outputs that do not exist: d"),
    "an output that is not": ([["in", 0, 5]], [["d", 0, 0]], "take outputs that do not exist: d"),
    "no end": ([["in", 0, 0]], [["d", 4, 0]], "names inputs or outputs that no layer has"),
    "an unknown end": ([["in", 0, 0]], [["x", 0, 0]], "does not build|no layer has"),
    "numbers that are none": (
        [["in", "x", 0]],
        [["d", 0, 0]],
        "expected \\[layer, call, output\\]",
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_that_is_none_is_refused(name: str) -> None:
    taken, ends, message = GRAPHS[name]
    inputs = _model()["config"]["layers"][0] | {"inbound_nodes": []}
    tensors = [{"class_name": "__keras_tensor__", "config": {"keras_history": t}} for t in taken]
    dense = _layer("Dense", units=2, name="d") | {
        "inbound_nodes": [{"args": tensors, "kwargs": {}}]
    }
    config = {
        "name": "f",
        "layers": [inputs, dense],
        "input_layers": [["in", 0, 0]],
        "output_layers": ends,
    }
    with pytest.raises(CorpusError, match=message):
        build_graph({"class_name": "Functional", "config": config}, HERE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ('{"model_config": [], "input_shape": ' + "9" * 10_000 + "}", "is not JSON"),
        ('{"model_config": [], "model_config": [], "input_shape": []}', "occurs twice"),
        ('{"input_shape": [4]}', "has no `model_config`"),
        ('{"input_shape": [4], "model_config": [], "keras_config": {}}', "or both"),
        ("\ud800", "is not JSON"),
        ("", "is not JSON"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(CorpusError, match=message):
        read_config(path)
    assert architecture(tmp_path)  # the planner goes on


@pytest.mark.parametrize(
    "config",
    [
        {"keras_config": 5, "input_shape": [4]},
        {"keras_config": {"class_name": "Sequential", "config": []}, "input_shape": [4]},
        {"keras_config": {"class_name": "Functional", "config": {"layers": 5}}, "input_shape": [4]},
        {"keras_config": {"class_name": {}, "config": {"layers": []}}, "input_shape": [4]},
        {"keras_config": {"class_name": "Evil", "config": {"layers": []}}, "input_shape": [4]},
        {"keras_config": None, "input_shape": None},
    ],
)
def test_other_values_cost_the_model_only(tmp_path: Path, config: dict[str, Any]) -> None:
    from ingestion.model_files.models import load_model

    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(CorpusError):
        load_model(tmp_path)
    assert architecture(tmp_path)


def test_models_alike_but_for_names_and_dropout_share_an_architecture(tmp_path: Path) -> None:
    from ingestion.model_files.any_model import read_model

    digests = []
    for i in range(2):
        model = NETWORKS["nested"]()
        model.layers[-3].rate = 0.1 * i
        model.save(tmp_path / f"{i}.keras")
        (tmp_path / str(i)).mkdir()
        config = read_model(tmp_path / f"{i}.keras")[0]
        (tmp_path / str(i) / "config.json").write_text(json.dumps(config))
        digests.append(architecture(tmp_path / str(i)))
    other = json.dumps(config).replace('"Conv2D"', '"DepthwiseConv2D"')
    (tmp_path / "0" / "config.json").write_text(other)
    assert digests[0] == digests[1] != architecture(tmp_path / "0")
