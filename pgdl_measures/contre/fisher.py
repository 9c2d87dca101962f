"""Fisher ratio of features, Tr(S_w^-1 S_b) (Wu et al. 2021, eq. 3 and 4). NumPy only.

S_b = sum_i N_i (m_i - m)(m_i - m)^T is the scatter between the classes, S_w = sum_i sum_j
(x_ij - m_i)(x_ij - m_i)^T the scatter within them. Equation 3 prints another factor N_i in S_w; the
text there, "pooling the estimates of the covariance matrices of each class", is the sum without it,
which is what discriminant analysis means by the name. For classes of one size it is a factor 1/N.
"""

from __future__ import annotations

import numpy as np

# Of the mean scatter in a direction: what S_w is raised by, so that it can be inverted.
_RIDGE = 1e-12


def fisher_ratio(features: np.ndarray, labels: np.ndarray, *, dimensions: int | None = 64) -> float:
    """The ratio of features [n, d] with labels [n]; 0 where all features are the same.

    Wider features are first reduced to their `dimensions` principal directions by singular value
    decomposition (Section 4.5.2: 64 for CIFAR). That is done for all that are wider, and not only
    where S_w cannot be inverted: a trace over 512 directions does not compare with one over 64, and
    whether S_w is singular changes from model to model. What is singular after that - units that
    are always 0, classes that have collapsed to a point - is raised by a trillionth of the mean
    scatter: the first then add nothing, and the second a large, finite number.
    """
    features = np.asarray(features)
    centred = features - features.mean(axis=0, dtype=np.float64).astype(features.dtype)
    if dimensions is not None and centred.shape[1] > dimensions:
        centred = _principal(centred, dimensions)
    centred = centred.astype(np.float64)
    classes, label = np.unique(labels, return_inverse=True)
    member = np.eye(len(classes))[label]  # [n, classes]
    sizes = member.sum(axis=0)
    means = (member.T @ centred) / sizes[:, None]
    within = centred - means[label]
    scatter_within = within.T @ within
    scatter_between = (means * sizes[:, None]).T @ means
    ridge = _RIDGE * np.trace(scatter_within + scatter_between) / centred.shape[1]
    if ridge == 0:
        return 0.0
    raised = scatter_within + ridge * np.eye(len(scatter_within))
    return float(np.trace(np.linalg.solve(raised, scatter_between)))


def _principal(centred: np.ndarray, dimensions: int) -> np.ndarray:
    """The coordinates of [n, d] along its first right singular vectors, [n, dimensions].

    By the eigenvectors of the smaller of the two products with itself.
    """
    examples, width = centred.shape
    if width <= examples:
        _, vectors = np.linalg.eigh(centred.T @ centred)
        return centred @ vectors[:, -dimensions:]
    values, vectors = np.linalg.eigh(centred @ centred.T)
    return vectors[:, -dimensions:] * np.sqrt(np.maximum(values[-dimensions:], 0))
