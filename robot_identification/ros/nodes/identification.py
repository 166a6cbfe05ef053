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
"""The node `identification`: from recordings to a model, and excitations, as services."""

from __future__ import annotations

from collections.abc import Callable
import os
from pathlib import Path
import time
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_identification.arm import Arm, load_arm
from robot_identification.arm.prefix import with_prefix
from robot_identification.dynamics.identified_model import DELAYED
from robot_identification.errors import ConfigurationError, RobotIdentificationError
from robot_identification.estimation.link_limits import load_limits
from robot_identification.estimation.settings import read_settings
from robot_identification.excitation import load_excitation
from robot_identification.excitation.design.search import SearchProgress
from robot_identification.files import check_output_folder
from robot_identification.identification import IdentificationResult, identify
from robot_identification.recording import load_recording
from robot_identification.reporting import RESULTS, save_results
from robot_identification.reporting.results_files import RESULT_FILES, SavedResults
from robot_identification.ros.execution.data_directory import DataDirectory
from robot_identification.ros.nodes.design_request import designed, SUFFIXES, written
from robot_identification.ros.nodes.health import ERROR, Health, OK
from robot_identification.ros.nodes.latched import LATCHED
from robot_identification.ros.nodes.long_work import CancelledError, LongWork
from robot_identification.ros.nodes.parameters import declare, declared_arm
from robot_identification.ros.nodes.process import main_of
from robot_identification.ros.nodes.requests import answered, check, KEPT
from robot_identification.validation import Thresholds
from robot_identification_interfaces.action import Design
from robot_identification_interfaces.srv import Identify
from std_msgs.msg import String
from std_srvs.srv import Trigger

Step = Callable[[str, float], None]
DELAYS = {'': None, 'yes': True, 'no': False, **{of: of for of in DELAYED}}


