"""How a page looks in a browser and on paper."""

from __future__ import annotations

__all__ = ["CSS"]

CSS = """
:root { --paper: #fff; --ink: #22262b; --faint: #57606a; --rule: #d5d9de; --hair: #e8eaed; --wash: #f5f6f8;
  --link: #0b5394; --shade: #0002;
  --serif: Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
* { box-sizing: border-box; }
html { font-size: 106.25%; color-scheme: light dark; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0 auto; padding: 2rem 1.15rem 4rem; max-width: 64rem; background: var(--paper); color: var(--ink);
  font-family: var(--serif); line-height: 1.58; overflow-wrap: break-word; }
header, nav, main { min-width: 0; }
h1, h2, h3, h4, h5, h6 { font-family: var(--sans); line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance;
  scroll-margin-top: 1.5rem; break-after: avoid; }
h1 { margin: 0 0 0.9rem; font-size: 2rem; }
h2 { margin: 3.2rem 0 0.9rem; padding-top: 1.1rem; border-top: 1px solid var(--rule); font-size: 1.42rem; }
h3 { margin: 2.1rem 0 0.6rem; font-size: 1.12rem; }
h4, h5, h6 { margin: 1.6rem 0 0.5rem; font-size: 1rem; }
p, ul { margin: 0 0 1rem; max-width: 70ch; }
ul { padding-left: 1.3rem; }
li { margin: 0.25rem 0; }
li::marker { color: var(--faint); }
a { color: var(--link); text-underline-offset: 0.15em; text-decoration-thickness: 0.06em; }
a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code { font-family: var(--mono); font-size: 0.86em; }
:not(pre) > code { padding: 0.08em 0.3em; border-radius: 3px; background: var(--wash); }
.lead { font-size: 1.14rem; line-height: 1.5; max-width: 62ch; }
nav { margin: 1.6rem 0 0; padding: 0.9rem 0; border-top: 1px solid var(--rule); font: 0.86rem/1.4 var(--sans); }
nav p { margin: 0 0 0.4rem; color: var(--faint); font-weight: 600; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li { margin: 0; }
nav li.sub { padding-left: 1rem; }
nav a { display: block; padding: 0.2rem 0; color: var(--ink); text-decoration: none; }
nav li.sub a { color: var(--faint); }
nav a:hover { color: var(--link); text-decoration: underline; }
main > h2:first-child { margin-top: 1.4rem; }
figure { margin: 1.7rem 0 2.1rem; break-inside: avoid; }
figure img { display: block; max-width: 100%; height: auto; }
figcaption { margin-top: 0.7rem; max-width: 80ch; color: var(--faint); font: 0.86rem/1.5 var(--sans); }
figcaption code { font-size: 0.92em; }
.tabular figcaption { margin: 0 0 0.55rem; }
/* a shadow at an edge behind which there is more: its cover scrolls along, it does not */
.scroll { max-width: 100%; overflow-x: auto; background:
    linear-gradient(to right, var(--paper) 40%, transparent) 0 0 / 2.5rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 40%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
    linear-gradient(to right, var(--shade), transparent) 0 0 / 0.7rem 100% no-repeat scroll,
    linear-gradient(to left, var(--shade), transparent) 100% 0 / 0.7rem 100% no-repeat scroll; }
table { border-collapse: collapse; border-block: 1.5px solid var(--ink); font: 0.86rem/1.45 var(--sans);
  font-variant-numeric: tabular-nums lining-nums; }
th, td { padding: 0.4rem 1.1rem 0.4rem 0; text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0.2rem; }
tbody tr + tr > * { border-top: 1px solid var(--hair); }
thead th { border-bottom: 1px solid var(--ink); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 400; }
td, tbody th { max-width: 34rem; }
.number { text-align: right; }
td.number, .short, .mark { white-space: nowrap; }
.long { min-width: 13rem; }
.stack div + div { margin-top: 0.15rem; }
.mark { display: inline-block; padding: 0.06rem 0.5rem; border: 1px solid; border-radius: 0.8rem; font-size: 0.8rem;
  font-weight: 600; line-height: 1.4; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.swatch { display: inline-block; width: 0.75em; height: 0.75em; margin-right: 0.45em; border-radius: 50%;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.good { border-color: #9fd3b8; background: #e4f4eb; color: #0a5733; }
.partly { border-color: #e6cb83; background: #fcf2d6; color: #694700; }
.bad { border-color: #e9b1a9; background: #fce8e5; color: #8a1c11; }
details { margin: 1.2rem 0; border: 1px solid var(--rule); border-radius: 4px; }
summary { padding: 0.5rem 0.9rem; cursor: pointer; font: 0.88rem/1.5 var(--sans); }
details[open] > summary { border-bottom: 1px solid var(--rule); }
pre { margin: 0; padding: 0.8rem 0.9rem; max-height: 32rem; overflow: auto; background: var(--wash);
  font-size: 0.92rem; line-height: 1.45; tab-size: 4; }
/* pictures are drawn for white paper */
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #16191d; --ink: #e3e6ea; --faint: #a2abb5; --rule: #3b424b; --hair: #2b3138; --wash: #20252b;
    --link: #82b8f2; --shade: #fff3; }
  figure img { padding: 0.5rem; border-radius: 6px; background: #fff; }
  .good { border-color: #2f6e4c; background: #12301f; color: #8fdcb0; }
  .partly { border-color: #7a6023; background: #33290f; color: #efcd7a; }
  .bad { border-color: #84392f; background: #391713; color: #f4a79c; }
}
@media (min-width: 72rem) {
  body { display: grid; grid-template: auto 1fr / 13.5rem minmax(0, 61rem); column-gap: 3.5rem;
    justify-content: center; max-width: none; padding: 3rem 2rem 6rem; }
  header, main { grid-column: 2; }
  nav { position: sticky; top: 2rem; grid-area: 1 / 1 / span 2; align-self: start; max-height: calc(100vh - 4rem);
    margin: 0; padding: 0.35rem 0 0; border: 0; overflow-y: auto; }
  h1 { font-size: 2.3rem; }
}
@media (min-width: 56rem) { .stack.long { min-width: 21.3rem; } }
@media (max-width: 40rem) {
  html { font-size: 100%; }
  h1 { font-size: 1.65rem; }
  h2 { margin-top: 2.4rem; font-size: 1.3rem; }
  .wide img { min-width: 40rem; }
}
@media print {
  @page { margin: 20mm 18mm; }
  html { font-size: 10pt; }
  body { display: block; max-width: none; padding: 0; }
  nav { display: none; }
  a { color: inherit; text-decoration: none; }
  p, li { orphans: 3; widows: 3; }
  p, ul, figcaption, .lead { max-width: none; }
  tr { break-inside: avoid; }
  figure img { width: auto; max-height: 9.5cm; }
  .scroll { overflow: visible; background: none; }
  pre { max-height: none; white-space: pre-wrap; }
}
"""
