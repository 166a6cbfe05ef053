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
"""Options of a simulated arm: difference from the URDF, controller and sensors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from robot_identification.errors import ConfigurationError
from robot_identification.yaml_file import check_fields, Quantity

Positive = Annotated[float, Quantity(above=0)]
Fraction = Annotated[float, Quantity(minimum=0)]
Rate = Annotated[float, Quantity('Hz', above=0)]


@dataclass(frozen=True)
class PlantOptions:
    """
    Options of a plant; the default plant has effects that the identified model does not describe.

    Parameters
    ----------
    seed
        Seed of the plant's inertias, rotor inertias and friction. The measurement noise is drawn
        from the `rng` of each run.
    inertia_error
        Relative difference of the inertias from the URDF, between 0 and 0.5. Masses change by up
        to this fraction, and the mass distribution of each link is stretched, sheared and shifted
        by up to this fraction; it stays physical.
    rotor_inertia
        Rotor inertia of each actuator (m values) [kg m^2 or kg]. If None, it is drawn around the
        value of the robot YAML; without that value, from the inertia that the rated torque
        accelerates at 200 to 400 rad/s^2 (20 to 40 m/s^2 for sliding joints).
    coulomb, viscous
        Ranges (lowest, highest) of Coulomb friction, and of viscous friction at the velocity
        limit, as fractions of the torque limit.
    stribeck_ratio
        Ratio of static to Coulomb friction; 1 for no Stribeck effect.
    stribeck_velocity
        Velocity at which the excess of static friction has fallen to exp(-1) [rad/s or m/s].
    delay
        Delay from the commanded to the applied torque [s]; a multiple of `step`.
    encoder_bits
        Resolution of the published positions: 2 ** encoder_bits counts per turn, or per stroke of
        a sliding joint (per metre without limits); None for no quantisation. The controller uses
        exact positions, because encoders at the motor are finer by the gear ratio.
    torque_noise
        Standard deviation of the measured torque as a fraction of the rated torque.
    torque_signal
        Measured torque: 'commanded', the torque before the delay of the actuator, as drives report
        it, or 'applied', the torque that acts on the joint.
    velocity_signal
        Published velocity: 'none', 'encoder' (differences of encoder counts over 10 ms) or 'true'.
    rate
        Rate of the sensors [Hz].
    control_rate
        Rate of the joint controller [Hz].
    step
        Step of the physics [s].
    tracking
        'controller': a joint controller of limited bandwidth moves the arm; 'ideal': the arm
        follows its reference exactly, and its torque is computed by inverse dynamics.
    bandwidth
        Natural frequency of the joint controller [Hz].
    damping
        Damping ratio of the joint controller.
    friction_compensation
        Fraction of the Coulomb friction that the controller compensates along the reference.
        Without compensation, joints stick for tens of milliseconds at every reversal.

    Examples
    --------
    >>> PlantOptions(seed=3, tracking='ideal', torque_noise=0.01).delay_steps > 0
    True

    """

    seed: int = 0
    inertia_error: Annotated[float, Quantity(minimum=0, maximum=0.5)] = 0.2
    rotor_inertia: tuple[float, ...] | None = None
    coulomb: tuple[Fraction, Fraction] = (0.05, 0.10)
    viscous: tuple[Fraction, Fraction] = (0.05, 0.10)
    stribeck_ratio: Annotated[float, Quantity(minimum=1)] = 1.3
    stribeck_velocity: Positive = 0.1
    delay: Annotated[float, Quantity('s', minimum=0)] = 0.002
    encoder_bits: Annotated[int, Quantity(minimum=4, maximum=48)] | None = 17
    torque_noise: Fraction = 0.01
    torque_signal: Literal['commanded', 'applied'] = 'commanded'
    velocity_signal: Literal['none', 'encoder', 'true'] = 'encoder'
    rate: Rate = 1000.0
    control_rate: Rate = 1000.0
    step: Annotated[float, Quantity('s', above=0, maximum=1e-3)] = 0.0005
    tracking: Literal['controller', 'ideal'] = 'controller'
    bandwidth: Rate = 15.0
    damping: Positive = 1.2
    friction_compensation: Fraction = 0.8

    def __post_init__(self) -> None:
        check_fields(self, ConfigurationError)
        for name in ('coulomb', 'viscous'):
            low, high = getattr(self, name)
            if low > high:
                raise ConfigurationError(f'plant option `{name}` must be (lowest, highest), not '
                                         f'{(low, high)}')
        for name in ('sensor_steps', 'control_steps', 'delay_steps'):
            getattr(self, name)  # raises if a period is not a multiple of `step`

    @classmethod
    def matched(cls, **changes: Any) -> PlantOptions:
        """
        Return options of a plant that the identified model describes exactly, with torque noise.

        The plant has Coulomb and viscous friction, no delay and no quantisation. The arm follows
        its reference exactly. Under a controller of limited bandwidth, joints would stick at every
        reversal, where friction takes any value between -Fc and Fc and no model Fc sign(v) is
        exact.

        Parameters
        ----------
        changes
            Other values of fields, for instance `seed=3`.

        """
        return cls(**{
            'stribeck_ratio': 1.0, 'delay': 0.0, 'encoder_bits': None, 'torque_signal': 'applied',
            'velocity_signal': 'true', 'tracking': 'ideal', **changes})

    @cached_property
    def sensor_steps(self) -> int:
        """Number of physics steps between two readings."""
        return self._steps(1 / self.rate, 'rate')

    @cached_property
    def control_steps(self) -> int:
        """Number of physics steps between two commands of the controller."""
        return self._steps(1 / self.control_rate, 'control_rate')

    @cached_property
    def delay_steps(self) -> int:
        """Number of physics steps from a command to its torque."""
        return self._steps(self.delay, 'delay') if self.delay else 0

    def _steps(self, seconds: float, name: str) -> int:
        count = int(np.rint(seconds / self.step))
        if count < 1 or abs(count * self.step - seconds) > 1e-6 * seconds:
            raise ConfigurationError(
                f'plant option `{name}` is {getattr(self, name):g}, which is not a whole number '
                f'of physics steps of {self.step:g} s; change `{name}` or `step`')
        return count
