# Copyright 2026 The robot_identification authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""One motion of the excitation node, in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
import time
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.excitation import check_certificate, load_excitation
from robot_identification.execution import (
    Fault,
    MotionPlan,
    plan_motion,
    Run,
    Sending,
    States,
    Tolerances,
)
from robot_identification.nodes.controller_client import ControllerClient, Transport
from robot_identification.nodes.joint_state_listener import JointStateListener
from robot_identification.nodes.recorder_client import RecorderClient
from robot_identification.nodes.trajectories import trajectory_message
from robot_identification.recording.effort import joint_position

STEP = 0.005         # [s] of the watch
BEGIN = 300_000_000  # [ns] from the first piece to the begin of the motion
FRESH = 0.5          # [s] that a stamp may differ from this clock before the motion
STILL = 0.01         # [rad or m] that the arm may move while it is looked at
LOOK = 0.3           # [s]
PATIENCE = 3.0       # [s] for the first joint state
Feedback = Callable[[str, float, float, float], None]


@dataclass(frozen=True)
class Outcome:
    """
    How a motion ended.

    Parameters
    ----------
    reason, text
        For machines, and a sentence.
    recording
        Folder of the bag.
    duration
        [s].
    largest_error
        (n,) [rad or m].
    transport
        By which the controller was told.

    """

    reason: str
    text: str
    recording: str = ''
    duration: float = 0.0
    largest_error: Array = field(default_factory=lambda: np.zeros(0))
    transport: str = ''


