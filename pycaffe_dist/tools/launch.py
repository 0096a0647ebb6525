"""What ``pcd launch`` and ``pcd train --ranks`` do: start ranks, watch them, start them again."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from pycaffe_dist.errors import PcdError
from pycaffe_dist.parallel.job import lifeline
from pycaffe_dist.parallel.job.memory import memory_folder
from pycaffe_dist.parallel.job.mpirun_words import by_signal
from pycaffe_dist.parallel.job.reach import Probe
from pycaffe_dist.parallel.job.supervisor import Job, to_stdout
from pycaffe_dist.parallel.job.watchdog import blame
from pycaffe_dist.report.glog import log_to_stderr
from pycaffe_dist.report.progress import Progress
from pycaffe_dist.solver import Action
from pycaffe_dist.solvers import snapshots
from pycaffe_dist.tools.elastic import Elastic, Team
from pycaffe_dist.tools.place import Place
from pycaffe_dist.tools.signals import INTERRUPTED, Signals

POLL_SECONDS = 0.05
RESTART_SECONDS = 1.0  # for ports and locks of the dead to be free again
LONGEST_PAUSE = 60.0  # between attempts that do not even begin: a host may be coming back
START_SECONDS = 300.0  # that a job may take, at least, to its first sign of life
REACH_SECONDS, ANSWER_SECONDS = 15.0, 30.0  # of a job that trains: see Hosts
FAREWELL_SECONDS = 15.0  # that processes may take to leave after the job is done
LOST_SECONDS = 3.0  # and after a rank has failed: mpirun waits for hosts that are cut off

logger = logging.getLogger(__name__)


@dataclass
class LaunchOptions:
    """The flags of ``pcd launch``, by their names; ``train`` is what follows the dashes.

    Attributes:
        fits: the numbers of ranks that can divide the batch; None: any can.
        run, resumes: what tells a run from others, and whether it begins where it stopped.
    """

    place: Place
    train: list[str] = field(default_factory=list)
    max_restarts: int = 3
    heartbeat_timeout: float = 600.0
    memory_snapshot: int = 0
    elastic: Elastic | None = None
    fits: Sequence[int] | None = None
    run: str = ""
    resumes: bool = False

    @contextmanager
    def memory(self) -> Iterator[dict[str, str]]:
        """The variables by which ranks know where to keep snapshots in memory, while it lasts."""
        if not self.memory_snapshot:
            yield {}
            return
        with memory_folder(self.run, self.resumes) as folder:
            every = str(self.memory_snapshot)
            yield {lifeline.MEMORY_FOLDER: str(folder), lifeline.MEMORY_EVERY: every}


def listening(sigint: str, sighup: str) -> Signals:
    """The signals of a launcher: even in haste it takes its job with it."""

    def leave(code: int) -> NoReturn:
        raise KeyboardInterrupt

    return Signals(sigint, sighup, leave)


def train_on(place: Place, argv: Sequence[str], signals: Signals) -> int:
    """Start the ranks of one ``pcd train``, stay until they end; the exit code."""
    log_to_stderr()
    place.warn()
    with signals, Screen() as screen, screen.job(argv, place, os.environ) as job:
        why = _attend(job, signals, 0)
        if job.end is None and not signals.received:
            logger.error("The job failed: %s", why)
    return _code(job, signals)


def launch(options: LaunchOptions, signals: Signals) -> int:
    """Train, and after a failure resume from the newest whole snapshot; the exit code."""
    log_to_stderr()
    options.place.warn()
    team = Team(options.place, options.elastic, options.fits)
    env = dict(os.environ)
    states: list[str] = []
    began, in_vain, failures = False, 0, 0
    with signals, options.memory() as memory:
        env |= memory
        while True:
            why, job = _attempt(options, team, env, states, signals)
            env[lifeline.AGAIN] = "1"
            states += job.snapshots
            began |= job.iteration is not None
            in_vain = in_vain + 1 if job.iteration is None else 0
            if job.end is not None or signals.received:
                return _code(job, signals)
            if not why:  # ranks join
                continue
            if not began and job.failed and not job.stalls:
                logger.error("It failed before its first iteration: starting it again is no help")
                return job.code
            left = options.max_restarts - (0 if team.progressed(job) else failures)
            failures = options.max_restarts - left + 1
            logger.error("The job failed: %s; %d restarts left", why, left)
            if signals.received:  # nobody reads what we say, for one
                return _code(job, signals)
            if not left:
                break
            team.after_failure(job)
            time.sleep(min(LONGEST_PAUSE, RESTART_SECONDS * 2**in_vain))
        logger.error("Given up after %d restarts; the last failure: %s", options.max_restarts, why)
        return job.code


def _attempt(
    options: LaunchOptions, team: Team, env: dict[str, str], states: list[str], signals: Signals
) -> tuple[str, Job]:
    """Why it failed, and the job; "" if it was ended so that ranks can join."""
    state = newest(states)
    if state:
        env[lifeline.RESUME] = state
        logger.info("Restarting from %s", state)
    flags = options.elastic.flags() if options.elastic else []
    with Screen() as screen, screen.job([*options.train, *flags], team.place, env) as job:
        why = _attend(job, signals, options.heartbeat_timeout, team)
    return why, job


class Screen(Progress):
    """The launcher's terminal: lines of all ranks, and below them how far rank 0 says it is."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def __enter__(self) -> Screen:
        super().__enter__()
        return self

    def job(self, argv: Sequence[str], place: Place, env: Mapping[str, str]) -> Job:
        show = (self.put if sys.stdout.isatty() else to_stdout), self.put
        mpirun = place.ranks > 1 or bool(place.hosts)  # one rank alone has the terminal itself
        own = {lifeline.PROGRESS: "1"} if self.live and mpirun else {}
        return Job(_program(argv), place.ranks, place.hosts, {**env, **own}, show, self.hear)

    def put(self, line: bytes) -> None:
        with suppress(OSError, ValueError):  # nobody looks any more
            self.write(line.decode(errors="replace"))
            self.flush()

    def hear(self, text: str) -> None:
        event, self.batch_size = lifeline.relayed(text)
        self(event)


