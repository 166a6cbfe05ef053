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
"""The commands simulate and demo: a simulated arm (MuJoCo) that executes motions."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from robot_identification import console, files
from robot_identification.cli.excite import print_design
from robot_identification.errors import ConfigurationError, ExcitationError
from robot_identification.output_folder import replace_files

if TYPE_CHECKING:
    from robot_identification.arm import Arm
    from robot_identification.excitation import Excitation
    from robot_identification.simulation import SimulatedRun

KINDS = {'.csv': files.RECORDING_CSV, '.npz': files.NPZ, '': files.FileKind('a bag', '')}
"""Kinds of recordings, by suffix."""
CONTACT_RATE = 200.0    # [Hz] rate at which a simulated path is checked for contact
GOOD = 15.0    # condition number at which the design ends, whatever the speed of the processor
INPUTS = ('excitation.yaml', 'recording.csv', 'held_out.csv')


def simulate_command(
    robot: str,
    excitation: Path,
    /,
    *,
    output: Path,
    periods: int = 1,
    seed: int = 0,
    noise_seed: int = 0,
    matched: bool = False,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Record a simulated arm (MuJoCo) that differs from its URDF.

    Parameters
    ----------
    excitation : EXCITATION
        Excitation file.
    output : -o
        Recording to write: .csv, .npz, or, without suffix, the folder of a bag (MCAP).
    periods
        Number of periods of the motion.
    seed : >= 0
        Seed of the simulated arm.
    noise_seed : >= 0
        Seed of the measurement noise.
    matched
        Simulate only effects that the model contains, and torque noise.

    """
    import numpy as np
    from robot_identification.arm import load_arm
    from robot_identification.excitation import load_excitation
    from robot_identification.excitation.certificate import nominal_torque
    from robot_identification.recording.bag.write import write_bag
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
    if output.suffix == '.csv':
        run.recording.to_csv(output)
    elif output.suffix == '.npz':
        run.recording.to_npz(output)
    else:    # joints in a bag have their names in ROS
        write_bag(dataclasses.replace(run.recording, joint_names=arm.ros_joint_names), output)
    saturated = {joint: float(x) for joint, x in zip(arm.joint_names, run.saturated) if x}
    contacts, note = _contacts(arm, motion, run)
    if as_json:
        console.emit({
            'recording': str(output), 'samples': len(run.recording), 'saturated': saturated,
            'tracking_error': dict(zip(arm.joint_names, run.tracking_error)),
            'end_stops': run.end_stops, 'contacts': contacts})
        return
    console.out.print(f'largest tracking error {np.max(run.tracking_error):.3g} rad or m')
    console.print_lines(*(f'{joint} was at its rated torque for {fraction:.1%} of the run'
                          for joint, fraction in saturated.items()), style='yellow')
    console.print_lines(*(f'{each}: the links touch' for each in contacts or ()), style='red')
    console.print_lines('' if contacts else note, f'wrote {output}: {len(run.recording)} samples')


def _contacts(arm: Arm, motion: Excitation, run: SimulatedRun) -> tuple[list[str] | None, str]:
    """Return contacts of links along the simulated path, None if not checked, and a note."""
    from robot_identification.excitation import build_scene
    from robot_identification.simulation.contacts import find_contacts

    if motion.requirements.clearance is None:
        return None, 'self-contact was not checked, because the design did not check it'
    try:
        excluded = build_scene(arm, motion.requirements).excluded
    except ExcitationError as error:
        return None, f'self-contact is not simulated: {error}. The recording is unaffected.'
    step = max(1, round(run.plant.options.rate / CONTACT_RATE))
    found = find_contacts(arm, run.q[::step], motion.requirements.package_dirs, list(excluded))
    return [f"'{first}' and '{second}' overlap" for first, second in found], 'no links overlap'


