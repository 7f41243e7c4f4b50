"""The options of `modeseek segment`, with their help."""

from __future__ import annotations

from typing import Annotated

import typer

from modeseek.cli.options import METHOD, OUTPUT

Picture = Annotated[
    str,
    typer.Argument(metavar="PICTURE", help="PNG, JPEG, TIFF, BMP, WebP or NPY; TIFF and NPY may hold volumes."),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the label image: PNG (16 bits), TIFF (32 bits) or NPY, by its ending.",
        rich_help_panel=OUTPUT,
    ),
]
Overlay = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Write the picture with the boundaries of regions: PNG, TIFF or JPEG.",
        rich_help_panel=OUTPUT,
    ),
]
SpatialBandwidth = Annotated[
    float | None,
    typer.Option(
        metavar="H",
        show_default="a sixteenth of the side",
        help="Radius of the kernel in the plane, in pixels times spacing.",
        rich_help_panel=METHOD,
    ),
]
ColourBandwidth = Annotated[
    float,
    typer.Option(
        metavar="H",
        help="Radius in colour: black and white are 100 apart.",
        rich_help_panel=METHOD,
    ),
]
Prominence = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="How far a mode must rise to make a region; less gives more regions.",
        rich_help_panel=METHOD,
    ),
]
MinSize = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        show_default="pixels of half a bandwidth squared",
        help="Smaller regions join the neighbour most like them in colour.",
        rich_help_panel=METHOD,
    ),
]
Connected = Annotated[
    bool,
    typer.Option(
        "--connected/--scattered",
        help="Whether regions are connected, or far parts of one colour may share a label.",
        rich_help_panel=METHOD,
    ),
]
Spacing = Annotated[
    str | None,
    typer.Option(
        metavar="A,B[,C]",
        show_default="1",
        help="Distance between neighbours along each axis of space, such as 2.5,1,1.",
        rich_help_panel=METHOD,
    ),
]
ChannelAxis = Annotated[
    str | None,
    typer.Option(
        metavar="N|none",
        show_default="the last, if it has 2 to 8 entries",
        help="The axis of channels in a TIFF or NPY; none for grey.",
        rich_help_panel=METHOD,
    ),
]
