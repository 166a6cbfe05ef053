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
"""The command simulate: records a simulated arm (MuJoCo) that executes a motion."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, TYPE_CHECKING

from robot_identification import console, files
from robot_identification.errors import ConfigurationError, ExcitationError, SimulationError
import typer

if TYPE_CHECKING:
    from robot_identification.arm import Arm
    from robot_identification.excitation import Excitation
    from robot_identification.recording import Recording
    from robot_identification.simulation import SimulatedRun

KINDS = {'.csv': files.RECORDING_CSV, '.npz': files.NPZ, '': files.FileKind('a bag', '')}
"""Kinds of recordings, by suffix."""
CONTACT_RATE = 200.0    # [Hz] rate at which a simulated path is checked for contact


def simulate_command(
    robot: console.Robot,
    excitation: Annotated[Path, typer.Argument(metavar='EXCITATION', help='Excitation file.')],
    output: Annotated[Path, typer.Option(
        '--output', '-o', help='Recording to write: .csv, .npz, or, without suffix, the folder '
                               'of a bag (MCAP).')],
    periods: Annotated[int, typer.Option(help='Number of periods of the motion.')] = 1,
    seed: Annotated[int, typer.Option(min=0, help='Seed of the simulated arm.')] = 0,
    noise_seed: Annotated[int, typer.Option(
        min=0, help='Seed of the measurement noise.')] = 0,
    matched: Annotated[bool, typer.Option(
        '--matched',
        help='Simulate only effects that the model contains, and torque noise.')] = False,
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """Record a simulated arm (MuJoCo) that differs from its URDF."""
    import numpy as np
    from robot_identification.arm import load_arm
    from robot_identification.excitation import load_excitation
    from robot_identification.excitation.certificate import nominal_torque
    from robot_identification.simulation import Plant, PlantOptions
    from robot_identification.simulation import simulate as run_plant

    if output.suffix not in KINDS:
        raise ConfigurationError(f"'{output}' must end in .csv or .npz, or, for a bag, have no "
                                 'suffix')
    if output.is_dir() or (not output.suffix and output.exists()):
        raise ConfigurationError(f"'{output}' exists; give the bag another name")
    arm, motion = load_arm(robot), load_excitation(excitation)
    files.check_outputs([(output, KINDS[output.suffix])], (*arm.files, excitation), force=force)
    motion.check_arm(arm)
    body = arm if motion.requirements.guess_density is None else nominal_torque.with_guesses(
        arm, dataclasses.replace(motion.requirements, payload=None))
    options = PlantOptions.matched(seed=seed) if matched else PlantOptions(seed=seed)
    if not as_json:
        console.err.print(f'moving {arm.name} for {periods * motion.period:g} s in MuJoCo',
                          markup=False)
    run = run_plant(Plant(body, options), motion, rng=np.random.default_rng(noise_seed),
                    periods=periods, name=output.name)
    _write(run.recording, output, arm)
    saturated = {joint: float(x) for joint, x in zip(arm.joint_names, run.saturated) if x}
    contacts, note = _contacts(arm, motion, run)
    if as_json:
        console.emit({
            'recording': str(output), 'samples': len(run.recording), 'saturated': saturated,
            'tracking_error': dict(zip(arm.joint_names, run.tracking_error)),
            'end_stops': run.end_stops, 'contacts': contacts})
        return
    console.out.print(f'largest tracking error {np.max(run.tracking_error):.3g} rad or m')
    for joint, fraction in saturated.items():
        console.out.print(f'{joint} was at its rated torque for {fraction:.1%} of the run',
                          style='yellow', markup=False)
    for contact in contacts or ():
        console.out.print(f'{contact}: the links touch', style='red', markup=False)
    if not contacts:
        console.out.print(note, markup=False)
    console.out.print(f'wrote {output}: {len(run.recording)} samples', markup=False)


def _write(recording: Recording, output: Path, arm: Arm) -> None:
    """Write a recording in the format of the suffix; joints in a bag have their names in ROS."""
    from robot_identification.recording.bag.write import write_bag

    if output.suffix == '.csv':
        recording.to_csv(output)
    elif output.suffix == '.npz':
        recording.to_npz(output)
    else:
        write_bag(dataclasses.replace(recording, joint_names=arm.ros_joint_names), output)


def _contacts(arm: Arm, motion: Excitation, run: SimulatedRun) -> tuple[list[str] | None, str]:
    """Return contacts of links along the simulated path, None if not checked, and a note."""
    from robot_identification.excitation import build_scene
    from robot_identification.simulation.contacts import ContactGeometry

    if motion.requirements.clearance is None:
        return None, 'self-contact was not checked, because the design did not check it'
    try:
        geometry = ContactGeometry(arm, motion.requirements.package_dirs,
                                   list(build_scene(arm, motion.requirements).excluded))
    except (ExcitationError, SimulationError) as error:
        return None, f'self-contact is not simulated: {error}. The recording is unaffected.'
    step = max(1, round(run.plant.options.rate / CONTACT_RATE))
    return [str(contact) for contact in geometry.find_contacts(run.q[::step])], 'no links overlap'
