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
"""Options and true parameters of the simulated arm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal
from xml.etree import ElementTree

import numpy as np
from robot_identification.arm import Arm
from robot_identification.arm.inertia_check import ROUNDING
from robot_identification.arrays import Array, ReadOnlyArrays
from robot_identification.dynamics import ModelStructure
from robot_identification.dynamics.inertial import from_pseudo_inertia, pseudo_inertia
from robot_identification.errors import ConfigurationError, SimulationError
from robot_identification.yaml_file import check_fields, Quantity

SMALLEST = 1e-12  # [kg m^2] smallest principal moment; MuJoCo requires positive moments
KEPT = ('link', 'joint')
REMOVED = ('visual', 'collision', 'dynamics', 'safety_controller', 'calibration', 'mimic',
           'inertial')
HINT = ('so it cannot be simulated; design with --guess-inertias, or let `init --repair` replace '
        'the <inertial> of this link, or of a link fixed to it')


@dataclass(frozen=True)
class PlantFriction(ReadOnlyArrays):
    """
    Friction of m actuators (joints and coupled drives).

    F(v) = [Fc + (Fs - Fc) exp(-(v / vs)^2)] sign(v) + Fv v, which is Coulomb and viscous friction
    if Fs = Fc.

    Parameters
    ----------
    coulomb, static
        Coulomb friction Fc and static friction Fs, (m,) [N m or N].
    viscous
        Viscous friction Fv, (m,) [N m s/rad or N s/m].
    stribeck_velocity
        Stribeck velocity vs [rad/s or m/s].

    """

    coulomb: Array
    static: Array
    viscous: Array
    stribeck_velocity: float

    def dry(self, v: Array) -> Array:
        """Return the dry friction Fc + (Fs - Fc) exp(-(v / vs)^2), (..., m) [N m or N]."""
        return self.coulomb + (self.static - self.coulomb) * np.exp(
            -(v / self.stribeck_velocity) ** 2)

    def torque(self, v: Array) -> Array:
        """
        Return the friction torque of actuators that slide, (..., m) [N m or N].

        Parameters
        ----------
        v
            Actuator velocities, (..., m) [rad/s or m/s]; dry friction at zero velocity is zero.

        """
        return self.dry(v) * np.sign(v) + self.viscous * v


@dataclass(frozen=True)
class PlantTruth(ReadOnlyArrays):
    """
    Parameters of a plant with n joints and m actuators (joints and coupled drives).

    Parameters
    ----------
    inertial
        Inertial parameters of the bodies about the joint frames in Pinocchio's order, (n, 10); a
        body includes the links that are fixed to it.
    rotor_inertia
        Rotor inertias, (m,) [kg m^2 or kg].
    friction
        Friction of the actuators.
    rated_torque, rated_velocity
        Rated torques [N m or N] and velocities [rad/s or m/s] of the joints, (n,).

    """

    inertial: Array
    rotor_inertia: Array
    friction: PlantFriction
    rated_torque: Array
    rated_velocity: Array

    def standard_parameters(self, structure: ModelStructure) -> Array:
        """
        Return the standard parameters of a model of this plant, (count,).

        Friction parameters that the plant does not have, such as an offset, are zero.

        Parameters
        ----------
        structure
            The model, with nonlinear friction parameters of the plant if it has them.

        """
        standard = np.zeros(structure.count)
        standard[structure.inertial_slice] = self.inertial.ravel()
        standard[structure.rotor_slice] = self.rotor_inertia
        zero = np.zeros(len(self.rotor_inertia))
        standard[structure.friction_slice] = np.column_stack([
            getattr(self.friction, name) if name in ('coulomb', 'static', 'viscous') else zero
            for name in structure.friction.parameters]).ravel()
        return standard


def draw_plant(arm: Arm, options: PlantOptions) -> tuple[PlantTruth, str]:
    """
    Return the random parameters of a plant, and its URDF for MuJoCo.

    Parameters
    ----------
    arm, options
        The arm and the options of its plant, of which `seed` determines the result.

    Raises
    ------
    SimulationError
        A body of the URDF is not physical, or a torque or velocity limit is unknown.

    """
    rng = np.random.default_rng(options.seed)
    bodies = np.array([deform_body(body, options.inertia_error, rng)
                       for body in nominal_bodies(arm)])
    torque, velocity = (rated(arm, name) for name in ('torque', 'velocity'))
    drives = draw_drives(arm, options, torque, velocity, rng)
    return (PlantTruth(from_pseudo_inertia(bodies), *drives, torque, velocity),
            make_plant_urdf(arm, bodies))


def rated(arm: Arm, name: str) -> Array:
    """
    Return the rated torque or velocity of every joint, (n,) [N m or N], [rad/s or m/s].

    Parameters
    ----------
    arm
        The arm, whose limits are the rated values.
    name
        'torque' or 'velocity'.

    Raises
    ------
    SimulationError
        The limit of a joint is unknown.

    """
    values: Array = getattr(arm.limits, name)
    unknown = [joint for joint, value in zip(arm.joint_names, values)
               if not (np.isfinite(value) and value > 0)]
    if unknown:
        raise SimulationError(
            f"the {name} limit of '{', '.join(unknown)}' is unknown, but determines "
            f'friction, noise and saturation; give `{name}:` in the robot YAML or in the URDF')
    return values


def draw_drives(arm: Arm, options: PlantOptions, torque: Array, velocity: Array,
                rng: np.random.Generator) -> tuple[Array, PlantFriction]:
    """
    Return random rotor inertias and friction of the m actuators (joints and coupled drives).

    Parameters
    ----------
    arm, options
        The arm and the options of its plant.
    torque, velocity
        Rated torques and velocities of the joints, (n,).
    rng
        Random generator.

    Returns
    -------
    tuple
        Rotor inertias, (m,) [kg m^2 or kg], and the friction.

    """
    owner = arm.drives.owners
    m = len(owner)
    rotor = torque[owner] / (rng.uniform(200, 400, m) * np.where(arm.prismatic[owner], 0.1, 1.0))
    nominal = arm.drives.rotor_inertia[owner]
    change = 1 + options.inertia_error * rng.uniform(-1, 1, m)
    rotor = np.where(np.isfinite(nominal), nominal * change, rotor)
    if options.rotor_inertia is not None:
        rotor = np.array(options.rotor_inertia, dtype=float)
        if rotor.shape != (m,) or not np.all(rotor >= 0):
            raise ConfigurationError(
                f'plant option `rotor_inertia` must be {m} values that are not negative, one for '
                f'each of: {", ".join(arm.actuator_names)}')
    coulomb = rng.uniform(*options.coulomb, m) * torque[owner]
    viscous = rng.uniform(*options.viscous, m) * torque[owner] / velocity[owner]
    return rotor, PlantFriction(coulomb, options.stribeck_ratio * coulomb, viscous,
                                options.stribeck_velocity)


def nominal_bodies(arm: Arm) -> Array:
    """
    Return the pseudo-inertias of the bodies of the URDF about the joint frames, (n, 4, 4).

    Parameters
    ----------
    arm
        The arm. A body is a moving link with all links that are fixed to it.

    Raises
    ------
    SimulationError
        A body is not physically consistent: it has no mass, no rotational inertia, or principal
        moments that violate the triangle inequality by more than the rounding that
        `check_inertias` accepts; less is corrected.

    """
    bodies: Array = pseudo_inertia(arm.inertial_parameters)
    for joint, link, body in zip(arm.joint_names, arm.link_names, bodies):
        label = f"the link '{link}' behind joint '{joint}'"
        if not body[3, 3] > 0:
            raise SimulationError(f'{label} has no mass, {HINT}')
        mass, center, second_moments = _central_moments(body)
        eigenvalues, axes = np.linalg.eigh(second_moments)
        moments = np.sort(np.sum(eigenvalues) - eigenvalues)
        if -ROUNDING * moments[2] <= eigenvalues[0] < 0:    # two digits in the URDF
            body[:3, :3] = mass * np.outer(center, center) + (
                axes * np.maximum(eigenvalues, SMALLEST)) @ axes.T
        elif not (eigenvalues[0] >= 0 and moments[0] >= SMALLEST):
            raise SimulationError(
                f'{label} is not physical: its principal moments of inertia {moments[0]:.3g}, '
                f'{moments[1]:.3g}, {moments[2]:.3g} kg m^2 must be positive, and none may exceed '
                f'the sum of the others, {HINT}')
    return bodies


def deform_body(pseudo: Array, size: float, rng: np.random.Generator) -> Array:
    """
    Return the pseudo-inertia of a randomly deformed body; it stays physically consistent.

    Parameters
    ----------
    pseudo
        Pseudo-inertia of the body, (4, 4).
    size
        Relative size of the deformation.
    rng
        Random generator.

    References
    ----------
    Wensing, Kim and Slotine (2018), Linear matrix inequalities for physically consistent inertial
    parameter identification, IEEE RA-L 3(1).

    """
    mass, center, second_moments = _central_moments(pseudo)
    extent = np.sqrt(np.trace(second_moments) / mass)
    stretch = rng.uniform(-0.5, 0.5, (3, 3))
    affine = np.eye(4)
    affine[:3, :3] += size * (stretch + stretch.T) / 2
    affine[:3, 3] = center + (size * extent * rng.uniform(-1, 1, 3)) - affine[:3, :3] @ center
    return (1 + size * rng.uniform(-1, 1)) * affine @ pseudo @ affine.T


def make_plant_urdf(arm: Arm, bodies: Array) -> str:
    """
    Return a URDF for MuJoCo with the kinematics of an arm and the given bodies.

    Parameters
    ----------
    arm
        The arm.
    bodies
        Pseudo-inertias of the bodies about the joint frames, (n, 4, 4).

    """
    root = ElementTree.fromstring(arm.reduced_urdf)
    root[:] = [element for element in root if element.tag in KEPT]
    for element in root:
        element[:] = [child for child in element if child.tag not in REMOVED]
    links = {link.get('name'): link for link in root.findall('link')}
    for name, body in zip(arm.link_names, bodies):
        links[name].append(inertial_element(body))
    engine = ElementTree.SubElement(root, 'mujoco')
    ElementTree.SubElement(engine, 'compiler', strippath='false', discardvisual='true',
                           fusestatic='false', balanceinertia='false', boundmass='0',
                           boundinertia='0')
    return ElementTree.tostring(root, encoding='unicode')


def _central_moments(pseudo: Array) -> tuple[float, Array, Array]:
    """Return mass, centre of mass (3,) and second moments about that centre (3, 3) [kg m^2]."""
    mass, center = pseudo[3, 3], pseudo[:3, 3] / pseudo[3, 3]
    return mass, center, pseudo[:3, :3] - mass * np.outer(center, center)


def inertial_element(pseudo: Array) -> ElementTree.Element:
    """Return the <inertial> of a link with a pseudo-inertia about its frame, (4, 4)."""
    mass, center, second_moments = _central_moments(pseudo)
    inertia = np.trace(second_moments) * np.eye(3) - second_moments
    element = ElementTree.Element('inertial')
    ElementTree.SubElement(element, 'origin', xyz=' '.join(repr(float(x)) for x in center))
    ElementTree.SubElement(element, 'mass', value=repr(float(mass)))
    ElementTree.SubElement(element, 'inertia', {
        f'i{"xyz"[i]}{"xyz"[k]}': repr(float(inertia[i, k]))
        for i in range(3) for k in range(i, 3)})
    return element


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
