"""The bandwidth scan."""

import pytest
from explorer_runs import BMS, DSMS, MODE_SEEK, MS, finished, mixture, wait_until

from modeseek.explorer import RunSettings
from modeseek.explorer.bandwidth_scan import BandwidthScan


@pytest.fixture(scope="module")
def data():
    return mixture()


def test_larger_bandwidths_give_fewer_clusters(data):
    settings = RunSettings(BMS)
    scan = BandwidthScan(data, settings, 0.3, 3.0, 6, data.dataset.group_labels("label"))
    wait_until(lambda: scan.ended)
    assert not scan.failure
    assert len(scan.rows) == 6
    assert scan.rows[0].clusters == 1
    assert scan.rows[-1].clusters > 20
    assert max(row.agreement for row in scan.rows) > 0.4
    row = scan.rows[3]
    assert finished(data, settings.with_bandwidth(row.h, scan.base)).result.n_clusters == row.clusters


def test_a_scan_can_be_cancelled(data):
    scan = BandwidthScan(data, RunSettings(DSMS), None, None, 1000)
    wait_until(lambda: scan.rows)
    scan.cancel()
    wait_until(lambda: scan.ended)
    assert 0 < len(scan.rows) < 1000


@pytest.mark.parametrize(
    ("algorithm", "ends", "message"),
    [
        (MODE_SEEK, (None, None), "ModeSeek has no bandwidth"),
        (MS, (2.0, 1.0), "'from' must be below 'to'"),
        (MS, (-1.0, 1.0), "from must be"),
    ],
)
def test_invalid_scans_are_rejected(data, algorithm, ends, message):
    with pytest.raises(ValueError, match=message):
        BandwidthScan(data, RunSettings(algorithm), *ends, 5)
