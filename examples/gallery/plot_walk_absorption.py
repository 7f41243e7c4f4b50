"""
Where the bandwidth of the policy "walk" ends
=============================================

The paper states a law for the bandwidth of doubly stochastic mean shift, its Algorithm 1b, which is the policy *walk*
here. Each step multiplies 1/h^2 by a random number with mean 1, so 1/h^2 is a bounded martingale and converges. With
the paper's slowly decreasing nu, the steps vanish only at the ends of the range, where no step is possible.

So every walk ends at h_min or at h_max, and from then on the algorithm is stochastic mean shift with that single
bandwidth. Which end it is depends on chance. The default policy, *shrinking*, keeps drawing from most of the range.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeseek import DoublyStochasticMeanShift
from modeseek.datasets import paper_mixture
from modeseek.meanshift.bandwidth import Shrinking, Walk, uniforms
from modeseek.meanshift.theory import simulate_absorption, walk_paths
from modeseek.plots import palette

# %%
# Probabilities of the two ends
# -----------------------------
# They follow from the start of the walk by a formula, which a simulation confirms.

walk = Walk(h_min=0.2, h_max=1.6, h_inf=0.6)
print(walk.absorption().message)
print(simulate_absorption(walk, n_paths=10_000, n_draws=500))

# %%
# Paths of the two policies
# -------------------------
# Left: forty walks from h = 0.6. Within about a hundred draws, each reaches an end of the range and stays there. Right:
# 300 draws of the policy shrinking. The range shrinks towards h_inf, but so slowly that draws near h_max keep
# occurring.

words = uniforms(0, 0, 1, 40 * 300)[:, 1].reshape(40, 300)
paths = np.column_stack([np.full(40, walk.h_0), walk_paths(walk, words)])
shrinking = Shrinking(0.2, 1.6, 0.6)
draws = shrinking.draw(words[0], shrinking.h_0, 0)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for path in paths:
    up = path[-1] > 0.9
    left.plot(path, color="#009E73" if up else "#E69F00", linewidth=0.9, alpha=0.6 if up else 1, zorder=2 if up else 3)
right.plot(np.arange(1, 301), draws, ".", color="#0072B2", markersize=4)
for ax, title in ((left, "walk: forty chains"), (right, "shrinking: one chain")):
    ax.axhline(0.6, color="#777777", linewidth=0.8, linestyle=":")
    ax.set_title(title, loc="left")
    ax.set_xlabel("draw k")
    ax.set_yticks([0.2, 0.6, 1.6], ["h_min = 0.2", "h_inf = 0.6", "h_max = 1.6"])
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Effect on the clusters
# ----------------------
# The data are the paper's mixture, three groups of 50 points. Forty chains run with each policy, at the paper's
# settings. Chains whose walk ends at h_max find one or two clusters, and chains whose walk ends at h_min find dozens.

X, y = paper_mixture(50, random_state=0)
counts = {
    policy: [
        DoublyStochasticMeanShift(0.2, 1.6, 0.6, policy=policy, random_state=seed).fit(X).n_clusters_
        for seed in range(40)
    ]
    for policy in ("walk", "shrinking")
}

figure, ax = plt.subplots(figsize=(10, 3.4), layout="constrained")
for offset, color, (policy, found) in zip((-0.2, 0.2), palette(2), counts.items(), strict=True):
    ax.bar(np.arange(40) + offset, found, width=0.4, color=color, label=policy)
ax.axhline(3, color="#333333", linewidth=0.8, linestyle=":")
ax.set_yscale("log")
ax.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
ax.set_xlabel("seed")
ax.set_ylabel("number of clusters")
ax.legend(frameon=False, ncols=2)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
for policy, found in counts.items():
    print(f"{policy:9}: {min(found)} to {max(found)} clusters, median {np.median(found):.0f}")
