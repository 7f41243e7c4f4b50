"""
Segmentation of an image
========================

``segment`` searches for modes of the density over position and colour. Each mode whose prominence, the height above the
saddle to a higher mode, exceeds the parameter ``prominence`` becomes a region. The photograph of Greek coins is part of
scikit-image (Brooklyn Museum, no known copyright restrictions).
"""

import matplotlib.pyplot as plt
from skimage import data

from modeseek.images import overlay, segment

image = data.coins()
figure, axes = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
for ax, prominence in zip(axes, (0.1, 0.5, 2.0), strict=True):
    labels = segment(image, prominence=prominence)
    ax.imshow(overlay(image, labels))
    ax.set_title(f"prominence={prominence:g}: {labels.max()} regions")
    ax.set_axis_off()
plt.show()
