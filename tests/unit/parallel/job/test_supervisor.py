import signal
import sys
import time

import pytest

from pycaffe_dist.parallel.job.supervisor import Job

# A run that a SIGTERM ends early, as it ends `pcd train`.
STOPS = """
import os, signal, sys, time
from pycaffe_dist.parallel.job import lifeline
def stop(number, frame):
    lifeline.say(lifeline.END, f"early {128 + number}")
    os._exit(128 + number)
signal.signal(signal.SIGTERM, stop)
lifeline.say(lifeline.BEAT, 0)
time.sleep(60)
"""


@pytest.mark.parametrize(("by_us", "code"), [(True, 0), (False, 143)])
def test_a_run_that_was_asked_to_stop_has_not_failed(by_us, code):
    with Job([sys.executable, "-c", STOPS]) as job:
        while job.iteration is None:
            time.sleep(0.01)
        if by_us:
            job.ask(stop=True)
        else:
            job.process.send_signal(signal.SIGTERM)
        job.process.wait()
        job.hear_out()
        assert job.end == "early"
        assert job.code == code
