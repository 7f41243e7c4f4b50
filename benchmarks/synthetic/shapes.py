"""Families of shapes: clusters that are curves, rings, bars and touching pieces."""

from __future__ import annotations

import numpy as np

from synthetic.base import Array, Sample, family
from synthetic.tools import (
    gaussian_mixture,
    log_integer,
    log_uniform,
    random_covariances,
    sizes,
    smooth_curve,
    with_noise,
)


def _stacked(parts: list[Array]) -> Sample:
    return Sample(np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts]))


def _jitter(rng: np.random.Generator, X: Array, noise: float) -> Array:
    return X + noise * rng.normal(size=X.shape)


def _arc(rng: np.random.Generator, n: int, radius: float, start: float, end: float) -> Array:
    angle = rng.uniform(start, end, n)
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _maybe_noise(rng: np.random.Generator, sample: Sample, share: float = 0.25) -> Sample:
    """Add background noise to a third of the sets."""
    return with_noise(rng, sample, rng.uniform(0.01, share)) if rng.random() < 0.33 else sample


@family("shape")
def moons(rng: np.random.Generator) -> Sample:
    """Two interleaved half circles."""
    n, noise = log_integer(rng, 60, 1200), rng.uniform(0.02, 0.14)
    upper = _arc(rng, n, 1.0, 0, np.pi)
    lower = _arc(rng, int(n * rng.uniform(0.5, 1.5)), 1.0, np.pi, 2 * np.pi) + [1.0, rng.uniform(0.3, 0.55)]
    return _maybe_noise(rng, _stacked([_jitter(rng, upper, noise), _jitter(rng, lower, noise)]))


@family("shape")
def rings(rng: np.random.Generator) -> Sample:
    """Concentric rings, in the plane or as shells in space, sometimes with a blob in the middle."""
    k, d = int(rng.integers(2, 5)), int(rng.choice([2, 2, 2, 3]))
    noise, each = rng.uniform(0.02, 0.12), log_integer(rng, 80, 700)
    parts = []
    for j in range(k):
        radius = j + rng.choice([0.0, 1.0]) if j == 0 else j + 1.0
        direction = rng.normal(size=(int(each * (1 if rng.random() < 0.5 else j + 1)), d))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        parts.append(_jitter(rng, radius * direction, max(noise, 0.15) if radius == 0 else noise))
    return _maybe_noise(rng, _stacked(parts))


@family("shape")
def separate_rings(rng: np.random.Generator) -> Sample:
    """Rings side by side, or two linked rings in space."""
    each, noise = log_integer(rng, 60, 600), rng.uniform(0.02, 0.12)
    if rng.random() < 0.4:
        one, two = _arc(rng, each, 1.0, 0, 2 * np.pi), _arc(rng, each, 1.0, 0, 2 * np.pi)
        flat, upright = (
            np.column_stack([one, np.zeros(each)]),
            np.column_stack([two[:, 0] + 1, np.zeros(each), two[:, 1]]),
        )
        return _stacked([_jitter(rng, flat, noise), _jitter(rng, upright, noise)])
    k = int(rng.integers(2, 6))
    parts = [
        _jitter(rng, _arc(rng, each, rng.uniform(0.5, 1.0), 0, 2 * np.pi) + [2.6 * j, rng.uniform(-1, 1)], noise)
        for j in range(k)
    ]
    return _maybe_noise(rng, _stacked(parts))


@family("shape")
def spirals(rng: np.random.Generator) -> Sample:
    """Two to four spiral arms."""
    arms, turns, each = int(rng.integers(2, 5)), rng.uniform(0.7, 2.0), log_integer(rng, 80, 700)
    parts = []
    for j in range(arms):
        t = np.sqrt(rng.uniform(0.03, 1, each)) if rng.random() < 0.8 else rng.uniform(0.1, 1, each)
        angle = 2 * np.pi * (turns * t + j / arms)
        parts.append(np.column_stack([t * np.cos(angle), t * np.sin(angle)]))
    noise = rng.uniform(0.003, 0.09 / (arms * turns))
    return _maybe_noise(rng, _stacked([_jitter(rng, part, noise) for part in parts]), 0.15)


