"""The winning measures against scikit-learn, TensorFlow's own operations and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from corpora import dataset, examples
from nets import conv_net, dense_net, layers, randomized, subject

from pgdl_measures import MeasureError, complexity
from pgdl_measures.base import Subject
from pgdl_measures.competition import augmentation, dbi, label_variation, perturbed_margin


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
    maps = tested.model.layers[0](tested.data.inputs)
    pooled = tf.nn.max_pool2d(maps, 4, 4, "VALID").numpy().reshape(60, -1)
    expected = metrics.davies_bouldin_score(pooled, tested.data.labels)
    assert complexity("dbi").on(tested) == pytest.approx(expected, rel=1e-4)


def test_dbi_mixup_is_the_product_with_the_errors_of_mixup():
    tested = subject(conv_net())
    options = {"batches": 5, "batch_size": 32}
    errors = 1 + complexity("mixup", **options).on(tested)
    found = complexity("dbi_mixup", **options).on(tested)
    assert found == pytest.approx(complexity("dbi").on(tested) * errors, rel=1e-6)


def brute_force_margin(model: tf.keras.Model, inputs: tf.Tensor, labels: tf.Tensor) -> float:
    first, rest = model.layers[0], model.layers[1:]
    hidden, margins = first(inputs), []
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
    inputs, labels = tested.data.inputs, tested.data.labels
    expected = pytest.approx(brute_force_margin(tested.model, inputs, labels), rel=1e-3)
    assert perturbed_margin.mean_margin(tested, inputs, labels) == expected
    mixed = (inputs + tf.gather(inputs, perturbed_margin.class_partners(labels.numpy(), 0))) / 2
    expected = pytest.approx(-brute_force_margin(tested.model, mixed, labels), rel=1e-3)
    assert complexity("mixup_margin").on(tested) == expected


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
    inputs = tested.data.inputs
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
        with pytest.raises(MeasureError, match=r"images; the inputs have shape \[4\]"):
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
