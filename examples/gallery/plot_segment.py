"""
Segmentation of an image
========================

``segment`` searches for modes of the density over position and colour, and merges similar regions. Several numbers of
regions give layers: each region of one layer is a union of regions of the next. The photograph of Greek coins is part
of scikit-image (Brooklyn Museum, no known copyright restrictions).
"""

import matplotlib.pyplot as plt
from skimage import data

from modeseek.images import overlay, segment

image = data.coins()
figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
for ax, labels in zip(axes, segment(image, n_regions=(5, 25, 100)), strict=True):
    ax.imshow(overlay(image, labels))
    ax.set_title(f"{labels.max()} regions")
    ax.set_axis_off()
plt.show()
