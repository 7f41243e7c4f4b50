"""The paper's experiments, each a file with a frozen config, and the harness that runs them."""