class IdentificationProcess:
    """Identifies, one request at a time."""

    patience = 4.0  # [s]; work that takes longer is left behind, before it has written anything

    def __init__(self) -> None:
        self.node = node = Node('identification')
        self.arm = declared_arm(node)
        self.data = DataDirectory(declare(node, 'data_directory', '~/robot_identification',
                                          'folder of recordings, excitations and results'))
        self._description = node.create_publisher(
            String, '~/identified_robot_description', LATCHED)
        self._progress = node.create_publisher(String, '~/progress', 10)
        self.health = Health(node)
        self._work = LongWork(node, self._tell)
        group = ReentrantCallbackGroup()  # a request is answered while another one is worked on
        node.create_service(Identify, '~/identify', answered(node, self._identify),
                            callback_group=group)
        node.create_service(Trigger, '~/cancel', answered(node, self._cancel),
                            callback_group=group)
        self._designs = ActionServer(node, Design, '~/design', self._design, callback_group=group,
                                     cancel_callback=self._cancel_design,
                                     result_timeout=KEPT)
        self._ending, self._designing = False, None     # goal of the design that is worked on

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The node."""
        return (self.node,)

    def stop(self) -> None:
        """Cancel what is being done and end."""
        self._ending = True
        self._work.cancel()

    @property
    def stopped(self) -> bool:
        """Whether nothing is being done any more."""
        return self._ending and not self._work.busy

    async def _identify(self, request: Any, response: Any) -> Any:
        arm, output = self._arm(request.robot), self.data.path(request.output, 'output')
        recordings = [self.data.existing(name, 'recording') for name in request.recordings]
        held_out = [self.data.existing(name, 'recording') for name in request.held_out]
        options = self._options(request, arm)
        source = (self.data.existing(request.excitation, 'excitation')
                  if request.excitation else None)
        executed = load_excitation(source) if source else None
        _check_results(output, [*recordings, *held_out, source, *arm.files])
        done = self._work.start(
            'an identification',
            lambda step: _identified(request, arm, recordings, held_out, options, step),
            lambda result: (result, save_results(result, output, excitation=executed)))
        self.health.report(OK, 'identifying')
        outcome = await done
        if isinstance(outcome, RobotIdentificationError):
            response.message = str(outcome)
            level = OK if isinstance(outcome, CancelledError) else ERROR
            self.health.report(level, response.message)
            return response
        result, saved = outcome
        _fill(response, result, saved)
        self._description.publish(String(data=with_prefix(
            saved.urdf.read_text(encoding='utf-8'), arm.tf_prefix)))
        self.health.report(OK, response.message, model=saved.model)
        return response

    async def _design(self, handle: Any) -> Any:
        request, result = handle.request, Design.Result()
        try:
            check(request)
            arm = self._arm(request.robot)
            output = self.data.new(request.output, 'excitation', SUFFIXES)
            done = self._work.start('a design', lambda step: _designed(
                request, arm, handle, step), lambda found: written(found, output))
        except RobotIdentificationError as error:
            handle.abort()
            result.message = str(error)
            return result
        self._designing = handle.goal_id
        if handle.is_cancel_requested:
            self._work.cancel()
        outcome = await done
        self._designing = None
        if isinstance(outcome, RobotIdentificationError):
            result.message = str(outcome)
            if handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.abort()
            return result
        handle.succeed()
        result.success, result.path, result.status = True, str(output), outcome.status
        result.condition_number = float(outcome.condition_number)
        result.message = f'condition number {outcome.condition_number:.1f}, {outcome.status}'
        return result

    def _options(self, request: Any, arm: Arm) -> dict[str, Any]:
        """Return the options of `identify` that a request states; 0 and empty have defaults."""
        if request.delay not in DELAYS:
            raise ConfigurationError(f"delay is 'yes', 'no', 'torques', 'positions' or empty, "
                                     f"not '{request.delay}'")
        processing: dict[str, Any] = {name: getattr(request, name) or None
                                      for name in ('cutoff', 'decimation_cutoff', 'period')}
        if request.method:
            processing['method'] = request.method
        if request.average:
            processing['average'] = True
        consistency: dict[str, Any] = {}
        if request.prior:
            consistency['distance'] = request.prior
        if request.prior_deviation:
            consistency['deviation'] = request.prior_deviation
        if request.limits:
            consistency['limits'] = load_limits(self.data.existing(request.limits, 'limits'), arm)
        return {'settings': read_settings(request.settings), 'delay': DELAYS[request.delay],
                'processing': processing, 'consistency': consistency}

    def _arm(self, robot: str) -> Arm:
        if not robot:
            return self.arm
        if Path(robot).suffix:
            return load_arm(self.data.existing(robot, 'robot YAML'))
        return load_arm(robot)

    def _cancel(self, request: Any, response: Any) -> Any:
        response.success = self._work.cancel()
        response.message = ('cancelled' if response.success else 'the results are being written'
                            if self._work.busy else 'nothing is being done')
        return response

    def _cancel_design(self, handle: Any) -> CancelResponse:
        if self._designing is not None and handle.goal_id == self._designing:
            self._work.cancel()
        return CancelResponse.ACCEPT

    def _tell(self, text: str, part: float) -> None:
        self._progress.publish(String(data=f'{part:.0%} {text}'))


def _identified(request: Any, arm: Arm, recordings: list[Path], held_out: list[Path],
                options: dict[str, Any], step: Step) -> IdentificationResult:
    thresholds = Thresholds(request.overall_threshold or Thresholds.overall,
                            request.joint_threshold or Thresholds.joint)
    result = identify(
        arm, [load_recording(path, arm) for path in recordings], request.estimator or 'wls',
        request.friction or None, [load_recording(path, arm) for path in held_out],
        thresholds=thresholds, progress=step, **options)
    step('writing the report', 0.9)
    return result


def _check_results(output: Path, inputs: list[Path | None]) -> None:
    """Refuse a folder whose files no identification wrote, as the command does."""
    if any(source is not None and Path(os.path.realpath(source)) == output for source in inputs):
        raise ConfigurationError(f"'{output}' is read by this request; name another folder")
    check_output_folder(output, RESULT_FILES, RESULTS, inputs, way_out='')


def _designed(request: Any, arm: Arm, handle: Any, step: Step) -> Any:
    last = 0.0

    def tell(progress: SearchProgress) -> None:
        nonlocal last
        step('designing', progress.fraction)
        if time.monotonic() > last + 0.2:
            last = time.monotonic()
            handle.publish_feedback(Design.Feedback(progress=float(progress.fraction),
                                                    best=float(progress.best)))

    return designed(request, arm, tell)


def _fill(response: Any, result: IdentificationResult, saved: SavedResults) -> None:
    verdict, estimate = result.verdict, result.estimate
    response.success, response.passed = True, verdict.passed
    response.reasons, response.status = list(verdict.reasons), estimate.status
    response.message = verdict.sentence
    response.condition_number = float(estimate.condition_number)
    response.parameter_names = list(estimate.names)
    response.parameter_values = estimate.values.tolist()
    response.parameter_deviations = estimate.standard_deviations.tolist()
    response.joint_names = list(result.arm.joint_names)
    if verdict.held_out:
        response.joint_errors = np.fmax.reduce([[held.joints[joint].relative_error
                                                 for joint in result.arm.joint_names]
                                                for held in verdict.held_out]).tolist()
    response.model, response.urdf = str(saved.model), str(saved.urdf)
    response.report = str(saved.report)


main = main_of(IdentificationProcess)
