"""Settings read from the texts of a form."""

import re

import pytest
from explorer_runs import DSMS, MODE_SEEK, SMS

from modeseek.explorer import ALGORITHMS, RunSettings, read_settings
from modeseek.explorer.run_settings import FIELDS
from modeseek.selection.bandwidths import Range


@pytest.mark.parametrize(
    ("algorithm", "texts", "message"),
    [
        (DSMS, {"h_max": "wide"}, "h_max must be a number > 0, or empty for an automatic value; got 'wide'"),
        (DSMS, {"h_min": "-1"}, "h_min must be a number > 0"),
        (DSMS, {"h_min": "inf"}, "h_min must be a number > 0"),
        (DSMS, {"h_min": "2", "h_max": "1"}, "h_min must not exceed h_max"),
        (DSMS, {"h_min": "1", "h_max": "2", "h_inf": "3"}, "h_inf must lie in"),
        (SMS, {"bandwidth": "0"}, "bandwidth must be a number > 0"),
        (SMS, {"random_state": "1.5"}, "seed must be an integer"),
        (SMS, {"n_chains": "0"}, "chains must be an integer from 1"),
        (DSMS, {"nu": "quick"}, "nu must be"),
        (DSMS, {"policy": "shrink"}, "Did you mean 'shrinking'"),
    ],
)
def test_messages_name_the_field(algorithm, texts, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_settings(algorithm, texts)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_defaults_of_the_form_are_those_of_the_estimator(algorithm):
    settings = read_settings(algorithm, {name: field.default for name, field in FIELDS.items()})
    assert settings == RunSettings(algorithm)


def test_fields_of_other_algorithms_are_not_read():
    assert read_settings(MODE_SEEK, {"h_max": "wide"}) == RunSettings(MODE_SEEK)


def test_a_range_is_scaled_in_proportion():
    settings = RunSettings(DSMS, {"random_state": 4}).with_bandwidth(2.0, Range(0.5, 0.75, 1.0))
    assert settings.parameters == {"random_state": 4, "h_min": 1.0, "h_inf": 1.5, "h_max": 2.0}