@family("shape")
def bars(rng: np.random.Generator) -> Sample:
    """Long parallel or crossing-free bars, uniform or Gaussian along their width."""
    k, length = int(rng.integers(2, 7)), rng.uniform(3, 12)
    gap = rng.uniform(1.6, 4.0)
    parts = []
    for j in range(k):
        m = log_integer(rng, 50, 500)
        along, across = (
            rng.uniform(0, length * rng.uniform(0.5, 1.0), m),
            rng.uniform(-0.5, 0.5, m) if rng.random() < 0.5 else rng.normal(0, 0.3, m),
        )
        parts.append(np.column_stack([along + rng.uniform(-1, 1), across + gap * j]))
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    sample = _stacked(parts)
    return _maybe_noise(rng, sample._replace(X=sample.X @ turn))


@family("shape")
def zigzags(rng: np.random.Generator) -> Sample:
    """Zigzag or wavy stripes one above the other."""
    k, teeth, each = int(rng.integers(2, 5)), rng.uniform(1, 4), log_integer(rng, 100, 700)
    parts = []
    for j in range(k):
        t = rng.uniform(0, 1, each)
        wave = np.abs((t * teeth) % 1 - 0.5) * 2 if rng.random() < 0.5 else np.sin(2 * np.pi * teeth * t) / 2
        parts.append(np.column_stack([3 * t, wave + j * rng.uniform(0.55, 0.9)]))
    return _maybe_noise(rng, _stacked([_jitter(rng, part, rng.uniform(0.01, 0.05)) for part in parts]))


@family("shape")
def curves(rng: np.random.Generator) -> Sample:
    """Random smooth curves that do not cross, each one cluster."""
    k, d, noise = int(rng.integers(2, 6)), int(rng.choice([2, 2, 3])), rng.uniform(0.01, 0.06)
    parts: list[Array] = []
    for _ in range(400):
        if len(parts) == k:
            break
        curve = smooth_curve(rng, log_integer(rng, 60, 500), d, int(rng.integers(1, 4)))
        curve = curve / np.abs(curve).max() + rng.uniform(-2, 2, d) * k**0.5 / 1.5
        near = min((np.linalg.norm(curve[:, None, :] - part[None, ::4], axis=2).min() for part in parts), default=9.0)
        if near > 8 * noise + 0.12:
            parts.append(curve)
    return _maybe_noise(rng, _stacked([_jitter(rng, part, noise) for part in parts]))


