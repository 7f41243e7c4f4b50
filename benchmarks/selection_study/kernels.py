"""Compiled loops of the study: spanning trees, label propagation, agreement between partitions, features, EM."""

from __future__ import annotations

import numpy as np
from numba import njit

OPTIONS = {"nogil": True, "error_model": "numpy", "cache": True}


@njit(**OPTIONS)
def find(parent, i):
    """Return the root of i, halving the path on the way."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(**OPTIONS)
def spanning_tree(n, left, right):
    """Kruskal on edges in ascending order: return the positions of the edges of the spanning forest."""
    parent = np.arange(n)
    kept = np.empty(n, dtype=np.int64)
    count = 0
    for e in range(len(left)):
        a, b = find(parent, left[e]), find(parent, right[e])
        if a != b:
            parent[a] = b
            kept[count] = e
            count += 1
            if count == n - 1:
                break
    return kept[:count], parent


@njit(**OPTIONS)
def single_linkage(n, left, right, length, weights):
    """Return children, heights and weights of the merge tree of a spanning tree (edges in ascending order)."""
    m = len(left)
    child = np.empty((m, 2), dtype=np.int64)
    size = np.empty(n + m)
    size[:n] = weights
    parent = np.arange(n)
    node = np.arange(n)
    for e in range(m):
        a, b = find(parent, left[e]), find(parent, right[e])
        child[e, 0], child[e, 1] = node[a], node[b]
        size[n + e] = size[node[a]] + size[node[b]]
        parent[a] = b
        node[b] = n + e
    return child, size


@njit(**OPTIONS)
def condensed_labels(n, child, height, size, least, leaf):
    """Select clusters of a condensed merge tree by excess of mass, or its leaves; -1 marks rows outside of all.

    Parameters
    ----------
    n : int
    child, height, size : arrays of the merge tree; `height` has an entry for each merge
    least : float
        The smallest weight of a cluster.
    leaf : bool
        Select leaves instead of the stablest clusters.
    """
    m = len(child)
    top = n + m - 1
    # the cluster that each node belongs to; clusters are numbered as they split off
    owner = np.full(n + m, -1, dtype=np.int64)
    parent_of = np.empty(2 * m + 2, dtype=np.int64)
    birth = np.empty(2 * m + 2)
    stability = np.zeros(2 * m + 2)
    n_children = np.zeros(2 * m + 2, dtype=np.int64)
    parent_of[0], birth[0] = -1, 0.0
    count = 1
    owner[top] = 0
    # inside of a part that was too small to go on as a cluster
    fallen = np.zeros(n + m, dtype=np.bool_)
    for v in range(top, n - 1, -1):
        c = owner[v]
        e = v - n
        level = 1.0 / max(height[e], 1e-300)
        a, b = child[e, 0], child[e, 1]
        big_a, big_b = size[a] >= least, size[b] >= least
        if fallen[v]:
            owner[a] = owner[b] = c
            fallen[a] = fallen[b] = True
        elif big_a and big_b:
            stability[c] += (level - birth[c]) * size[v]
            n_children[c] = 2
            for s in (a, b):
                parent_of[count], birth[count] = c, level
                owner[s] = count
                count += 1
        else:
            for s, big in ((a, big_a), (b, big_b)):
                owner[s] = c
                if not big:
                    stability[c] += (level - birth[c]) * size[s]
                    fallen[s] = True
    chosen = np.zeros(count, dtype=np.bool_)
    best = stability[:count].copy()
    below = np.zeros(count)
    for c in range(count - 1, -1, -1):
        if n_children[c] == 0:
            chosen[c] = True
        elif leaf or below[c] > best[c] or c == 0:
            best[c] = below[c]
        else:
            chosen[c] = True
        if parent_of[c] >= 0:
            below[parent_of[c]] += best[c]
    # a chosen cluster hides those below it
    final = np.full(count, -1, dtype=np.int64)
    number = 0
    for c in range(count):
        p = parent_of[c]
        if p >= 0 and final[p] >= 0:
            final[c] = final[p]
        elif chosen[c] and not (c == 0 and n_children[0] > 0):
            final[c] = number
            number += 1
    labels = np.empty(n, dtype=np.int64)
    for i in range(n):
        labels[i] = final[owner[i]] if owner[i] >= 0 else -1
    return labels


@njit(**OPTIONS)
def fill(labels, indices):
    """Give rows labelled -1 the label of their nearest labelled neighbour, round after round."""
    n, k = indices.shape
    out = labels.copy()
    for _ in range(40):
        changed, left = False, False
        before = out.copy()
        for i in range(n):
            if before[i] >= 0:
                continue
            left = True
            for j in range(k):
                if before[indices[i, j]] >= 0:
                    out[i] = before[indices[i, j]]
                    changed = True
                    break
        if not left or not changed:
            break
    big = 0
    for i in range(n):
        big = max(big, out[i])
    counts = np.zeros(big + 1)
    for i in range(n):
        if out[i] >= 0:
            counts[out[i]] += 1
    common = np.argmax(counts)
    for i in range(n):
        if out[i] < 0:
            out[i] = common
    return out


@njit(**OPTIONS)
def compact(labels):
    """Renumber labels by first appearance; return them and their number."""
    big = 0
    for i in range(len(labels)):
        big = max(big, labels[i])
    number = np.full(big + 1, -1, dtype=np.int64)
    out = np.empty(len(labels), dtype=np.int64)
    count = 0
    for i in range(len(labels)):
        if number[labels[i]] < 0:
            number[labels[i]] = count
            count += 1
        out[i] = number[labels[i]]
    return out, count


@njit(**OPTIONS)
def pair_agreement(table, sizes):
    """Return adjusted Rand index and conditional entropy H(b | a) for all pairs a, b of partitions."""
    c, m = table.shape
    most = 0
    for a in range(c):
        most = max(most, sizes[a])
    ari, entropy = np.eye(c), np.zeros((c, c))
    squares, logs = np.zeros(c), np.zeros(c)
    counts = np.zeros(most)
    for a in range(c):
        counts[: sizes[a]] = 0
        for i in range(m):
            counts[table[a, i]] += 1
        for q in range(sizes[a]):
            if counts[q] > 0:
                squares[a] += counts[q] * (counts[q] - 1)
                logs[a] += counts[q] * np.log(counts[q])
    cells = np.zeros(most * most, dtype=np.int64)
    seen = np.empty(m, dtype=np.int64)
    nlogn = np.zeros(m + 1)
    for i in range(2, m + 1):
        nlogn[i] = i * np.log(float(i))
    total = m * (m - 1.0)
    for a in range(c):
        for b in range(a):
            found = 0
            for i in range(m):
                cell = table[a, i] * sizes[b] + table[b, i]
                if cells[cell] == 0:
                    seen[found] = cell
                    found += 1
                cells[cell] += 1
            both, joint = 0.0, 0.0
            for q in range(found):
                v = cells[seen[q]]
                both += v * (v - 1.0)
                joint += nlogn[v]
                cells[seen[q]] = 0
            expected = squares[a] * squares[b] / total
            middle = (squares[a] + squares[b]) / 2
            value = 1.0 if middle - expected <= 1e-9 else (both - expected) / (middle - expected)
            ari[a, b] = ari[b, a] = value
            entropy[a, b] = (logs[a] - joint) / m  # H(b | a)
            entropy[b, a] = (logs[b] - joint) / m
    return ari, entropy


@njit(**OPTIONS)
def graph_statistics(labels, k, rows, indices, weights, density8, density24, order8, order24, edge8):
    """Return statistics of each cluster on the neighbour graph, and three totals.

    The columns are: weight, rows, mean share of the 15 nearest neighbours in the same cluster, edges that leave; then
    for each of the two densities the highest saddle, 95th percentile, median, and mean height of the edges that leave.
    The totals are the mean share of neighbours in the same cluster (15 and 5 nearest) and the share of rows with most
    of their neighbours in other clusters.
    """
    n, width = indices.shape
    near, few, edges = min(15, width), min(5, width), min(8, width)
    out = np.zeros((k, 12))
    for i in range(n):
        out[labels[i], 0] += weights[i]
        out[labels[i], 1] += 1.0
    for c in range(k):
        out[c, 4] = out[c, 8] = -np.inf
    counted = np.zeros(k)
    inside15, inside5, minority = 0.0, 0.0, 0.0
    for r in range(len(rows)):
        i = rows[r]
        own, same, first = labels[i], 0, 0
        for j in range(near):
            if labels[indices[i, j]] == own:
                same += 1
                if j < few:
                    first += 1
        counted[own] += 1
        out[own, 2] += same / near
        inside15 += same / near
        inside5 += first / few
        if 2 * same < near:
            minority += 1
    # saddles need all edges: a single high one joins two clusters
    for i in range(n):
        own = labels[i]
        for j in range(edges):
            other = labels[indices[i, j]]
            if other != own:
                h8 = min(min(density8[i], density8[indices[i, j]]), edge8[i, j])
                h24 = min(density24[i], density24[indices[i, j]])
                out[own, 3] += 1
                out[own, 7] += h8
                out[own, 11] += h24
                if h8 > out[own, 4]:
                    out[own, 4] = h8
                if h8 > out[other, 4]:
                    out[other, 4] = h8
                if h24 > out[own, 8]:
                    out[own, 8] = h24
                if h24 > out[other, 8]:
                    out[other, 8] = h24
    for c in range(k):
        out[c, 2] = out[c, 2] / counted[c] if counted[c] > 0 else 1.0
        if out[c, 3] > 0:
            out[c, 7] /= out[c, 3]
            out[c, 11] /= out[c, 3]
    # quantiles of the density in each cluster, by one pass over rows in ascending order of it
    for which in range(2):
        order, density, at = (order8, density8, 5) if which == 0 else (order24, density24, 9)
        count = np.zeros(k)
        for r in range(n):
            i = order[r]
            c = labels[i]
            half, high = np.floor(0.5 * (out[c, 1] - 1)), np.floor(0.95 * (out[c, 1] - 1))
            if count[c] == half:
                out[c, at + 1] = density[i]
            if count[c] == high:
                out[c, at] = density[i]
            count[c] += 1
    m = max(len(rows), 1)
    return out, inside15 / m, inside5 / m, minority / m


@njit(**OPTIONS)
def silhouettes(distances, labels, k):
    """Return the silhouette of each row of a small sample, from all distances; 0 for rows alone in their cluster."""
    m = len(labels)
    counts = np.zeros(k)
    for i in range(m):
        counts[labels[i]] += 1
    out, sums = np.zeros(m), np.zeros(k)
    for i in range(m):
        sums[:] = 0
        for j in range(m):
            sums[labels[j]] += distances[i, j]
        own = labels[i]
        if counts[own] < 2:
            continue
        inner, outer = sums[own] / (counts[own] - 1), np.inf
        for c in range(k):
            if c != own and counts[c] > 0:
                outer = min(outer, sums[c] / counts[c])
        if np.isfinite(outer):
            out[i] = (outer - inner) / max(max(inner, outer), 1e-300)
    return out


@njit(**OPTIONS)
def center_statistics(x, labels, k):
    """Return centers, rows per cluster, within-cluster sum of squares, distances to the own and to the next center."""
    m, d = x.shape
    counts, centers = np.zeros(k), np.zeros((k, d))
    for i in range(m):
        counts[labels[i]] += 1
        for a in range(d):
            centers[labels[i], a] += x[i, a]
    for c in range(k):
        for a in range(d):
            centers[c, a] /= max(counts[c], 1.0)
    within = 0.0
    own, other = np.zeros(m), np.zeros(m)
    for i in range(m):
        near = np.inf
        for c in range(k):
            if counts[c] == 0:
                continue
            s = 0.0
            for a in range(d):
                t = x[i, a] - centers[c, a]
                s += t * t
                if c != labels[i] and s >= near:
                    break
            if c == labels[i]:
                own[i] = s
            elif s < near:
                near = s
        within += own[i]
        own[i] = np.sqrt(own[i])
        other[i] = np.sqrt(near)
    return centers, counts, within, own, other


@njit(**OPTIONS)
def separations(x, labels, centers, counts, k, most):
    """Return four columns for the largest clusters.

    They are: rows, separation from the nearest cluster along the line between the centers, height of the valley
    between the two, and the variance that remains after the best split in two along the longest axis.
    """
    m, d = x.shape
    order = np.argsort(-counts)[: min(k, most)]
    start = np.zeros(k + 1, dtype=np.int64)
    for c in range(k):
        start[c + 1] = start[c] + int(counts[c])
    place, members = start[:-1].copy(), np.empty(m, dtype=np.int64)
    for i in range(m):
        members[place[labels[i]]] = i
        place[labels[i]] += 1
    out = np.full((len(order), 4), np.nan)
    for r in range(len(order)):
        c = order[r]
        n_c = int(counts[c])
        if n_c < 6:
            continue
        near, best = -1, np.inf
        for o in range(k):
            if o != c and counts[o] > 0:
                s = 0.0
                for a in range(d):
                    s += (centers[o, a] - centers[c, a]) ** 2
                if s < best:
                    near, best = o, s
        out[r, 0] = n_c
        # the longest axis, by power iteration
        axis = np.ones(d)
        for a in range(d):
            axis[a] = 1.0 + 0.1 * a
        for _ in range(12):
            new = np.zeros(d)
            for q in range(start[c], start[c + 1]):
                i = members[q]
                dot = 0.0
                for a in range(d):
                    dot += (x[i, a] - centers[c, a]) * axis[a]
                for a in range(d):
                    new[a] += dot * (x[i, a] - centers[c, a])
            norm = np.sqrt((new * new).sum())
            if norm <= 0:
                break
            axis = new / norm
        t = np.empty(n_c)
        for q in range(n_c):
            i = members[start[c] + q]
            s = 0.0
            for a in range(d):
                s += (x[i, a] - centers[c, a]) * axis[a]
            t[q] = s
        t.sort()
        total, run, between = (t * t).sum() + 1e-12, 0.0, 0.0
        for q in range(n_c - 1):
            run += t[q]
            between = max(between, run * run / (q + 1) + run * run / (n_c - q - 1))
        out[r, 3] = 1.0 - between / total
        if near < 0:
            continue
        sum_a = sq_a = sum_b = sq_b = 0.0
        low = middle = high = 0
        for q in range(start[c], start[c + 1]):
            i = members[q]
            s = 0.0
            for a in range(d):
                s += (x[i, a] - centers[c, a]) * (centers[near, a] - centers[c, a])
            s /= best + 1e-12
            sum_a += s
            sq_a += s * s
            low += abs(s) < 0.12
            middle += abs(s - 0.5) < 0.12
            high += abs(s - 1.0) < 0.12
        for q in range(start[near], start[near + 1]):
            i = members[q]
            s = 0.0
            for a in range(d):
                s += (x[i, a] - centers[c, a]) * (centers[near, a] - centers[c, a])
            s /= best + 1e-12
            sum_b += s
            sq_b += s * s
            low += abs(s) < 0.12
            middle += abs(s - 0.5) < 0.12
            high += abs(s - 1.0) < 0.12
        n_b = max(counts[near], 1.0)
        spread = (sq_a / n_c - (sum_a / n_c) ** 2 + sq_b / n_b - (sum_b / n_b) ** 2) / 2
        out[r, 1] = 1.0 / np.sqrt(max(spread, 0.0) + 1e-4)
        out[r, 2] = min(5.0, (middle + 0.5) / (min(low, high) + 1.0))
    return out


@njit(**OPTIONS)
def gaussian_score(train, train_labels, test, k):
    """Fit a Gaussian to each cluster, with covariances shrunk towards the pooled one, and evaluate test rows.

    Returns the log density of each test row, its most likely cluster, and the probability of that cluster.
    """
    n, d = train.shape
    counts, means = np.zeros(k), np.zeros((k, d))
    for i in range(n):
        counts[train_labels[i]] += 1
        for a in range(d):
            means[train_labels[i], a] += train[i, a]
    for c in range(k):
        for a in range(d):
            means[c, a] /= max(counts[c], 1.0)
    pooled, scatter = np.zeros((d, d)), np.zeros((k, d, d))
    away = np.empty(d)
    for i in range(n):
        c = train_labels[i]
        for a in range(d):
            away[a] = train[i, a] - means[c, a]
        for a in range(d):
            for b in range(a + 1):
                scatter[c, a, b] += away[a] * away[b]
    for c in range(k):
        for a in range(d):
            for b in range(a + 1):
                pooled[a, b] += scatter[c, a, b]
    mean_all = np.zeros(d)
    for i in range(n):
        for a in range(d):
            mean_all[a] += train[i, a] / n
    variance = 0.0
    for i in range(n):
        for a in range(d):
            variance += (train[i, a] - mean_all[a]) ** 2
    variance /= n * d
    for a in range(d):
        for b in range(a + 1):
            pooled[a, b] /= max(n - k, 1)
        pooled[a, a] += 1e-4 * variance + 1e-300
    prior = d + 2.0
    factor, inverse = np.zeros((d, d)), np.zeros((k, d, d))
    log_scale = np.zeros(k)
    for c in range(k):
        for a in range(d):
            for b in range(a + 1):
                s = (scatter[c, a, b] + prior * pooled[a, b]) / (counts[c] + prior)
                for q in range(b):
                    s -= factor[a, q] * factor[b, q]
                factor[a, b] = np.sqrt(max(s, 1e-300)) if a == b else s / factor[b, b]
        for b in range(d):
            inverse[c, b, b] = 1.0 / factor[b, b]
            log_scale[c] += np.log(inverse[c, b, b])
            for a in range(b + 1, d):
                s = 0.0
                for q in range(b, a):
                    s -= factor[a, q] * inverse[c, q, b]
                inverse[c, a, b] = s / factor[a, a]
    m = len(test)
    logs, best, sure = np.empty(m), np.zeros(m, dtype=np.int64), np.empty(m)
    part = np.empty(k)
    for i in range(m):
        top = -np.inf
        for c in range(k):
            if counts[c] == 0:
                part[c] = -np.inf
                continue
            square = 0.0
            for a in range(d):
                s = 0.0
                for b in range(a + 1):
                    s += inverse[c, a, b] * (test[i, b] - means[c, b])
                square += s * s
            part[c] = log_scale[c] - 0.5 * square - 0.5 * d * np.log(2 * np.pi) + np.log(counts[c] / n)
            if part[c] > top:
                top, best[i] = part[c], c
        added = 0.0
        for c in range(k):
            added += np.exp(part[c] - top)
        logs[i] = top + np.log(added)
        sure[i] = 1.0 / added
    return logs, best, sure


@njit(**OPTIONS)
def chain(points, weights, order_words, bandwidths, sweeps):
    """Stochastic mean shift with the biweight kernel on few points: one random point at a time moves to its mean."""
    n, d = points.shape
    x = points.copy()
    step, shift = 0, np.empty(d)
    for _sweep in range(sweeps):
        largest = 0.0
        for _ in range(n):
            i = int(order_words[step] * n)
            h = bandwidths[step]
            step += 1
            shift[:] = 0.0
            total = 0.0
            inv = 1.0 / (h * h)
            for j in range(n):
                s = 0.0
                for a in range(d):
                    t = x[j, a] - x[i, a]
                    s += t * t
                s *= inv
                if s < 1.0:
                    w = weights[j] * (1.0 - s)
                    total += w
                    for a in range(d):
                        shift[a] += w * x[j, a]
            s = 0.0
            for a in range(d):
                new = shift[a] / total
                s += (new - x[i, a]) ** 2
                x[i, a] = new
            largest = max(largest, s * inv)
        if largest < 1e-6:
            break
    return x


@njit(**OPTIONS)
def components_within(x, radius):
    """Return connected components of points closer than `radius`."""
    n, d = x.shape
    label = np.full(n, -1, dtype=np.int64)
    stack = np.empty(n, dtype=np.int64)
    count = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        label[start] = count
        stack[0], top = start, 1
        while top > 0:
            top -= 1
            i = stack[top]
            for j in range(n):
                if label[j] < 0:
                    s = 0.0
                    for a in range(d):
                        s += (x[i, a] - x[j, a]) ** 2
                    if s < radius * radius:
                        label[j] = count
                        stack[top] = j
                        top += 1
        count += 1
    return label


@njit(**OPTIONS)
def lloyd(x, weights, centers, rounds):
    """Move centers to the means of their rows, `rounds` times at most."""
    n, d = x.shape
    k = len(centers)
    label = np.full(n, -1, dtype=np.int64)
    for _ in range(rounds):
        changed = False
        mass, sums = np.zeros(k), np.zeros((k, d))
        for i in range(n):
            best, near = 0, np.inf
            for c in range(k):
                s = 0.0
                for a in range(d):
                    t = x[i, a] - centers[c, a]
                    s += t * t
                    if s >= near:
                        break
                if s < near:
                    best, near = c, s
            if best != label[i]:
                label[i], changed = best, True
            mass[best] += weights[i]
            for a in range(d):
                sums[best, a] += weights[i] * x[i, a]
        if not changed:
            break
        for c in range(k):
            if mass[c] > 0:
                for a in range(d):
                    centers[c, a] = sums[c, a] / mass[c]
    return centers


@njit(**OPTIONS)
def expectation_maximization(points, weights, labels, k, form, rounds, gain):
    """Fit a Gaussian mixture from a partition; form 0 full, 1 tied, 2 round and tied.

    Returns weights, means, inverse Cholesky factors, log scales, BIC; a weight of 0 where a component died out.
    """
    n, d = points.shape
    total = weights.sum()
    center, variance = np.zeros(d), 0.0
    for i in range(n):
        for a in range(d):
            center[a] += weights[i] * points[i, a] / total
    for i in range(n):
        for a in range(d):
            variance += weights[i] * (points[i, a] - center[a]) ** 2 / (total * d)
    floor = 1e-3 * variance + 1e-300
    shares = np.zeros((n, k))
    for i in range(n):
        shares[i, labels[i]] = 1.0
    mass, means = np.zeros(k), np.zeros((k, d))
    scatter, inverse, log_scale = np.zeros((k, d, d)), np.zeros((k, d, d)), np.zeros(k)
    factor, away, pooled = np.zeros((d, d)), np.empty(d), np.zeros((d, d))
    before, now = -np.inf, -np.inf
    half = 0.5 * d * np.log(2 * np.pi)
    for _ in range(rounds):
        mass[:] = 0
        means[:] = 0
        scatter[:] = 0
        for i in range(n):
            for c in range(k):
                part = weights[i] * shares[i, c]
                if part > 1e-10:
                    mass[c] += part
                    for a in range(d):
                        means[c, a] += part * points[i, a]
        for c in range(k):
            if mass[c] < 1e-6 * total:
                mass[:] = 0
                return mass, means, inverse, log_scale, np.inf
            for a in range(d):
                means[c, a] /= mass[c]
        for i in range(n):
            for c in range(k):
                part = weights[i] * shares[i, c]
                if part > 1e-10:
                    for a in range(d):
                        away[a] = points[i, a] - means[c, a]
                    for a in range(d):
                        for b in range(a + 1):
                            scatter[c, a, b] += part * away[a] * away[b]
        if form > 0:
            pooled[:] = 0
            for c in range(k):
                for a in range(d):
                    for b in range(a + 1):
                        pooled[a, b] += scatter[c, a, b] / total
            if form == 2:
                trace = 0.0
                for a in range(d):
                    trace += pooled[a, a] / d
                pooled[:] = 0
                for a in range(d):
                    pooled[a, a] = trace
        for c in range(k):
            if form > 0 and c > 0:
                inverse[c] = inverse[0]
                log_scale[c] = log_scale[0]
                continue
            log_scale[c] = 0.0
            for a in range(d):
                for b in range(a + 1):
                    v = pooled[a, b] if form > 0 else scatter[c, a, b] / mass[c]
                    if a == b:
                        v += floor
                    for q in range(b):
                        v -= factor[a, q] * factor[b, q]
                    factor[a, b] = np.sqrt(max(v, 1e-300)) if a == b else v / factor[b, b]
            for b in range(d):
                inverse[c, b, b] = 1.0 / factor[b, b]
                log_scale[c] += np.log(inverse[c, b, b])
                for a in range(b + 1, d):
                    v = 0.0
                    for q in range(b, a):
                        v -= factor[a, q] * inverse[c, q, b]
                    inverse[c, a, b] = v / factor[a, a]
        now = 0.0
        for i in range(n):
            top = -np.inf
            for c in range(k):
                square = 0.0
                for a in range(d):
                    v = 0.0
                    for b in range(a + 1):
                        v += inverse[c, a, b] * (points[i, b] - means[c, b])
                    square += v * v
                shares[i, c] = np.log(mass[c] / total) + log_scale[c] - 0.5 * square - half
                top = max(top, shares[i, c])
            added = 0.0
            for c in range(k):
                v = shares[i, c] - top
                shares[i, c] = np.exp(v) if v > -30 else 0.0
                added += shares[i, c]
            for c in range(k):
                shares[i, c] /= added
            now += weights[i] * (top + np.log(added)) / total
        if now - before < gain:
            break
        before = now
    parameters = k * d + k - 1 + (k * d * (d + 1) // 2 if form == 0 else (d * (d + 1) // 2 if form == 1 else 1))
    return mass / total, means, inverse, log_scale, -2.0 * now * total + parameters * np.log(total)


@njit(**OPTIONS)
def most_likely(points, mass, means, inverse, log_scale):
    """Return the most likely component of each row."""
    n, d = points.shape
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        top = -np.inf
        for c in range(len(mass)):
            square = 0.0
            for a in range(d):
                v = 0.0
                for b in range(a + 1):
                    v += inverse[c, a, b] * (points[i, b] - means[c, b])
                square += v * v
            v = np.log(mass[c]) + log_scale[c] - 0.5 * square
            if v > top:
                top, out[i] = v, c
    return out


@njit(**OPTIONS)
def best_agreement(table, sizes, others, other_sizes):
    """Return for each row of `table` its largest adjusted Rand index with a row of `others`, and which."""
    c, m = table.shape
    most = 1
    for a in range(c):
        most = max(most, sizes[a])
    wide = 1
    for b in range(len(others)):
        wide = max(wide, other_sizes[b])
    cells = np.zeros(most * wide, dtype=np.int64)
    seen = np.empty(m, dtype=np.int64)
    counts = np.zeros(max(most, wide))
    pairs = np.zeros(c), np.zeros(len(others))
    for a in range(c):
        counts[:] = 0
        for i in range(m):
            counts[table[a, i]] += 1
        pairs[0][a] = (counts * (counts - 1)).sum()
    for b in range(len(others)):
        counts[:] = 0
        for i in range(m):
            counts[others[b, i]] += 1
        pairs[1][b] = (counts * (counts - 1)).sum()
    total = m * (m - 1.0)
    best, which = np.full(c, -1.0), np.full(c, -1, dtype=np.int64)
    for a in range(c):
        for b in range(len(others)):
            found = 0
            for i in range(m):
                cell = table[a, i] * other_sizes[b] + others[b, i]
                if cells[cell] == 0:
                    seen[found] = cell
                    found += 1
                cells[cell] += 1
            both = 0.0
            for q in range(found):
                v = cells[seen[q]]
                both += v * (v - 1.0)
                cells[seen[q]] = 0
            expected, middle = pairs[0][a] * pairs[1][b] / total, (pairs[0][a] + pairs[1][b]) / 2
            value = 1.0 if middle - expected <= 1e-9 else (both - expected) / (middle - expected)
            if value > best[a]:
                best[a], which[a] = value, b
    return best, which
