"""Films of the gallery: a variable `film` of a script is saved as a GIF, which a page can show without a script."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.animation import Animation
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper


def films_and_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any], **kwargs: Any) -> str:
    """Save the film that a block made, then its figures, as sphinx-gallery's own scraper does."""
    film = block_vars["example_globals"].get("film")
    if not isinstance(film, Animation) or film._fig.number not in plt.get_fignums():
        return matplotlib_scraper(block, block_vars, gallery_conf, **kwargs)
    path = next(block_vars["image_path_iterator"])
    path = path[: path.rindex(".")] + ".gif"
    film.save(path, writer="pillow", dpi=72)
    plt.close(film._fig)
    return figure_rst([path], gallery_conf["src_dir"]) + matplotlib_scraper(block, block_vars, gallery_conf, **kwargs)