@family("shape")
def smile(rng: np.random.Generator) -> Sample:
    """A face: a ring, two or three blobs, and an arc inside."""
    n, noise = log_integer(rng, 200, 2000), rng.uniform(0.02, 0.06)
    face = _jitter(rng, _arc(rng, n // 2, 1.0, 0, 2 * np.pi), noise)
    mouth = _jitter(rng, _arc(rng, n // 5, 0.55, 1.15 * np.pi, 1.85 * np.pi), noise)
    eyes = [_jitter(rng, np.tile([x, 0.4], (n // 10, 1)), rng.uniform(0.04, 0.09)) for x in (-0.35, 0.35)]
    nose = [_jitter(rng, np.tile([0.0, 0.05], (n // 12, 1)), 0.05)] if rng.random() < 0.4 else []
    return _maybe_noise(rng, _stacked([face, mouth, *eyes, *nose]), 0.1)


@family("shape")
def bridged_blobs(rng: np.random.Generator) -> Sample:
    """Compact clusters, some of which a thin bridge of points joins."""
    k = int(rng.integers(2, 7))
    radius = rng.uniform(0.6, 1.2, k)
    angle = np.arange(k) * 2 * np.pi / k
    centers = np.column_stack([np.cos(angle), np.sin(angle)]) * 1.7 / np.sin(np.pi / max(k, 3)) * 0.95
    parts = []
    for j in range(k):
        m = log_integer(rng, 80, 500)
        direction = rng.normal(size=(m, 2))
        parts.append(
            centers[j]
            + radius[j] * direction / np.linalg.norm(direction, axis=1, keepdims=True) * np.sqrt(rng.random((m, 1)))
        )
    sample = _stacked(parts)
    extra, owner = [], []
    for j in range(k - 1):
        if rng.random() < 0.6:
            t = rng.random((int(rng.integers(3, 12)), 1))
            extra.append(centers[j] * (1 - t) + centers[j + 1] * t + rng.normal(0, 0.04, (len(t), 2)))
            owner.append(np.where(t[:, 0] < 0.5, j, j + 1))
    if extra:
        sample = Sample(np.concatenate([sample.X, *extra]), np.concatenate([sample.y, *owner]))
    return sample


@family("shape")
def touching_disks(rng: np.random.Generator) -> Sample:
    """Large and small disks that touch or overlap a little."""
    each, parts = log_integer(rng, 100, 900), []
    at, before = 0.0, 0.0
    for _ in range(int(rng.integers(2, 6))):
        radius = rng.uniform(0.3, 1.0)
        at += before + radius * rng.uniform(0.95, 1.2)
        direction = rng.normal(size=(max(25, int(each * radius**2)), 2))
        direction *= np.sqrt(rng.random((len(direction), 1))) / np.linalg.norm(direction, axis=1, keepdims=True)
        parts.append(radius * direction + [at, rng.uniform(-0.2, 0.2)])
        before = radius
    return _stacked(parts)


@family("shape")
def target(rng: np.random.Generator) -> Sample:
    """A disk inside a ring, with a few outlying groups in the corners."""
    n = log_integer(rng, 150, 1200)
    disk = rng.normal(0, 0.22, (n // 2, 2))
    ring = _jitter(rng, _arc(rng, n // 2, 1.0, 0, 2 * np.pi), rng.uniform(0.03, 0.09))
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[: int(rng.integers(0, 5))] * 1.7
    groups = [_jitter(rng, np.tile(corner, (int(rng.integers(3, 15)), 1)), 0.04) for corner in corners]
    return _stacked([disk, ring, *groups])


@family("shape")
def crescent_and_moon(rng: np.random.Generator) -> Sample:
    """A crescent around a full disk."""
    n = log_integer(rng, 150, 1500)
    half = rng.uniform(0.35, 0.8) * np.pi
    angle, radius = rng.uniform(-half, half, n), rng.uniform(0.8, 1.0, n)
    crescent = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    direction = rng.normal(size=(n // 2, 2))
    direction *= np.sqrt(rng.random((len(direction), 1))) / np.linalg.norm(direction, axis=1, keepdims=True)
    return _maybe_noise(rng, _stacked([crescent, rng.uniform(0.25, 0.5) * direction + [rng.uniform(-0.1, 0.2), 0]]))


@family("shape")
def mixed_shapes(rng: np.random.Generator) -> Sample:
    """Blobs, bars and curves of different density in one plane."""
    k, parts = int(rng.integers(3, 9)), []
    side = int(np.ceil(np.sqrt(k)))
    for j in range(k):
        m, kind = log_integer(rng, 40, 500), rng.integers(0, 4)
        if kind == 0:
            part = rng.normal(size=(m, 2)) * rng.uniform(0.1, 0.3, 2)
        elif kind == 1:
            part = rng.uniform(-1, 1, (m, 2)) * rng.uniform(0.15, 0.8, 2)
        elif kind == 2:
            part = _jitter(rng, _arc(rng, m, 0.7, 0, rng.uniform(1, 2) * np.pi), 0.04)
        else:
            curve = smooth_curve(rng, m, 2, 2)
            part = _jitter(rng, 0.8 * curve / np.abs(curve).max(), 0.03)
        parts.append(part + 2.1 * np.array([j % side, j // side]) + rng.uniform(-0.12, 0.12, 2))
    return _maybe_noise(rng, _stacked(parts), 0.3)


@family("shape")
def shapes_in_noise(rng: np.random.Generator) -> Sample:
    """Dense shapes in background noise that makes 10 to 50 % of the rows, as in the Chameleon sets."""
    base = mixed_shapes(rng)
    kept = base.y >= 0
    return with_noise(rng, Sample(base.X[kept], base.y[kept]), rng.uniform(0.1, 0.5))


@family("shape")
def gaussians_and_bars(rng: np.random.Generator) -> Sample:
    """L-shaped bars beside a round cluster."""
    n = log_integer(rng, 100, 1200)
    first = np.column_stack([rng.uniform(0, 4, n // 3), rng.uniform(0, rng.uniform(0.5, 1.0), n // 3)])
    second = np.column_stack([rng.uniform(0, 1, n // 3), rng.uniform(1.4, 4, n // 3)])
    ball = rng.normal(0, rng.uniform(0.25, 0.5), (n // 3, 2)) + [3, 3]
    return _stacked([first, second, ball])


@family("shape")
def wedges(rng: np.random.Generator) -> Sample:
    """Two clusters side by side with a narrow gap, as two halves of a rectangle or of a disk."""
    n, gap = log_integer(rng, 150, 2500), rng.uniform(0.06, 0.3)
    X = rng.uniform(-1, 1, (n, 2)) if rng.random() < 0.5 else rng.normal(0, 0.6, (n, 2))
    y = (X[:, 0] + rng.uniform(-0.3, 0.3) * X[:, 1] > 0).astype(int)
    X = X + np.where(y[:, None] > 0, [gap, 0], [-gap, 0])
    return Sample(X * [rng.uniform(0.5, 1.5), 1.0], y)


@family("shape")
def rolled_sheet(rng: np.random.Generator) -> Sample:
    """Strips of a rolled-up sheet in space, with gaps between them."""
    k, n = int(rng.integers(2, 5)), log_integer(rng, 200, 2000)
    y = rng.integers(0, k, n)
    t = 1.5 * np.pi + 3.0 * np.pi * (y + rng.uniform(0.0, rng.uniform(0.7, 0.9), n)) / k
    X = np.column_stack([t * np.cos(t), rng.uniform(0, 21, n), t * np.sin(t)])
    return Sample(X + rng.normal(0, rng.uniform(0.05, 0.5), X.shape), y)


@family("shape")
def nested_cubes(rng: np.random.Generator) -> Sample:
    """A dense core inside a hollow shell, in two or three dimensions."""
    d, n = int(rng.integers(2, 4)), log_integer(rng, 200, 2000)
    shell = rng.uniform(-1, 1, (4 * n, d))
    shell = shell[np.abs(shell).max(axis=1) > rng.uniform(0.7, 0.85)][: n // 2]
    core = rng.uniform(-0.35, 0.35, (n // 2, d)) if rng.random() < 0.5 else rng.normal(0, 0.13, (n // 2, d))
    return _stacked([core, shell])


@family("shape")
def atom(rng: np.random.Generator) -> Sample:
    """A dense ball inside a wide spherical shell in three or more dimensions."""
    d, n = int(rng.integers(3, 6)), log_integer(rng, 150, 1200)
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    shell = direction * log_uniform(rng, 4, 20) * (1 + rng.normal(0, 0.04, (n, 1)))
    return _stacked([rng.normal(size=(n, d)), shell])


@family("shape")
def crossing_ellipses(rng: np.random.Generator) -> Sample:
    """Long Gaussians that cross or meet at an angle."""
    k = int(rng.integers(2, 4))
    ratio = rng.uniform(6, 15)
    angle = np.arange(k) * np.pi / k + rng.uniform(0, 1)
    covariances = []
    for a in angle:
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        covariances.append(turn @ np.diag([ratio, 1.0]) ** 2 @ turn.T)
    centers = rng.normal(0, ratio * 0.6, (k, 2))
    return gaussian_mixture(rng, centers, np.array(covariances), sizes(rng, log_integer(rng, 150, 1500), k, 2.0))


@family("shape")
def blobs_beside_a_curve(rng: np.random.Generator) -> Sample:
    """Gaussian blobs together with one long curve."""
    k = int(rng.integers(1, 5))
    curve = smooth_curve(rng, log_integer(rng, 100, 700), 2, 3)
    curve = 4 * curve / np.abs(curve).max()
    parts = [_jitter(rng, curve, rng.uniform(0.04, 0.12))]
    for _ in range(200):
        center = rng.uniform(-4, 4, 2)
        others = np.concatenate([curve, *[part.mean(axis=0, keepdims=True) for part in parts[1:]]])
        if len(parts) <= k and np.linalg.norm(others - center, axis=1).min() > 1.4:
            covariance = random_covariances(rng, 1, 2, 2.0)[0] * 0.1
            parts.append(rng.multivariate_normal(center, covariance, int(rng.integers(40, 300))))
    return _maybe_noise(rng, _stacked(parts))
