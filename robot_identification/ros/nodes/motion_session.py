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
"""One motion of the excitation node: checks, planning, execution and recording."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
import time

import numpy as np
from robot_identification import excitation as excitations
from robot_identification.arrays import Array
from robot_identification.errors import ExecutionError
from robot_identification.recording.effort import joint_position
from robot_identification.ros import execution
from robot_identification.ros.execution.effort_checks import check_driver_effort
from robot_identification.ros.execution.fault import Fault
from robot_identification.ros.execution.motion_monitor import unwrap_positions
from robot_identification.ros.execution.robot_clock import RobotClock
from robot_identification.ros.execution.trajectory_segment import REST
from robot_identification.ros.nodes.controller_client import Transport
from robot_identification.ros.nodes.controller_link import ControllerLink
from robot_identification.ros.nodes.joint_state_listener import JointStateListener
from robot_identification.ros.nodes.motion_setup import MotionSetup
from robot_identification.ros.nodes.recorder_client import MotionRecording
from robot_identification.ros.nodes.service_calls import FIRST_MESSAGE

STEP = 0.005         # [s] between steps of the execution
STILL = 0.01         # [rad or m] an arm that moves less while it is checked is at rest
CHECK_TIME = 0.3     # [s] duration of the check that the arm is at rest
SAG = 0.05           # [rad or m] largest deviation of a resting arm from the reference
Feedback = Callable[[str, float, float, float], None]
"""Callback for phase, time [s], duration [s] and largest tracking error [rad or m]."""


@dataclass(frozen=True)
class MotionResult:
    """
    Result of a motion.

    Parameters
    ----------
    reason, text
        Identifier of the reason why the motion ended, and message for the user.
    recording
        Path of the recorded bag; empty without a recording.
    duration
        Duration of the motion [s].
    largest_error
        Largest tracking error, (n,) [rad or m].
    transport
        Transport of the trajectories, 'action' or 'topic'; empty if nothing moved.

    """

    reason: str
    text: str
    recording: str = ''
    duration: float = 0.0
    largest_error: Array = field(default_factory=lambda: np.zeros(0))
    transport: str = ''


class MotionSession:
    """
    Checks, planning, execution and recording of one motion, in a thread beside the executor.

    Parameters
    ----------
    setup
        Setup that all motions share.
    warn
        Called with warnings about checks that are omitted and quantities that are not monitored.

    """

    def __init__(self, setup: MotionSetup, warn: Callable[[str], None]) -> None:
        self._setup, self._node, self._arm = setup, setup.node, setup.arm
        self._controller, self._parameters, self._warn = setup.controller, setup.parameters, warn
        self._efforts: Array | None = None   # as published before the motion
        self._clock = RobotClock(bool(setup.node.get_parameter('use_sim_time').value))
        self._stop: Fault | None = None

    @property
    def fault(self) -> Fault | None:
        """The first request to end the motion; None if there is none."""
        return self._stop

    def stop(self, fault: Fault) -> None:
        """Request the end of the motion; this is also possible before it has started."""
        self._stop = self._stop or fault

    def execute(self, path: Path, periods: int, recording: str, excitation: str,
                feedback: Feedback) -> MotionResult:
        """
        Execute an excitation and return the result.

        Parameters
        ----------
        path, periods
            Path of the excitation file, and number of periods.
        recording, excitation
            Names of the recording and of the excitation file, for the recorder. If `recording` is
            empty, nothing is recorded.
        feedback
            Called with the progress.

        Raises
        ------
        RobotIdentificationError
            The motion did not start; the message states the reason.

        """
        motion = self._load(path)
        transport = self._controller.check(execution.path_tolerance(
            self._arm.limits, self._parameters.tolerances.tracking, self._parameters.timing))
        check_driver_effort(self._arm, self._controller.monitor.description)
        recorder = self._setup.recorder if recording else None
        if recorder is not None:
            recorder.check()
        listener = JointStateListener(self._node, self._arm, self._parameters.topic)
        try:
            q = self._position_at_rest(listener)
            plan = self._plan(motion, self._reference_at(q), periods)
            self._setup.preview.show(plan, motion)
            bag = MotionRecording(recorder, recording, excitation, plan.start_of('settle'),
                                  plan.start_of('run_in'))
            result = self._perform(plan, q, transport, listener, bag, feedback)
            self._setup.driven = execution.DrivenMotion(plan, motion.requirements)
            return result
        finally:
            listener.destroy()

    def rehearse(self, path: Path, periods: int) -> float:
        """
        Check, plan and preview a motion from the current position without moving the arm.

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
            The motion would not start; the message states the reason.

        """
        motion = self._load(path)
        listener = JointStateListener(self._node, self._arm, self._parameters.topic)
        try:
            plan = self._plan(motion, self._position_at_rest(listener), periods)
        finally:
            listener.destroy()
        self._setup.preview.show(plan, motion)
        return plan.duration

    def _load(self, path: Path) -> excitations.Excitation:
        """Load an excitation, check its certificate for this arm, and return it."""
        motion = excitations.load_excitation(path)
        excitations.check_certificate(motion, self._arm)
        if motion.requirements.clearance is None:
            self._warn('collisions are not checked, not even on the approach: the excitation was '
                       'designed without a clearance')
        return motion

    def _plan(self, motion: excitations.Excitation, q: Array,
              periods: int) -> execution.MotionPlan:
        """Return the plan of a motion from q; warn if the arm goes back along its last path."""
        plan = execution.plan_motion(self._arm, motion, q, periods=periods,
                                     speed=self._parameters.speed, driven=self._setup.driven)
        if plan.phases[0].name == 'retreat':
            self._warn(f'the straight way to the start does not keep the clearance: the arm first '
                       f'goes back along the path of the last motion, in '
                       f"{plan.start_of('approach'):.0f} s")
        return plan

    def _now(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _position_at_rest(self, listener: JointStateListener) -> Array:
        """Check that the arm rests, measure clock offset and efforts, and return the position."""
        deadline = time.monotonic() + FIRST_MESSAGE
        taken = None
        while taken is None:
            if time.monotonic() > deadline:
                raise ExecutionError(
                    'stale_joint_states',
                    f"no message on '{listener.topic}' with the joints "
                    f"{', '.join(self._arm.ros_joint_names)} for {FIRST_MESSAGE:g} s")
            time.sleep(0.01)
            taken = listener.take()
        first, newest = taken[1][0], taken
        deadline = time.monotonic() + CHECK_TIME
        while time.monotonic() < deadline or (
                not self._clock.agrees and time.monotonic() < deadline + FIRST_MESSAGE):
            time.sleep(STEP)
            taken = listener.take()
            if taken is not None:
                newest = taken
                self._clock.measure(self._now(), listener.stamp)
        if time.monotonic() - listener.received > self._parameters.tolerances.stale:
            raise ExecutionError('stale_joint_states', f"'{listener.topic}' has fallen silent")
        self._clock.check()
        positions = unwrap_positions(self._arm, np.vstack([first, newest[1]]), first)
        moved = np.ptp(positions, axis=0)
        if np.any(moved > STILL):
            joint = self._arm.joint_names[int(np.argmax(moved))]
            raise ExecutionError('arm_moves', f"joint '{joint}' is already moving; another client "
                                 f'commands the arm')
        self._efforts = newest[3]
        return joint_position(self._arm, positions[-1:])[0]

    def _reference_at(self, q: Array) -> Array:
        """Return the start of the motion: the controller's reference, or q if it is unknown."""
        state = self._controller.monitor.newest()
        if state is None:
            return q
        sag = np.abs(state.q - unwrap_positions(self._arm, q, state.q))
        if np.any(sag > SAG):
            joint = self._arm.joint_names[int(np.argmax(sag))]
            raise ExecutionError('controller_reference', f"the controller's reference of joint "
                                 f"'{joint}' is {sag.max():.3g} away from the measured position: "
                                 f'the arm is blocked, in reset, or moved by hand')
        return state.q

    def _perform(self, plan: execution.MotionPlan, q: Array, transport: Transport,
                 listener: JointStateListener, recording: MotionRecording,
                 feedback: Feedback) -> MotionResult:
        """Execute a plan step by step until the arm rests, and return the result."""
        monitor, clock = self._controller.monitor, self._clock
        link = ControllerLink(self._controller, transport, clock, plan, self._arm,
                              self._parameters.timing.horizon)
        run = execution.MotionExecutor(
            self._arm, plan, link, self._parameters.tolerances, self._parameters.timing,
            has_reference=monitor.has_reference)
        unmonitored = run.monitor.require_effort_monitoring(self._efforts, q)
        if unmonitored:
            self._warn(f'efforts are not monitored: {unmonitored}')
        last, newest = time.monotonic(), 0
        # the start of the motion is set after all slow preparations
        link.start = clock.robot(self._now()) + round(0.5 * REST * 1e9)
        while not run.finished:
            time.sleep(STEP)
            steady, taken = time.monotonic(), listener.take()
            stamps = None if taken is None else (int(taken[0][0]), int(taken[0][-1]))
            jumped = clock.watch(self._now(), stamps, steady - last)
            link.start += clock.jump
            start = link.start
            now = (clock.robot(self._now()) - start) / 1e9
            fault = (jumped or self._stop or transport.poll_fault()
                     or monitor.poll_fault(goals=transport.name == 'topic')
                     or recording.step(now, run.braking))
            if fault is not None:
                run.stop(fault)
            states = None if taken is None else execution.StateBatch(
                (taken[0] - start) / 1e9, *taken[1:])
            state, reference = monitor.newest(), None
            if state is not None and state.stamp != newest:
                newest = state.stamp
                reference = execution.ControllerState((newest - start) / 1e9, state.q,
                                                      monitor.scaling, state.command)
            age = now - (listener.stamp - start) / 1e9
            if not clock.simulated:    # a paused simulation sends nothing
                age = max(age, steady - listener.received)
            run.step(now, states, age, steady - last, reference)
            last = steady
            if run.braking and transport.refused:
                transport.hold()
            feedback(run.phase_name(now), now, plan.duration,
                     float(run.monitor.largest_error.max()))
        ending, remark = transport.confirm(run.at_rest is True)
        path, failure = recording.close()
        fault = run.fault or ending or (Fault('recorder_failed', failure) if failure else None)
        if monitor.braked:    # what was observed of it has other names: another client, scaling
            fault = Fault('late', 'this node stalled for too long or its clock ran late, so that '
                          f"the brake watchdog '{monitor.watchdog}' braked the "
                          'arm and reports the result in the log; the computer is too busy')
        rest = {True: '; the arm rests', False: '; the arm may still move',
                None: '; it is unknown whether the arm rests'}[run.at_rest]
        text = f'executed in {plan.duration:.1f} s{remark}' if fault is None else fault.text + rest
        if fault is not None and path:
            text += f"; what was recorded until then is in '{path}'"
        return MotionResult(
            'finished' if fault is None else fault.reason,
            f'{text}; efforts were not monitored: {unmonitored}' if unmonitored else text, path,
            plan.duration, run.monitor.largest_error, transport.name)
