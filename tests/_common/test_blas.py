"""Matrix products on one thread, and the setting of the process before and after."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from modeseek import ModeSeek
from modeseek._common.blas import one_blas_thread


def threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def several():
    with threadpool_limits(3, user_api="blas"):
        if threads() != {3}:
            pytest.skip("this BLAS has one thread")
        yield


def test_the_setting_is_restored_after_an_error():
    def fail():
        with one_blas_thread():
            raise RuntimeError(str(threads()))

    with pytest.raises(RuntimeError, match=r"\{1\}"):
        fail()
    assert threads() == {3}


def test_overlapping_blocks_restore_the_setting_once():
    """As two fits in two threads, the first of which ends first."""
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == {3}


def test_a_fit_uses_one_thread_and_restores_the_setting():
    seen = []
    model = ModeSeek(callbacks=[lambda stage: seen.append(threads())])
    model.fit(np.random.default_rng(0).normal(size=(100, 2)))
    assert seen
    assert all(each == {1} for each in seen)
    assert threads() == {3}
