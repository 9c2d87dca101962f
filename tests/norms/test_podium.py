"""The winning measures against scikit-learn, TensorFlow's own operations and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples
from nets import CONV_NET_STARTS, conv_net, dense_net, layers, randomized, subject

from pgdl_measures import MeasureError, complexity
from pgdl_measures.base import Subject
from pgdl_measures.competition import augmentation, dbi, label_variation, perturbed_margin
from pgdl_measures.norms.sampling import sample


def test_the_davies_bouldin_index_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    for classes in (2, 5):
        points, labels = rng.normal(size=(60, 7)), rng.integers(0, classes, 60)
        expected = metrics.davies_bouldin_score(points, labels)
        assert dbi.davies_bouldin(points, labels) == pytest.approx(expected, rel=1e-10)


def test_dbi_is_of_the_first_layers_pooled_outputs():
    metrics = pytest.importorskip("sklearn.metrics")
    tested = subject(conv_net())
    maps = tested.data.inputs
    for layer in tested.model.layers[: CONV_NET_STARTS[1]]:
        maps = layer(maps)
    pooled = tf.nn.max_pool2d(maps, 4, 4, "VALID").numpy().reshape(60, -1)
    expected = metrics.davies_bouldin_score(pooled, tested.data.labels)
    assert complexity("dbi").on(tested) == pytest.approx(expected, rel=1e-4)


def test_examples_are_mixed_even_where_all_are_taken_from_sorted_data():
    labels = np.sort(examples(120, (4,), 3)[1])
    data = dataset(examples(120, (4,), 3)[0], labels)
    tested = Subject(dense_net(), data)
    inputs, drawn = sample(tested.data, 1_000, seed=0)
    assert all(len(np.unique(part)) == 3 for part in np.split(drawn.numpy(), 4))
    order = [np.flatnonzero((tested.data.inputs == x).numpy().all(axis=1)).item() for x in inputs]
    assert sorted(order) == list(range(120))
    np.testing.assert_array_equal(labels[order], drawn)
    assert complexity("dbi", draws=4, examples=30).on(tested) > 0


def test_dbi_mixup_is_the_product_with_the_errors_of_mixup():
    tested = subject(conv_net())
    options = {"batches": 5, "batch_size": 32}
    errors = 1 + complexity("mixup", **options).on(tested)
    found = complexity("dbi_mixup", **options).on(tested)
    assert found == pytest.approx(complexity("dbi").on(tested) * errors, rel=1e-6)


def brute_force_margin(model: tf.keras.Model, inputs: tf.Tensor, labels: tf.Tensor) -> float:
    end = CONV_NET_STARTS[1] if len(model.layers) > 2 else 1  # of the first layer
    first, rest = model.layers[:end], model.layers[end:]
    hidden, margins = inputs, []
    for layer in first:
        hidden = layer(hidden)
    for h, label in zip(hidden, labels.numpy()):
        with tf.GradientTape() as tape:
            tape.watch(h)
            y = h[None]
            for layer in rest:
                y = layer(y)
            y = y[0]
            ahead = y[label] - max(y[j] for j in range(len(y)) if j != label)
        margins.append(ahead / (tf.norm(tape.gradient(ahead, h)) + 1e-7))
    variances = np.sort(np.var(hidden.numpy().reshape(len(labels), -1), axis=0))
    cut = int(0.05 * len(variances))
    spread = np.sqrt(variances[cut : len(variances) - cut].mean())
    return float(np.mean(margins) / spread)


@pytest.mark.keras2
@pytest.mark.parametrize("build", [conv_net, dense_net])
def test_margins_are_first_order_distances_from_the_boundary(build):
    tested = subject(build(), count=12)
    inputs, labels = sample(tested.data, 12, seed=0)
    expected = pytest.approx(brute_force_margin(tested.model, inputs, labels), rel=1e-3)
    assert perturbed_margin.mean_margin(tested, inputs, labels) == expected
    mixed = (inputs + tf.gather(inputs, perturbed_margin.class_partners(labels.numpy(), 0))) / 2
    expected = pytest.approx(-brute_force_margin(tested.model, mixed, labels), rel=1e-3)
    assert complexity("mixup_margin").on(tested) == expected


@pytest.mark.parametrize("hidden", [[], [5]])
@pytest.mark.parametrize("name", ["inverse_margin", "mixup_margin", "augmentation_penalty"])
def test_a_final_softmax_changes_nothing_however_sure_it_is(name, hidden):
    """Logits in the hundreds, whose probabilities are 0 and 1 in single precision."""

    def found(*last: tf.keras.layers.Layer) -> float:
        chain = [layers.Flatten(), *(layers.Dense(n, activation="relu") for n in hidden), *last]
        model = randomized(tf.keras.Sequential(chain), (4, 4, 1))
        model.set_weights([300 * w for w in model.get_weights()])
        return complexity(name).on(subject(model))

    plain = found(layers.Dense(3))
    assert found(layers.Dense(3, activation="softmax")) == pytest.approx(plain, rel=1e-5)
    assert found(layers.Dense(3), layers.Softmax()) == pytest.approx(plain, rel=1e-5)


def test_partners_are_others_of_the_same_class():
    labels = np.array([0, 1, 1, 0, 2, 1, 0, 0])
    partners = perturbed_margin.class_partners(labels, seed=0)
    assert sorted(partners) == list(range(8))
    np.testing.assert_array_equal(labels[partners], labels)
    assert [i for i in range(8) if partners[i] == i] == [4]  # the only one of its class


def test_augmented_images_are_mirrored_faded_and_enlarged():
    images = tf.constant(examples(200, (8, 8, 3), 2)[0])
    found = perturbed_margin.augmented(images, seed=0).numpy()
    assert found.shape == images.shape
    np.testing.assert_array_equal(found, perturbed_margin.augmented(images, seed=0))
    means = images.numpy().mean(axis=(1, 2), keepdims=True)
    # Without zoom, an image or its mirror image is a multiple of at most 1 about its mean.
    factors = []
    for image, new, mean in zip(images.numpy(), found, means):
        for original in (image, image[:, ::-1]):
            ratio = (new - mean) / (original - mean)
            if np.ptp(ratio) < 1e-2:
                factors.append(ratio.mean())
    assert 60 < len(factors) < 140
    assert 0.69 < min(factors) < 0.75 and 0.95 < max(factors) < 1.01


def test_saturation_is_tensorflows_and_leaves_grey_and_a_fourth_channel():
    images = tf.random.stateless_uniform([3, 5, 4, 4], [0, 0])
    factor = tf.constant([0.6, 1.0, 1.5])
    found = augmentation.saturated(images, factor)
    for image, new, f in zip(images, found, factor):
        expected = tf.image.adjust_saturation(image[..., :3], f)
        np.testing.assert_allclose(new[..., :3], expected, atol=1e-5)
    np.testing.assert_array_equal(found[..., 3], images[..., 3])
    np.testing.assert_array_equal(augmentation.saturated(images[..., :1], factor), images[..., :1])


@pytest.mark.parametrize("shape", [(8, 8, 1), (32, 20, 3)])
def test_one_rectangle_is_erased(shape):
    images = tf.ones([50, *shape])
    found = augmentation.erased(images, tf.random.stateless_uniform([50, 4], [0, 0])).numpy()
    area = shape[0] * shape[1]
    for image in found:
        rows, columns = (np.flatnonzero((image[..., 0] == 0).any(axis=a)) for a in (1, 0))
        assert (image[np.ix_(rows, columns)] == 0).all()
        assert (image == 0).sum() == len(rows) * len(columns) * shape[2]
        assert min(len(rows), len(columns)) >= round((0.02 * 0.3 * area) ** 0.5)


@pytest.mark.keras2
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_the_augmentation_penalty_is_that_of_a_loop(channels):
    chain = [layers.Conv2D(3, 3, activation="relu"), layers.Flatten(), layers.Dense(4)]
    model = randomized(tf.keras.Sequential(chain), (7, 6, channels))
    tested = subject(model, count=30)
    inputs, _ = sample(tested.data, 30, seed=0)
    low, high = (f(inputs, [0, 1, 2]) for f in (tf.reduce_min, tf.reduce_max))
    uniform = tf.random.stateless_uniform([30, 6], [0, 0], alg="philox")
    views = augmentation.views((inputs - low) / (high - low), uniform)
    before, total = tf.nn.softmax(model(inputs)).numpy(), 0.0
    for weight, view in zip((6, 1, 2, 3, 1, 12, 2), views):
        after = tf.nn.softmax(model(view * (high - low) + low)).numpy()
        for p, q in zip(before, after):
            total += abs(p.max() - q.max()) if p.argmax() == q.argmax() else weight
    assert complexity("augmentation_penalty").on(tested) == pytest.approx(total / 30, rel=1e-3)
    model.set_weights([np.zeros_like(w) for w in model.get_weights()])
    assert complexity("augmentation_penalty").on(subject(model, count=30)) == 0


def test_measures_of_images_refuse_other_data():
    for name in ("augmentation_penalty", "augment_margin"):
        with pytest.raises(MeasureError, match=r"shape \[4\]; this measure needs images"):
            complexity(name).on(subject(dense_net()))


def test_neighbours_are_scikit_learns():
    neighbors = pytest.importorskip("sklearn.neighbors")
    points = np.random.default_rng(0).normal(size=(40, 5))
    cosines = label_variation.cosines(points)
    finder = neighbors.NearestNeighbors(metric="cosine").fit(points)
    for count in (1, 6):
        expected = finder.kneighbors_graph(n_neighbors=count).toarray()
        np.testing.assert_array_equal(label_variation.nearest(cosines, count), expected)


def test_the_variation_of_one_hot_labels_counts_edges_between_classes():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 30)
    directed = label_variation.nearest(rng.normal(size=(30, 30)), 4)
    adjacency = np.maximum(directed, directed.T)
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency
    between = sum(adjacency[i, j] * (labels[i] != labels[j]) for i in range(30) for j in range(30))
    assert label_variation.variation(laplacian, np.eye(3)[labels]) == pytest.approx(between / 30)


def test_balanced_examples_have_all_classes():
    labels = np.repeat([0, 1, 4], [50, 30, 4])
    rows = label_variation.balanced(labels, 30, np.random.default_rng(0))
    assert dict(zip(*np.unique(labels[rows], return_counts=True))) == {0: 10, 1: 10, 4: 4}
    assert len(set(rows)) == len(rows)


def looped_variation(points: np.ndarray, targets: np.ndarray, neighbours: int, kind: str) -> float:
    """The quadratic form of the graph's Laplacian, edge by edge, per example.

    `directed` is y_i . (y_i - y_j) for each edge from i to its neighbours j; `normalized` and
    `weighted` are half of |y_i / sqrt(d_i) - y_j / sqrt(d_j)|^2 and of w |y_i - y_j|^2 over edges
    in either direction.
    """
    count = len(points)

    def cosine(i: int, j: int) -> float:
        a, b = points[i], points[j]
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    near = [
        sorted((j for j in range(count) if j != i), key=lambda j: -cosine(i, j))[:neighbours]
        for i in range(count)
    ]
    if kind == "directed":
        return (
            sum(targets[i] @ (targets[i] - targets[j]) for i in range(count) for j in near[i])
            / count
        )
    edges = [(i, j) for i in range(count) for j in range(count) if j in near[i] or i in near[j]]
    degree = np.bincount([i for i, _ in edges])
    total = 0.0
    for i, j in edges:
        if kind == "normalized":
            total += (
                np.sum((targets[i] / degree[i] ** 0.5 - targets[j] / degree[j] ** 0.5) ** 2) / 2
            )
        else:
            total += max(cosine(i, j), 0) * np.sum((targets[i] - targets[j]) ** 2) / 2
    return total / count


def activations(model: tf.keras.Model, inputs: tf.Tensor) -> list[np.ndarray]:
    """What enters each layer, and the outputs: [n, features] each."""
    found = [inputs]
    for layer in model.layers:
        found.append(layer(found[-1]))
    return [x.numpy().astype(np.float64).reshape(len(x), -1) for x in found]


@pytest.mark.keras2
def test_wcv_is_the_largest_variation_of_the_last_layers():
    tested = subject(conv_net())
    rows = label_variation.balanced(tested.data.labels.numpy(), 36, np.random.default_rng(0))
    targets = np.eye(3)[tested.data.labels.numpy()[rows]]
    entering = activations(tested.model, tf.gather(tested.data.inputs, rows))[:-1]
    expected = [
        looped_variation(x, targets, 1, "normalized") for x in (entering[8], entering[9])
    ]  # of four
    assert complexity("wcv", examples=36).on(tested) == pytest.approx(max(expected), rel=1e-6)


@pytest.mark.keras2
def test_vr_is_the_change_of_variation_over_the_last_layers():
    tested = subject(conv_net(), count=90)
    order = np.random.default_rng(0).permutation(90)
    rates = []
    for rows in np.split(order, 3):
        targets = np.eye(3)[tested.data.labels.numpy()[rows]]
        before, last, outputs = (
            looped_variation(x, targets, 20, "weighted")
            for x in activations(tested.model, tf.gather(tested.data.inputs, rows))[-3:]
        )
        rates.append((abs(last - before) + abs(outputs - last)) / 2)
    found = complexity("vr", graphs=3, examples=30).on(tested)
    assert found == pytest.approx(np.median(rates), rel=1e-5)


@pytest.mark.keras2
def test_vpm_is_the_variation_of_mixed_labels_at_the_penultimate_layer():
    tested = subject(conv_net())
    inputs, labels = tested.data.inputs.numpy(), tested.data.labels.numpy()
    found = []
    for graph in range(3):
        rng = np.random.default_rng([0, graph])
        rows = label_variation.balanced(labels, 30, rng)
        other, share = rng.permutation(rows), rng.beta(2, 2, len(rows))
        mixed = [s * inputs[i] + (1 - s) * inputs[j] for s, i, j in zip(share, rows, other)]
        targets = [
            s * np.eye(3)[labels[i]] + (1 - s) * np.eye(3)[labels[j]]
            for s, i, j in zip(share, rows, other)
        ]
        points = activations(tested.model, tf.constant(np.array(mixed), tf.float32))[-2]
        found.append(looped_variation(points, np.array(targets), 1, "directed"))
    expected = pytest.approx(np.median(found), rel=1e-5)
    assert complexity("vpm", graphs=3, examples=30).on(tested) == expected


@pytest.mark.keras2
def test_features_that_separate_the_classes_vary_less():
    """A network that sees the classes' patterns against one that sees noise."""
    rng = np.random.default_rng(0)
    labels = np.arange(300, dtype=np.int32) % 3
    inputs = rng.normal(size=(300, 6)).astype(np.float32)
    inputs[:, :3] = np.eye(3)[labels] + 0.05 * inputs[:, :3]

    def model(seen: slice) -> tf.keras.Model:
        chain = [layers.Dense(3), layers.Dense(3)]
        built = tf.keras.Sequential(chain)
        built.build((None, 6))
        kernel = np.zeros((6, 3))
        kernel[seen] = np.eye(3)
        built.set_weights([kernel, np.zeros(3), np.eye(3), np.zeros(3)])
        return built

    for name in ("vpm", "wcv"):
        clear, blind = (
            complexity(name).on(Subject(model(seen), dataset(inputs, labels)))
            for seen in (slice(0, 3), slice(3, 6))
        )
        assert clear < blind
