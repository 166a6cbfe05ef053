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
"""What a simulated arm is made of: how far it is from its URDF, and how it moves and measures."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from robot_identification.errors import ConfigurationError, UnknownNameError

TRACKING = ('controller', 'ideal')
TORQUE_SIGNALS = ('commanded', 'applied')
VELOCITY_SIGNALS = ('none', 'encoder', 'true')


@dataclass(frozen=True)
class PlantOptions:
    """
    Options of a plant; the defaults make the mismatched plant on which predictions are judged.

    Parameters
    ----------
    seed
        Draws the plant's own inertias, rotors and friction: one seed, one arm. Measurement noise
        is drawn from the `rng` of each run.
    inertia_error
        Relative size of the difference from the URDF, between 0 and 0.5: masses change by up to
        this factor, and the mass of each link is stretched, sheared and shifted by as much, so
        that the result is a body that can exist.
    rotor_inertia
        Inertia at each element of the arm's transmission (m values) [kg m^2 or kg]; drawn when not
        given, around the robot YAML's value, else so that the rated torque accelerates the rotor
        alone at 200 to 400 rad/s^2 (20 to 40 m/s^2 for sliding joints).
    coulomb, viscous
        Ranges of the friction as a part of the rated torque; viscous friction at rated speed.
    stribeck_ratio
        Static over Coulomb friction; 1 makes friction Coulomb and viscous only.
    stribeck_velocity
        Velocity at which the excess has fallen to exp(-1) [rad/s; m/s for sliding joints].
    rated_torque, rated_velocity
        Per joint, where the arm's limits do not say [N m or N], [rad/s or m/s]. Actuators saturate
        at the rated torque.
    delay
        From the commanded to the applied torque [s]; a multiple of `step`.
    encoder_bits
        Counts of one turn at the joint as a power of two, for sliding joints of the stroke (or of
        one metre without limits); None for no quantisation. It is the published position that is
        quantised: the drive closes its own loop at the motor side, where one count is finer by the
        reduction.
    torque_noise
        Standard deviation of the measured torque as a part of the rated torque.
    torque_signal
        'commanded': measured before the actuator's delay, as drives report their current;
        'applied': what acts on the joint at the stamp.
    velocity_signal
        What is published as velocity: 'none', 'encoder' (differences of encoder counts over
        10 ms) or 'true'.
    stamp_jitter
        Standard deviation of the stamps around the true instants [s], at most a fifth of a period.
    rate
        Rate of the sensors [Hz].
    control_rate
        Rate of the joint controller [Hz].
    step
        Step of the physics [s].
    tracking
        'controller': a joint controller of limited bandwidth moves the arm; 'ideal': the arm is on
        its reference exactly and the torque is the one that this takes.
    bandwidth
        Bandwidth of the joint controller [Hz].
    damping
        Damping ratio of the joint controller.
    friction_compensation
        Part of the Coulomb friction that the drives compensate along the reference. With 0 joints
        stick for tens of milliseconds at every reversal.

    """

    seed: int = 0
    inertia_error: float = 0.2
    rotor_inertia: tuple[float, ...] | None = None
    coulomb: tuple[float, float] = (0.05, 0.10)
    viscous: tuple[float, float] = (0.05, 0.10)
    stribeck_ratio: float = 1.3
    stribeck_velocity: float = 0.1
    rated_torque: tuple[float, ...] | None = None
    rated_velocity: tuple[float, ...] | None = None
    delay: float = 0.002
    encoder_bits: int | None = 17
    torque_noise: float = 0.01
    torque_signal: str = 'commanded'
    velocity_signal: str = 'encoder'
    stamp_jitter: float = 0.0
    rate: float = 1000.0
    control_rate: float = 1000.0
    step: float = 0.0005
    tracking: str = 'controller'
    bandwidth: float = 15.0
    damping: float = 1.2
    friction_compensation: float = 0.8

    def __post_init__(self) -> None:
        for name, known in (('tracking', TRACKING), ('torque_signal', TORQUE_SIGNALS),
                            ('velocity_signal', VELOCITY_SIGNALS)):
            if getattr(self, name) not in known:
                raise UnknownNameError(f'{name} of a plant', getattr(self, name), known)
        for name in ('rate', 'control_rate', 'step', 'bandwidth', 'damping', 'stribeck_velocity'):
            self._check(name, getattr(self, name) > 0, 'must be positive')
        for name in ('delay', 'torque_noise', 'stamp_jitter', 'friction_compensation'):
            self._check(name, getattr(self, name) >= 0, 'must not be negative')
        for name in ('coulomb', 'viscous'):
            low, high = getattr(self, name)
            self._check(name, 0 <= low <= high, 'must be (lowest, highest) and not negative')
        self._check('inertia_error', 0 <= self.inertia_error <= 0.5, 'must be between 0 and 0.5')
        self._check('stribeck_ratio', self.stribeck_ratio >= 1, 'must be at least 1')
        self._check('encoder_bits', self.encoder_bits is None or 4 <= self.encoder_bits <= 48,
                    'must be None or between 4 and 48')
        self._check('stamp_jitter', self.stamp_jitter * self.rate <= 0.2,
                    'must be at most a fifth of the sensor period, or stamps change places')
        self._check('step', self.step <= 1e-3, 'must be at most 1 ms')
        for name in ('sensor_steps', 'control_steps', 'delay_steps'):
            getattr(self, name)  # raises where the clocks do not fit

    @classmethod
    def matched(cls, **changes: Any) -> PlantOptions:
        """
        Return options of a plant whose structure is the identified model's: the noise is all.

        Coulomb and viscous friction, no delay, no quantisation, white torque noise. The arm is on
        its reference exactly: a controller of limited bandwidth lets a joint stick at every
        reversal, where friction takes any value between its two signs, so that no model of the
        form Fc sign(v) is exact.

        Parameters
        ----------
        changes
            Fields of the options to set otherwise, for instance `seed=3`.

        """
        preset: dict[str, Any] = {
            'stribeck_ratio': 1.0, 'delay': 0.0, 'encoder_bits': None, 'torque_signal': 'applied',
            'velocity_signal': 'true', 'tracking': 'ideal'}
        return cls(**{**preset, **changes})

    def replace(self, **changes: Any) -> PlantOptions:
        """Return options with some fields changed."""
        return dataclasses.replace(self, **changes)

    @cached_property
    def sensor_steps(self) -> int:
        """Physics steps from one reading to the next."""
        return self._steps(1 / self.rate, 'rate')

    @cached_property
    def control_steps(self) -> int:
        """Physics steps from one command to the next."""
        return self._steps(1 / self.control_rate, 'control_rate')

    @cached_property
    def delay_steps(self) -> int:
        """Physics steps from command to torque."""
        return self._steps(self.delay, 'delay') if self.delay else 0

    def _check(self, name: str, holds: bool, sentence: str) -> None:
        if not holds:
            raise ConfigurationError(
                f'plant option `{name}` is {getattr(self, name)!r}; it {sentence}')

    def _steps(self, seconds: float, name: str) -> int:
        count = int(np.rint(seconds / self.step))
        if count < 1 or abs(count * self.step - seconds) > 1e-6 * seconds:
            raise ConfigurationError(
                f'plant option `{name}` is {getattr(self, name):g}, which is not a whole number '
                f'of physics steps of {self.step:g} s; change `{name}` or `step`')
        return count
