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
"""The keys of a robot YAML, each with an example and its meaning, for template and docs."""

from __future__ import annotations

ROBOT_FILE_KEYS: dict[str, tuple[str, str]] = {
    'urdf': ('my_arm.urdf', 'URDF or xacro, relative to this file, `package://`, or the name of a '
             'shipped description. The only key that is needed.'),
    'name': ('my_arm', "What to call the arm; the URDF's name when not given."),
    'xacro': ('{dof: 7}', 'Arguments of the xacro.'),
    'package_dirs': ('[../src]', 'Folders that hold the ROS packages which the description '
                     'names.'),
    'locked': ('{finger: 0.0}', 'Joints that stand still in all recordings, with their positions '
               '[rad or m], or a list of names.'),
    'gravity': ('[0.0, 0.0, -9.81]', 'Gravity in the base frame [m/s^2]; `estimate` lets the '
                'recordings say how the base stands.'),
    'mount': ('{rpy: [3.14159, 0.0, 0.0]}', 'Instead of `gravity`: how the base stands in the '
              'world [rad].'),
    'joints': ('{elbow: {position: [-2.0, 2.0], velocity: 1.0, acceleration: 5.0, jerk: 1000.0, '
               'torque: 40.0}}', "Limits, where they are narrower than the URDF's or it has none "
               '[rad or m and derivatives; N m or N].'),
    'urdf_limits_wrong': ('[elbow]', "Joints whose limits here may be wider than the URDF's, "
                          'because it is known to be wrong.'),
    'drives': ('{elbow: {gain: 10.0, reduction: 100.0, rotor_inertia: 0.5}}', 'Motors and gears: '
               'torque per current [N m/A], turns of the motor per turn of the joint, rotor '
               'inertia seen at the joint [kg m^2].'),
    'coupling': ('{wrist_3: {wrist_2: -1.0}}', "Coupled drives: how a drive's output turns with "
                 'other joints, theta_drive = reduction (q_drive + sum of factor q_other).'),
    'effort': ('{quantity: torque, side: joint, sign: 1, gravity_compensated: false}', 'What the '
               'driver publishes: torque or current; at the joint or at the motor; 1 when a '
               'positive effort accelerates the joint forwards, else -1; whether the driver takes '
               'gravity away. There is no default.'),
    'position': ('{side: joint, offset: {elbow: 0.1}}', 'Whether positions are recorded at the '
                 'joint or at the motor, and what is added to them [rad or m].'),
    'unmeasured': ('[wrist_3]', 'Joints that move and whose effort is not measured.'),
    'balancers': ('{spring: {kind: torsion_spring, joint: elbow, stiffness: estimate}}', 'Springs '
                  'and counterbalances, whose strength is known or to be estimated.'),
    'recording': ('{t: timestamp, q: "actual_q_{joint}", names: [0, 1, 2], units: {q: deg}}',
                  'What logs call the signals, and their units ([logs](logs.md)).'),
    'tf_prefix': ('left_', 'Before the names of joints and links in ROS.'),
    'driver': ('{launch: PACKAGE/FILE, controller: arm_controller, rate: 500.0}', 'The ROS driver '
               'of a real arm, for the launch files ([ros2_control](ros2_control.md)).')}
