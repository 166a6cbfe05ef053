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
"""Export to functional mock-up units (FMI 2.0, co-simulation)."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
import platform
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING
from xml.etree import ElementTree
import zipfile

from robot_identification.code_generation.c_code import c_files, generate_program
from robot_identification.errors import ExportError
from robot_identification.export.target import ExportContext, Exported
from robot_identification.export.xml_text import add_element, xml_text
from robot_identification.helper_process import run_helper, TimeoutExpired

if TYPE_CHECKING:
    from robot_identification.code_generation.program import Program

SUBSTEP = 2e-4
"""Largest step of the fourth-order Runge-Kutta integration in the forward unit [s]: a tenth of the
step at which drives with light rotors and much damping become unstable."""
FLAGS = ('-std=c99', '-O2', '-shared', '-fPIC')
INPUTS = {'inverse': ('q', 'v', 'a'), 'forward': ('tau',)}
GROUPS = {'q': 'position [rad or m]', 'v': 'velocity [rad/s or m/s]',
          'a': 'acceleration [rad/s2 or m/s2]', 'tau': 'torque [N m or N]'}
"""Groups of variables in both units; joint j of group k has the value reference k n + j."""
PLATFORMS = {'linux': ('linux', '.so'), 'darwin': ('darwin', '.dylib'), 'win32': ('win', '.dll')}


def export_fmu(context: ExportContext) -> Exported:
    """Return two functional mock-up units: inverse dynamics and forward dynamics."""
    program = generate_program(context)
    return Exported(
        {f'{program.name}_{kind}.fmu': _unit(program, kind) for kind in INPUTS}, program.losses,
        ('the forward unit integrates with steps of at most 0.2 ms; while friction holds a joint '
         'at rest, its velocity oscillates around zero by the change within one step',),
        residual=True)


def _unit(program: Program, kind: str) -> bytes:
    """Return the zip archive of the unit 'inverse' or 'forward'."""
    header, code = c_files(program)
    unit = (f'#include "{program.name}.h"\n#define N {program.n}\n'
            f'#define FORWARD {int(kind == "forward")}\n#define SUBSTEP {SUBSTEP}\n'
            f'#define STATUS {int(program.needs_load)}\n'
            f'#define DYNAMICS(function) {program.name}_##function\n'
            + Path(__file__).with_name('fmi2.c').read_text('utf-8'))
    sources = {f'{program.name}.h': header, f'{program.name}.c': code, 'unit.c': unit}
    identifier = f'{program.name}_{kind}'
    guid = hashlib.sha256('\n'.join(sources.values()).encode()).hexdigest()[:32]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('modelDescription.xml', _description(program, kind, identifier, guid))
        for name, content in sources.items():
            archive.writestr(f'sources/{name}', content)
        folder, suffix = PLATFORMS.get(sys.platform, PLATFORMS['linux'])
        bits = platform.architecture()[0][:2]
        archive.writestr(f'binaries/{folder}{bits}/{identifier}{suffix}', _compile(sources))
    return stream.getvalue()


def _compile(sources: dict[str, str]) -> bytes:
    """Return the shared library that the C compiler of this machine builds."""
    compiler = shutil.which('cc') or shutil.which('gcc') or shutil.which('clang')
    if compiler is None:
        raise ExportError('an FMU needs a C compiler and none is installed (cc, gcc, clang); '
                          'export c and compile it elsewhere')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in sources.items():
            (folder / file).write_text(content, encoding='utf-8')
        codes = [file for file in sources if file.endswith('.c')]
        try:
            done = run_helper('compiler', compiler, *FLAGS, *codes, '-o', 'unit.bin', '-lm',
                              cwd=folder)
        except TimeoutExpired as error:
            raise ExportError(f'{compiler} did not compile the FMU within {error.timeout:g} s; '
                              'export c and compile it elsewhere') from error
        if done.returncode:
            reason = done.stderr.decode('utf-8', 'replace')[:500]
            raise ExportError(f'{compiler} cannot compile the FMU: {reason}')
        return (folder / 'unit.bin').read_bytes()


def _description(program: Program, kind: str, identifier: str, guid: str) -> str:
    """Return modelDescription.xml, which lists the variables of a unit."""
    root = ElementTree.Element(
        'fmiModelDescription', fmiVersion='2.0', modelName=identifier, guid=guid,
        generationTool='robot_identification', variableNamingConvention='structured',
        description=f'{kind} dynamics of {program.name}')
    add_element(root, 'CoSimulation', modelIdentifier=identifier,
                canHandleVariableCommunicationStepSize='true', canInterpolateInputs='false')
    variables = add_element(root, 'ModelVariables')
    structure = add_element(root, 'ModelStructure')
    outputs, initial = (add_element(structure, tag)
                        for tag in ('Outputs', 'InitialUnknowns'))
    for k, (group, meaning) in enumerate(GROUPS.items()):
        is_input, is_state = group in INPUTS[kind], kind == 'forward' and group in ('q', 'v')
        for j, joint in enumerate(program.joint_names):
            variable = add_element(
                variables, 'ScalarVariable', name=f'{group}[{j + 1}]',
                valueReference=str(k * program.n + j),
                causality='input' if is_input else 'output', variability='continuous',
                description=f'{meaning} of {joint}',
                initial='exact' if is_state else None)
            add_element(variable, 'Real', start='0' if is_input or is_state else None)
            for section in [] if is_input else [outputs] if is_state else [outputs, initial]:
                add_element(section, 'Unknown', index=str(len(variables)))
    return xml_text(root, '<?xml version="1.0" encoding="UTF-8"?>\n')