class Motion:
    """
    Checks, plans, executes and records.

    Parameters
    ----------
    node
        For clock, log and subscription.
    arm
        The arm.
    controller, recorder
        Its partners.
    topic
        Of the joint states.
    tolerances, sending
        Of the run.
    speed
        Of the approach as a part of the limits.
    warn
        Told what is not watched.

    """

    def __init__(self, node: Any, arm: Arm, controller: ControllerClient,
                 recorder: RecorderClient, topic: str, tolerances: Tolerances, sending: Sending,
                 speed: float, warn: Callable[[str], None]) -> None:
        self._node, self._arm, self._topic = node, arm, topic
        self._controller, self._recorder = controller, recorder
        self._tolerances, self._sending, self._speed = tolerances, sending, speed
        self._warn = warn
        self._efforts: Array | None = None   # as published before the motion
        self._stop: Fault | None = None

    @property
    def fault(self) -> Fault | None:
        """What was asked to end it."""
        return self._stop

    def stop(self, fault: Fault) -> None:
        """Ask for an end, also before the motion began."""
        self._stop = self._stop or fault

    def execute(self, path: Path, periods: int, recording: str, excitation: str,
                feedback: Feedback) -> Outcome:
        """
        Execute an excitation.

        Parameters
        ----------
        path, periods
            Its file, and how often it is repeated.
        recording, excitation
            Names for the recorder; no recording when empty.
        feedback
            Told phase, time, duration and largest tracking error.

        Raises
        ------
        RobotIdentificationError
            The motion did not begin; the text says why.

        """
        motion = load_excitation(path)
        check_certificate(motion, self._arm)    # proven again, here and for this arm
        link = self._controller.check(self._arm.joint_names)
        if recording:
            self._recorder.check()
        listener = JointStateListener(self._node, self._arm, self._topic)
        try:
            plan = plan_motion(self._arm, motion, self._where(listener), periods=periods,
                               speed=self._speed)
            return self._perform(plan, link, listener, recording, excitation, feedback)
        finally:
            listener.destroy()

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _where(self, listener: JointStateListener) -> Array:
        latest = time.monotonic() + PATIENCE
        taken = None
        while taken is None:
            if time.monotonic() > latest:
                raise ExecutionError(
                    'stale_joint_states',
                    f"no message on '{listener.topic}' with the joints "
                    f"{', '.join(self._arm.joint_names)} for {PATIENCE:g} s")
            time.sleep(0.01)
            taken = listener.take()
        first = taken[1][0]
        time.sleep(LOOK)
        taken = listener.take()
        age = (self._now() - listener.stamp) / 1e9
        if taken is None or time.monotonic() - listener.heard > self._tolerances.stale:
            raise ExecutionError('stale_joint_states', f"'{listener.topic}' has fallen silent")
        if abs(age) > FRESH:
            raise ExecutionError(
                'clock',
                f'the stamps of the joint states are {age:.2f} s behind the clock of this node; '
                'synchronise the clocks (chrony, NTP), or set use_sim_time on all nodes')
        positions = np.vstack([first, taken[1]])
        moved = np.ptp(positions, axis=0)
        if np.any(moved > STILL):
            joint = self._arm.joint_names[int(np.argmax(moved))]
            raise ExecutionError('arm_moves', f"joint '{joint}' moves already; another client "
                                 f'commands the arm')
        self._efforts = taken[3]
        return joint_position(self._arm, positions[-1:])[0]

    def _perform(self, plan: MotionPlan, link: Transport, listener: JointStateListener,
                 recording: str, excitation: str, feedback: Feedback) -> Outcome:
        begin = self._now() + BEGIN
        run = Run(self._arm, plan, lambda piece: link.send(
            trajectory_message(self._arm.joint_names, piece, begin)),
            self._tolerances, self._sending)
        unwatched = run.watch.look(self._efforts)
        if unwatched:
            self._warn(f'efforts are not watched: {unwatched}')
        bag = _Bag(self._recorder if recording else None, recording, excitation,
                   plan.start_of('settle'), plan.start_of('run_in'))
        last = time.monotonic()
        while not run.finished:
            time.sleep(STEP)
            now, real = (self._now() - begin) / 1e9, time.monotonic()
            if self._stop is not None:
                run.stop(self._stop)
            fault, held = link.news() or (bag.step(now, run.braking), False)
            if fault is not None:
                run.stop(fault, held=held)
            states = self._taken(listener, begin)
            run.step(now, states, listener.age(self._now()), real - last)
            last = real
            if run.braking and self._sending.mode == 'whole' and link.refused:
                link.hold()
            feedback(run.phase(now), now, plan.duration, float(run.watch.largest_error.max()))
        ending, remark = link.confirm(run.at_rest is True)
        path, trouble = bag.close()
        fault = run.fault or ending or (Fault('recorder_failed', trouble) if trouble else None)
        rest = {True: '; the arm rests', False: '; the arm may still move',
                None: '; whether the arm rests is not known'}[run.at_rest]
        text = f'executed in {plan.duration:.1f} s{remark}' if fault is None else fault.text + rest
        return Outcome(
            'finished' if fault is None else fault.reason,
            f'{text}; efforts were not watched: {unwatched}' if unwatched else text, path,
            plan.duration, run.watch.largest_error, link.name)

    @staticmethod
    def _taken(listener: JointStateListener, begin: int) -> States | None:
        taken = listener.take()
        if taken is None:
            return None
        stamps, q, v, effort = taken
        return States((stamps - begin) / 1e9, q, v, effort)


class _Bag:
    """The recording of a motion: begun while the arm rests before the run-in."""

    def __init__(self, recorder: RecorderClient | None, name: str, excitation: str, settle: float,
                 run_in: float) -> None:
        self._recorder, self._name, self._excitation = recorder, name, excitation
        self._settle, self._run_in = settle, run_in
        self._answer: Any = None

    def step(self, now: float, braking: bool) -> Fault | None:
        """Start it in time, and return what is wrong with it."""
        if self._recorder is None or braking:
            return None
        if self._answer is None:
            if now > self._settle:
                self._answer = self._recorder.start(self._name, self._excitation)
            return None
        if not self._answer.done():
            late = now > self._run_in - 0.1
            return Fault('recorder_failed', 'the recorder did not answer') if late else None
        answer = self._answer.result()
        return None if answer.success else Fault('recorder_failed', answer.message)

    def close(self) -> tuple[str, str]:
        """End it; return its path, and a sentence where something is wrong with it."""
        if self._recorder is None or self._answer is None:
            return '', ''
        return self._recorder.stop()