def _program(argv: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "pycaffe_dist", "train", *argv]


def _attend(job: Job, signals: Signals, heartbeat_timeout: float, team: Team | None = None) -> str:
    """Stay with a job until it is over, passing wishes on; why it failed, if it did.

    With a team it may be ended for ranks that can join: then there is no reason.
    """
    over = None
    hosts = Hosts(job, REACH_SECONDS, ANSWER_SECONDS)
    while job.running:
        wish = signals.requested()
        if wish is not Action.NONE:
            job.ask(stop=wish is Action.STOP)
        now = time.monotonic()
        if job.end is not None or job.failed is not None:
            over = over or now
            if now - over > (LOST_SECONDS if job.end is None else FAREWELL_SECONDS):
                logger.warning("The job is over, but its processes stay: they are killed")
                job.kill()
        elif hosts.away(now):
            job.kill()
        elif team is not None and team.wants_to_join(job):
            logger.info("Ranks join at iteration %d", job.kept)
            job.kill(politely=False)
            team.join(job)
            return ""
        elif heartbeat_timeout and now - job.heard_at > _patience(job, heartbeat_timeout):
            job.kill()
            return f"no sign of life for {now - job.heard_at:.0f} s {_where(job)}"
        time.sleep(POLL_SECONDS)
    job.hear_out()
    return blame(job.stalls, job.ranks) if job.stalls else f"{_how(job)} {_where(job)}"


class Hosts:
    """Finds out, when no rank is heard of, whether there are hosts that do not answer.

    Args:
        job: which is being started.
        reach: seconds without a sign of life, after which they are asked.
        answer: seconds in which they answer, or are taken for unreachable.
    """

    def __init__(self, job: Job, reach: float, answer: float) -> None:
        self.job, self._begin = job, time.monotonic()
        self._reach, self._answer = reach, answer
        self._probe: Probe | None = None
        self._over = not job.hosts

    def away(self, now: float) -> bool:
        """Whether the job is to be given up."""
        waited = now - self._begin
        if self._over or (self.job.started and self._probe is None) or waited < self._reach:
            return False
        if self._probe is None:
            self._probe = self.job.probe()
        silent = self._probe.silent()
        early = waited < self._reach + self._answer
        if early and not self._probe.hosts:  # mpirun has not come to them yet, or needs no ssh
            self._probe = None
            return False
        if early and silent and not self.job.started:
            return False
        self._over = True
        self._probe.end()
        if self.job.started:
            return False
        if not silent:
            text = (
                "No rank has started after %.0f s, but all hosts answer. A firewall between them?"
            )
            logger.warning(text, waited)
        self.job.away += silent
        return bool(silent)


def _how(job: Job) -> str:
    """What is known of how a job ended; of a rank that had no last word mpirun tells the rest."""
    if job.away:
        return f"no answer from {', '.join(job.away)}"
    if job.words.lost:
        return f"no answer any more from {', '.join(job.words.lost)}"
    if job.words.killed:
        return job.words.killed
    if job.culprit:
        return f"{job.culprit} gave up with exit code {job.failed}"
    code = job.process.returncode
    number = -code if code < 0 else code - 128
    if number in set(signal.Signals):
        return by_signal(number)
    return "ended before it was done" if code == 0 else f"exit code {code}"


def _patience(job: Job, heartbeat_timeout: float) -> float:
    started = job.iteration is not None
    return heartbeat_timeout if started else max(START_SECONDS, heartbeat_timeout)


def _where(job: Job) -> str:
    if job.iteration is None:
        names = ", ".join(job.away or [host.name for host in job.hosts])
        ask = f". Does ssh get to {names} without a password, and is pcd there?" if names else ""
        return "before its first iteration" + (ask if job.failed is None else "")
    return f"after iteration {job.iteration}"


def _code(job: Job, signals: Signals) -> int:
    if signals.code:
        return signals.code
    return INTERRUPTED if signals.received and job.end is None else job.code


def newest(states: Sequence[str]) -> str | None:
    """The newest snapshot that is whole.

    One in a folder that is not to be seen from here was written on another host: it is believed.
    """
    for state in reversed(states):
        if not Path(state).parent.is_dir():
            return state
        try:
            stem, end = state.rsplit(".solverstate", 1)
            weights = f"{stem}.caffemodel{end}"
            snapshots.verify(snapshots.Snapshot(0, stem, weights, state))
        except (PcdError, OSError) as e:
            logger.warning("Passing over a damaged snapshot: %s", e)
            continue
        return state
    return None
