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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
import time
from typing import Any

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.excitation import check_certificate, Excitation, load_excitation
from robot_identification.recording.effort import joint_position
from robot_identification.ros.execution import (
    Fault,
    MotionPlan,
    plan_motion,
    Reference,
    Run,
    States,
    Tolerances,
    Watch,
)
from robot_identification.ros.execution.driver_effort import check_driver
from robot_identification.ros.execution.pieces import LATE, Piece, REST, whole
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.run import Sending
from robot_identification.ros.execution.watch import unwrapped
from robot_identification.ros.nodes.controller_client import ControllerClient, Transport
from robot_identification.ros.nodes.joint_state_listener import JointStateListener
from robot_identification.ros.nodes.recorder_client import RecorderClient
from robot_identification.ros.nodes.shown_path import ShownPath
from robot_identification.ros.nodes.trajectories import SECOND, stamp_of, trajectory_message

STEP = 0.005         # [s] of the watch
STILL = 0.01         # [rad or m] that the arm may move while it is looked at
LOOK = 0.3           # [s]
SAG = 0.05           # [rad or m] of the arm from its reference at rest
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
        Topic of the joint states.
    tolerances, sending
        Tolerances and way of sending of the run.
    speed
        Speed of the approach, as a part of the limits.
    shown
        Where it is shown.
    warn
        Told what is not watched.

    """

    def __init__(self, node: Any, arm: Arm, controller: ControllerClient,
                 recorder: RecorderClient, topic: str, tolerances: Tolerances, sending: Sending,
                 speed: float, shown: ShownPath, warn: Callable[[str], None]) -> None:
        self._node, self._arm, self._topic = node, arm, topic
        self._controller, self._recorder = controller, recorder
        self._tolerances, self._sending, self._speed = tolerances, sending, speed
        self._shown, self._warn = shown, warn
        self._efforts: Array | None = None   # as published before the motion
        self._clock = RobotClock(bool(node.get_parameter('use_sim_time').value))
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
        motion = self._proven(path)
        link = self._controller.check()
        check_driver(self._arm, self._controller.ear.description)
        if recording:
            self._recorder.check()
        listener = JointStateListener(self._node, self._arm, self._topic)
        try:
            q = self._where(listener)
            plan = plan_motion(self._arm, motion, self._reference_at(q), periods=periods,
                               speed=self._speed)
            self._shown.show(plan, motion)
            return self._perform(plan, q, link, listener, recording, excitation, feedback)
        finally:
            listener.destroy()

    def rehearse(self, path: Path, periods: int) -> float:
        """
        Prove, plan and show what `execute` would do from where the arm is; nothing moves.

        Parameters
        ----------
        path, periods
            As for `execute`.

        Returns
        -------
        float
            Duration of the motion [s].

        Raises
        ------
        RobotIdentificationError
            The motion would not begin; the text says why.

        """
        motion = self._proven(path)
        listener = JointStateListener(self._node, self._arm, self._topic)
        try:
            plan = plan_motion(self._arm, motion, self._where(listener), periods=periods,
                               speed=self._speed)
        finally:
            listener.destroy()
        self._shown.show(plan, motion)
        return plan.duration

    def _proven(self, path: Path) -> Excitation:
        motion = load_excitation(path)
        check_certificate(motion, self._arm)    # proven again, here and for this arm
        if motion.requirements.clearance is None:
            self._warn('collisions are not looked at, neither on the way to the start: the '
                       'excitation was designed so')
        return motion

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
                    f"{', '.join(self._arm.published_names)} for {PATIENCE:g} s")
            time.sleep(0.01)
            taken = listener.take()
        first, newest = taken[1][0], taken
        latest = time.monotonic() + LOOK
        while time.monotonic() < latest or (
                not self._clock.agrees and time.monotonic() < latest + PATIENCE):
            time.sleep(STEP)
            taken = listener.take()
            if taken is not None:
                newest = taken
                self._clock.measure(self._now(), listener.stamp)
        if time.monotonic() - listener.heard > self._tolerances.stale:
            raise ExecutionError('stale_joint_states', f"'{listener.topic}' has fallen silent")
        self._clock.check()
        taken = newest
        positions = unwrapped(self._arm, np.vstack([first, taken[1]]), first)
        moved = np.ptp(positions, axis=0)
        if np.any(moved > STILL):
            joint = self._arm.joint_names[int(np.argmax(moved))]
            raise ExecutionError('arm_moves', f"joint '{joint}' moves already; another client "
                                 f'commands the arm')
        self._efforts = taken[3]
        return joint_position(self._arm, positions[-1:])[0]

    def _reference_at(self, q: Array) -> Array:
        """Return where the controller holds the arm, so that the motion begins without a step."""
        state = self._controller.ear.newest()
        if state is None:
            return q
        sag = np.abs(state[1] - unwrapped(self._arm, q, state[1]))
        if np.any(sag > SAG):
            joint = self._arm.joint_names[int(np.argmax(sag))]
            raise ExecutionError('controller_reference', f"the controller's reference of joint "
                                 f"'{joint}' is {sag.max():.3g} away from where it is measured: "
                                 f'the arm is held, in reset, or moved by somebody')
        return state[1]

    def _perform(self, plan: MotionPlan, q: Array, link: Transport, listener: JointStateListener,
                 recording: str, excitation: str, feedback: Feedback) -> Outcome:
        ear, clock = self._controller.ear, self._clock
        unwatched = Watch(self._arm, plan, self._tolerances).demand(self._efforts, q)
        if unwatched:
            self._warn(f'efforts are not watched: {unwatched}')
        way = _Link(self._controller, link, clock, plan)
        run = Run(self._arm, plan, way, self._tolerances, self._sending, refers=ear.refers)
        run.watch.look(self._efforts, q)
        bag = _Bag(self._recorder if recording else None, recording, excitation,
                   plan.start_of('settle'), plan.start_of('run_in'))
        last, told = time.monotonic(), 0
        # what takes its time is behind us: the motion begins soon
        way.begin = clock.robot(self._now()) + round(0.5 * REST * 1e9)
        while not run.finished:
            time.sleep(STEP)
            real, taken = time.monotonic(), listener.take()
            stamps = None if taken is None else (int(taken[0][0]), int(taken[0][-1]))
            jumped = clock.watch(self._now(), stamps, real - last)
            way.begin += clock.jump
            begin = way.begin
            now = (clock.robot(self._now()) - begin) / 1e9
            fault = (jumped or self._stop or link.news() or ear.news(goals=link.name == 'topic')
                     or bag.step(now, run.braking))
            if fault is not None:
                run.stop(fault)
            states = None if taken is None else States((taken[0] - begin) / 1e9, *taken[1:])
            state, reference = ear.newest(), None
            if state is not None and state[0] != told:
                told = state[0]
                reference = Reference((told - begin) / 1e9, state[1], ear.scaling, state[3])
            age = max(now - (listener.stamp - begin) / 1e9, real - listener.heard)
            run.step(now, states, age, real - last, reference)
            last = real
            if run.braking and link.refused:
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


class _Link:
    """The way of a run to the controller."""

    def __init__(self, controller: ControllerClient, link: Transport, clock: RobotClock,
                 plan: MotionPlan) -> None:
        self._controller, self._link, self._clock = controller, link, clock
        # a motion of minutes takes a second to be made a message, and is entered late then
        self._whole: Any = trajectory_message(controller.joint_names, whole(plan), 0)
        self.begin = 0

    def _message(self, piece: Piece) -> Any:
        message = trajectory_message(self._controller.joint_names, piece, self.begin)
        self._controller.ear.own(stamp_of(message.header.stamp))
        return message

    def send(self, piece: Piece) -> None:
        """Hand it a piece; the first one is the whole motion."""
        message, self._whole = self._whole, None
        if message is None:
            message = self._message(piece)
        else:
            stamp = self.begin + stamp_of(message.header.stamp)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, SECOND)
            self._controller.ear.own(stamp)
        self._link.send(message)

    def guard(self, pieces: Sequence[Piece], until: float) -> None:
        """Leave pieces with the dead man's brake."""
        def on_clock(t: float) -> int:
            return self.begin + round(t * 1e9) + (self._clock.offset or 0)

        self._controller.dead_man.leave(
            [(self._message(piece), on_clock(piece.leaves + LATE)) for piece in pieces],
            on_clock(until) if pieces else 0)

    def cancel(self) -> bool:
        """Make it hold."""
        return self._link.hold()


