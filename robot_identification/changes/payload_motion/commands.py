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
"""The command payload-motion: designs a short motion for payload identification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from robot_identification import cli, console
from robot_identification.arm import load_arm
from robot_identification.changes import payload_motion
from robot_identification.cli.excite import (
    CSV_RATE,
    DesignArguments,
    print_design,
    read_options,
    write_motions,
)
from robot_identification.dynamics.model_file import load_model
from robot_identification.excitation import DesignOptions
from robot_identification.excitation.design.design_motions import design_motions, Stopwatch
from robot_identification.files import check_outputs, EXCITATION_YAML, HTML_PAGE, MOTION_CSV
import typer


@console.expand_options
def payload_motion_command(
    robot: console.Robot,
    model: Annotated[Path, typer.Argument(
        metavar='MODEL', help='Model file of the arm, identified without payload.')],
    output: Annotated[Path | None, typer.Option(
        '--output', '-o', help='Excitation file (YAML).')] = None,
    *,
    arguments: DesignArguments,
    joint: Annotated[list[str] | None, typer.Option(
        help=f'A joint that moves; repeatable. By default the last {payload_motion.JOINTS}.',
        )] = None,
    report: Annotated[Path | None, typer.Option(
        help='Also write an HTML page with plots and the moving arm.')] = None,
    csv: Annotated[Path | None, typer.Option(
        help=f'Also write t, q, v, a as CSV at {CSV_RATE:g} Hz.')] = None,
    options: Annotated[Path | None, typer.Option(
        help='YAML file of `excite --print-options`; options given here override it.')] = None,
    force: console.Force = False,
    as_json: console.AsJson = False,
) -> None:
    """
    Design a motion for payload identification.

    It is short, moves few joints, and its expected accuracy is printed. The other joints rest in a
    pose that the design chooses. --payload is the expected payload, for the torque limits and the
    stated accuracy. Record the motion with and without it, and identify it with `payload`.
    """
    if output is None:
        raise typer.BadParameter("name the file: '--output' / '-o'")
    arm, identified = load_arm(robot), load_model(model)
    payload_motion.check_same_arm(arm, identified)
    request = arguments.replace_in(DesignOptions(period=payload_motion.PERIOD) if options is None
                                   else read_options(options))
    request = payload_motion.payload_request(
        identified, replace(request, moving=tuple(joint)) if joint else request)
    check_outputs([(output, EXCITATION_YAML), (report, HTML_PAGE), (csv, MOTION_CSV)],
                  [*arm.files, model, *([] if options is None else [options])], force=force)
    watch = Stopwatch(request.time_budget, cli.BEGAN)
    with console.progress(as_json) as progress:
        designs = design_motions(arm, request, watch, progress)
    motion = designs.motions[''] = replace(
        designs.motions[''], condition_number=payload_motion.payload_condition(
            identified, designs.motions['']))
    written = write_motions(arm, designs, {'': output}, watch, csv, report)
    expected = payload_motion.expected_accuracy(identified, motion)
    if as_json:
        console.emit({
            'excitation': str(output), 'moving': request.moving, 'period': motion.period,
            'condition_number': motion.condition_number, 'status': motion.status,
            'notes': motion.notes, 'written': written, 'payload': vars(expected[0]),
            'expected_std': {name: vars(each) for name, each in zip(
                ('unloaded', 'model'), expected[1:])}})
        return
    print_design(motion)
    for note in motion.notes:
        console.out.print(f'note: {note}', style='yellow', markup=False)
    for line in (*payload_motion.describe_accuracy(expected), *(f'wrote {x}' for x in written)):
        console.out.print(line, markup=False)
