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
"""Setup that all motions of the excitation node share, from the parameters of the node."""

from dataclasses import dataclass
from typing import Any

from robot_identification.arm import Arm
from robot_identification.errors import ConfigurationError
from robot_identification.ros.execution import BrakeTiming, DrivenMotion, MotionTolerances
from robot_identification.ros.nodes.controller_client import ControllerClient, TRANSPORTS
from robot_identification.ros.nodes.motion_preview import MotionPreview
from robot_identification.ros.nodes.parameters import declare, declare_all, declare_joint_states
from robot_identification.ros.nodes.recorder_client import RecorderClient

WATCH = {
    'tracking': ('largest distance from the reference [rad or m]', 1e-4, 3.0),
    'stale': ('longest time without a joint state [s]', 0.01, 2.0),
    'position': ('largest distance beyond the position limits [rad or m]', 0.0, 1.0),
    'velocity': ('largest velocity as a multiple of its limit [-]', 0.1, 10.0),
    'effort': ('largest torque as a multiple of its limit [-]', 0.1, 10.0),
    'effort_samples': ('number of successive joint states with excessive effort that end a motion',
                       1, 1000),
    'efforts': ('refuse a motion whose efforts cannot be monitored',)}
BRAKE = {
    'lead': ('time from the decision to brake to the start of braking [s]', 0.01, 1.0),
    'horizon': ('time after which the arm brakes if this node stalls or dies [s]', 0.12, 5.0)}
"""Description, and smallest and largest value, of the parameters `watch.*` and `brake.*`."""


@dataclass(frozen=True)
class MotionParameters:
    """
    The parameters of a node from which a `MotionSetup` is made.

    Parameters
    ----------
    tolerances, timing
        Tolerances of a motion, and timing of braking.
    speed
        Fraction of the velocity and acceleration limits that the approach uses.
    topic
        Topic of the joint states.
    controller, transport, manager, scaling
        As for `ControllerClient`; `controller` is its `name`.
    recorder
        Name of the recorder node.

    """

    tolerances: MotionTolerances
    timing: BrakeTiming
    speed: float
    topic: str
    controller: str
    transport: str
    manager: str
    scaling: str
    recorder: str


class MotionSetup:
    """
    What all motions of a node share; making it starts the brake watchdog.

    Parameters
    ----------
    node
        Node that owns the ROS entities of the motions.
    arm
        The arm.
    parameters
        Parameters of the node.

    Attributes
    ----------
    controller, recorder, preview
        Client of the controller, client of the recorder, and preview of motions.
    driven
        The last motion, which each motion replaces; None before the first one.

    Raises
    ------
    ConfigurationError
        The transport needs a package that is not installed.

    """

    def __init__(self, node: Any, arm: Arm, parameters: MotionParameters) -> None:
        self.node, self.arm, self.parameters = node, arm, parameters
        self.controller = ControllerClient(
            node, parameters.controller, parameters.transport, arm.ros_joint_names,
            parameters.manager, parameters.scaling, joint_states=parameters.topic)
        self.recorder = RecorderClient(node, parameters.recorder)
        self.preview = MotionPreview(node, arm)
        self.driven: DrivenMotion | None = None


def declare_motion_parameters(node: Any) -> MotionParameters:
    """Declare the parameters of motions and return their values."""
    transport = declare(
        node, 'transport', 'auto', 'connection to the controller: action (FollowJointTrajectory, '
        'needs control_msgs), topic, or auto: the action if it is offered')
    if transport not in TRANSPORTS:
        raise ConfigurationError(f"the transport '{transport}' is unknown; choose from: "
                                 f"{', '.join(TRANSPORTS)}")
    published = declare(
        node, 'watch.published_effort', [0.0], 'largest magnitude of the effort field of each '
        'joint, in its own unit, instead of the torque limits; [0.0]: the torque limits')
    return MotionParameters(
        MotionTolerances(**declare_all(node, 'watch', MotionTolerances(), WATCH),
                         published_effort=tuple(filter(None, published))),
        BrakeTiming(**declare_all(node, 'brake', BrakeTiming(), BRAKE)),
        declare(node, 'approach_speed', 0.2, 'fraction of the velocity and acceleration limits '
                'that the approach uses [-]', lower=0.01, upper=1.0),
        declare_joint_states(node),
        declare(node, 'controller', 'joint_trajectory_controller', 'name of the controller'),
        transport,
        declare(node, 'controller_manager', 'controller_manager',
                'name of the controller manager, which lists the active controllers'),
        declare(node, 'speed_scaling', 'speed_scaling_state_broadcaster/speed_scaling',
                "topic of the robot's speed scaling [%], std_msgs/Float64"),
        declare(node, 'recorder', 'recorder', 'name of the recorder node'))
