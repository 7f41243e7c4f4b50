"""
Segment a microscope image by its stains
========================================

The image shows tissue of the colon. Haematoxylin stains all nuclei blue, and an antibody stains the cells with the
protein FHL2 brown. `skimage.color.rgb2hed` turns the colours into the amounts of the two stains, and `segment` takes
these amounts as the channels of an image. The image is part of scikit-image (Center for Microscopy and Molecular
Imaging, no known copyright restrictions).
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data
from skimage.color import rgb2hed
from skimage.measure import regionprops_table

from modeseek.images import overlay, segment

image = data.immunohistochemistry()
stains = rgb2hed(image)[..., [0, 2]]  # haematoxylin and the brown of the antibody
# a few extreme pixels would compress the range of the others
low, high = np.quantile(stains, [0.005, 0.995], axis=(0, 1))
stains = np.clip(stains, low, high)

# %%
# The channels are not colours, so `convert2lab` is False.
labels = segment(stains, convert2lab=False)
print(f"{labels.max()} regions")

# %%
# The mean amounts of the stains in each region show where the protein is. A region counts as stained if it has more
# brown than the mean of the image.
table = regionprops_table(labels, stains, properties=("label", "area", "intensity_mean"))
brown = table["intensity_mean-1"] > stains[..., 1].mean()
print(f"{brown.sum()} stained regions, {table['area'][brown].sum() / labels.size:.0%} of the image")

# %%
figure, axes = plt.subplots(2, 2, figsize=(9, 9), layout="constrained")
pictures = {
    "image": image,
    "amount of brown": stains[..., 1],
    f"{labels.max()} regions": overlay(image, labels),
    "stained regions": np.isin(labels, table["label"][brown]),
}
for axis, (title, picture) in zip(axes.flat, pictures.items(), strict=True):
    axis.imshow(picture, cmap="gray")
    axis.set_title(title)
    axis.set_axis_off()
plt.show()
