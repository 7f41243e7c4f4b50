"""How the page looks: its frame in HTML, its style, and what goes into every widget."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["FRAME", "INSIDE", "Ink", "beside", "ink"]


def beside(width: str) -> list[str]:
    """Return the style of a layout whose parts stand side by side where each has room for this width."""
    columns = f"repeat(auto-fit, minmax(min(100%, {width}), 1fr))"
    # Panel's columns carry a button for scrolling, which would take a place
    return [
        f":host {{ display: grid; gap: 0 0.4rem; grid-template-columns: {columns}; }} "
        ".scroll-button { display: none !important; }"
    ]


class Ink(NamedTuple):
    """Colours of a figure."""

    text: str
    faint: str
    grid: str
    ghosts: float
    lone: str
    first: str
    second: str


def ink(*, dark: bool) -> Ink:
    """Return the colours of figures, for light or dark."""
    if dark:
        return Ink("#e6e9ed", "#a7b0ba", "#3a424b", 0.6, "#8b949e", "#56b4e9", "#e69f00")
    return Ink("#22262b", "#57606a", "#e3e6ea", 0.4, "#8b949e", "#0072b2", "#b35900")


# reaches into the shadow of every widget
INSIDE = """
:host { --design-background-color: var(--card); --design-background-text-color: var(--ink);
  --design-surface-color: var(--field); --design-surface-text-color: var(--ink); --panel-border-color: var(--rule);
  --panel-primary-color: var(--accent); --panel-on-primary-color: var(--on-accent);
  --design-primary-color: var(--accent); --design-primary-text-color: var(--on-accent);
  --border-color: var(--rule); --text-color: var(--ink);
  color: var(--ink); font-family: var(--sans); font-size: 0.88rem; }
label, .bk-input-group, .bk-input-group label { color: var(--ink); font-size: 0.86rem; }
.bk-input { background-color: var(--field) !important; color: var(--ink) !important;
  border: 1px solid var(--edge) !important; border-radius: 5px; font-size: 0.9rem; min-height: 2.1rem; }
select.bk-input { padding: 0 0.3rem !important; appearance: auto !important; -webkit-appearance: menulist !important;
  background-image: none !important; }
input::file-selector-button { margin: 0.15rem 0.5rem 0.15rem 0.15rem; padding: 0.2rem 0.6rem; color: var(--ink);
  background: var(--wash); border: 1px solid var(--edge); border-radius: 4px; font: inherit; }
.bk-input::placeholder { color: var(--faint); opacity: 1; }
.bk-btn { border: 1px solid var(--edge) !important; border-radius: 5px; font-size: 0.9rem; min-height: 2.1rem;
  color: var(--ink); background-color: var(--field); }
.bk-btn-default { color: var(--ink) !important; background-color: var(--field) !important; }
.bk-btn:hover:not(:disabled) { border-color: var(--accent) !important; }
.bk-btn-primary, .bk-btn-group .bk-btn.bk-active { color: var(--on-accent) !important;
  background-color: var(--accent) !important; border-color: var(--accent) !important; }
.bk-btn:disabled { opacity: 0.55; }
input[type="checkbox"] { accent-color: var(--accent); width: 1rem; height: 1rem; }
a { color: var(--accent); }
.bk-btn a, a.bk-btn { color: inherit; }
*:focus-visible, .bk-input:focus-visible { outline: 3px solid var(--focus) !important; outline-offset: 1px;
  box-shadow: none !important; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.2rem, 1fr)); gap: 0.2rem 0.8rem; margin: 0; }
dl.facts div { min-width: 0; }
dl.facts dt { color: var(--faint); font-size: 0.76rem; }
dl.facts dd { margin: 0; font-size: 1.02rem; font-weight: 600; font-variant-numeric: tabular-nums; }
p { margin: 0.25rem 0; font-size: 0.88rem; line-height: 1.4; overflow-wrap: anywhere; }
p.state { color: var(--ink); }
p.faint { color: var(--faint); }
p.error { color: var(--bad) !important; border-left: 4px solid var(--bad); padding: 0.4rem 0.7rem;
  background: var(--wash); }
p.note { border-left: 4px solid var(--accent); padding: 0.4rem 0.7rem; background: var(--wash); }
h3 { margin: 0 0 0.2rem; font-size: 0.95rem; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: left; padding: 0.25rem 0.8rem 0.25rem 0; border-bottom: 1px solid var(--rule); vertical-align: top;
  font-weight: 400; overflow-wrap: anywhere; }
thead th { font-weight: 600; }
th[scope="row"] { overflow-wrap: break-word; min-width: 5.5rem; color: var(--faint); }
pre { margin: 0; padding: 0.7rem; background: var(--wash); border: 1px solid var(--rule); border-radius: 5px;
  font: 0.84rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-x: auto; }
"""

STYLE = """
:root { --paper: #f4f5f7; --card: #ffffff; --field: #ffffff; --wash: #f4f5f7; --ink: #22262b; --faint: #57606a;
  --rule: #d9dde2; --edge: #868e97; --accent: #0b5c96; --on-accent: #ffffff; --focus: #d55e00; --bad: #a40e26;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  color-scheme: light; }
:root[data-theme="dark"] { --paper: #14181c; --card: #1d2329; --field: #262d34; --wash: #262d34; --ink: #e6e9ed;
  --faint: #a7b0ba; --rule: #3a424b; --edge: #6d7681; --accent: #6cb6ea; --on-accent: #0d1318; --focus: #f0a04b;
  --bad: #ff9aa5; color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.45 var(--sans); }
header { display: flex; align-items: center; gap: 1rem; padding: 0.6rem 1rem; background: var(--card);
  border-bottom: 1px solid var(--rule); }
header h1 { margin: 0; font-size: 1.1rem; letter-spacing: -0.01em; }
header p { margin: 0; color: var(--faint); font-size: 0.86rem; flex: 1; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 9; padding: 0.4rem 0.8rem; background: var(--card);
  color: var(--accent); }
.frame { display: grid; grid-template-columns: 19.5rem minmax(0, 1fr); gap: 0.9rem; padding: 0.9rem; max-width: 110rem;
  margin: 0 auto; align-items: start; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 0.75rem 0.9rem;
  min-width: 0; margin-bottom: 0.9rem; }
.card h2 { margin: 0 0 0.4rem; font-size: 0.95rem; }
@media (max-width: 820px) {
  .frame { grid-template-columns: minmax(0, 1fr); padding: 0.5rem; gap: 0.5rem; }
  main { order: -1; }
  header { padding: 0.5rem; } header p { display: none; } header h1 { flex: 1; }
  .card { margin-bottom: 0.5rem; padding: 0.6rem; }
}
"""

FRAME = """
{% extends base %}
{% block postamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<style>STYLE</style>
<script>
  document.documentElement.lang = "en";
  document.documentElement.dataset.theme = localStorage.getItem("modeseek-theme") ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
</script>
{% endblock %}
{% block contents %}
<a class="skip" href="#stage">To the run button</a>
<header>
  <h1>modeseek explore</h1>
  <p>Watch mean shift find clusters. Everything stays on this computer.</p>
  {{ embed(roots.theme) }}
</header>
<div class="frame">
  <aside aria-label="Settings">
    <section class="card"><h2>Data</h2>{{ embed(roots.data) }}</section>
    <section class="card">{{ embed(roots.forms) }}</section>
  </aside>
  <main id="stage">
    <div class="card">{{ embed(roots.transport) }}</div>
    <div class="card">{{ embed(roots.main) }}</div>
  </main>
</div>
{% endblock %}
""".replace("STYLE", STYLE)