def demo_command(
    *,
    output: Path = Path(
        'results/demo'),
    robot: str = 'panda',
    time_budget: float | None = None,
    seed: int = 0,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """
    Design, simulate, record, identify, validate and report.

    Parameters
    ----------
    output : -o
        Folder for the results.
    robot
        Shipped robot or robot YAML.
    time_budget
        Time budget of the design [s]; by default the design ends at a condition number of 15.
    seed
        Seed of the design, the simulated arm and its noise.

    """
    import numpy as np
    from robot_identification.arm import load_arm
    from robot_identification.excitation import save_excitation
    from robot_identification.identification import identify
    from robot_identification.reporting import RESULTS, results_to_dict, save_results
    from robot_identification.reporting.results_files import RESULT_FILES
    from robot_identification.reporting.terminal_summary import summary
    from robot_identification.simulation import Plant, PlantOptions, simulate
    from robot_identification.simulation.plant import mujoco_module

    mujoco_module()    # raises an error before the design if it is not installed
    report = (lambda text: None) if as_json else console.out.print
    arm = load_arm(robot)
    files.check_output_folder(output, (*RESULT_FILES, *INPUTS), RESULTS, arm.files, force=force)
    report(f'[bold]1. Design[/bold] a motion that excites all parameters of {arm.name} '
           f'({arm.n} joints)')
    excitation, other = _design(arm, seed, time_budget, as_json)
    report('[bold]2. Move and record[/bold] an arm in MuJoCo whose inertias differ from the URDF '
           'by 20 %,')
    report('   with Stribeck friction, delay, encoder quantisation and torque noise, all unknown '
           'to the model.')
    plant = Plant(arm, PlantOptions(seed=seed))
    rng = np.random.default_rng(seed)
    with console.progress(as_json) as update:
        update('excitation', 0.0)
        training = simulate(plant, excitation, rng=rng, periods=2, name='excitation')
        update('validation motion', 0.6)
        check = simulate(plant, other, rng=rng, periods=2, name='validation motion')
    report('[bold]3. Identify and validate[/bold]')
    with console.progress(as_json) as update:
        result = identify(arm, [training.recording], held_out=[check.recording], progress=update)
        update('writing the report', 0.9)
        with replace_files(output) as folder:
            save_excitation(excitation, folder / INPUTS[0])
            training.recording.to_csv(folder / INPUTS[1])
            check.recording.to_csv(folder / INPUTS[2])
            save_results(result, folder, excitation=excitation)
    model = result.model
    clean = model.torque(check.q, check.v, check.a, model.states(check.q))
    error = float(np.linalg.norm(clean - check.torque) / np.linalg.norm(check.torque))
    if as_json:
        console.emit({**results_to_dict(result, excitation), 'directory': str(output),
                      'error_to_clean_torque': error,
                      'condition_number_of_excitation': excitation.condition_number})
    else:
        console.out.print(summary(result, output))
        console.out.print(f"Error against the simulated arm's noise-free, unfiltered torque: "
                          f'{error:.1%} (mostly stiction at reversals).')
    raise SystemExit(result.verdict.exit_code)


def _design(arm: Arm, seed: int, time_budget: float | None,
            as_json: bool) -> tuple[Excitation, Excitation]:
    """Return an excitation and a motion for validation, and print the excitation."""
    from robot_identification.arm.meshes import has_collision_geometry
    from robot_identification.excitation import DEFAULT_REQUIREMENTS, DesignOptions
    from robot_identification.excitation.design.validation_motions import design_with_progress

    requirements = DEFAULT_REQUIREMENTS
    if not has_collision_geometry(arm):
        requirements = dataclasses.replace(DEFAULT_REQUIREMENTS, clearance=None)
        if not as_json:
            console.out.print(f'   The URDF of {arm.name} has no collision geometry: collisions '
                              'are not checked.')
    options = DesignOptions(period=10.0, seed=seed, time_budget=time_budget, good_enough=GOOD,
                            requirements=requirements)
    with console.progress(as_json) as update:
        excitation = design_with_progress(arm, options, update)
    if not as_json:
        print_design(excitation)
    with console.progress(as_json) as update:
        return excitation, design_with_progress(
            arm, dataclasses.replace(options, period=8.0, seed=seed + 1, starts=1), update,
            title='designing a motion for validation')