class _Bag:
    """The recording of a motion: begun while the arm rests before the run-in."""

    def __init__(self, recorder: RecorderClient | None, name: str, excitation: str, settle: float,
                 run_in: float) -> None:
        self._recorder, self._name, self._excitation = recorder, name, excitation
        self._settle, self._run_in = settle, run_in
        self._answer: Any = None

    def step(self, now: float, braking: bool) -> Fault | None:
        """Start it in time, renew it, and return what is wrong with it."""
        if self._recorder is None:
            return None
        if self._answer is None:
            if now > self._settle and not braking:
                self._answer = self._recorder.start(self._name, self._excitation)
            return None
        if not self._answer.done():
            late = now > self._run_in - 0.1
            return Fault('recorder_failed', 'the recorder did not answer') if late else None
        answer = self._answer.result()
        if not answer.success:
            return Fault('recorder_failed', answer.message)
        self._recorder.keep(answer.path)
        return None

    def close(self) -> tuple[str, str]:
        """End it; return its path, and a sentence where something is wrong with it."""
        if self._recorder is None or self._answer is None:
            return '', ''
        answer = self._recorder.wait(self._answer)
        if answer is None:
            return '', 'the recorder did not answer'
        if not answer.success:      # what is recorded, if anything, is not ours
            return '', answer.message
        return self._recorder.stop(answer.path)
