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
"""A motion that shows the parameters of an arm, within limits that are proven for all times."""

from pathlib import Path
import sys

from robot_identification import load_arm
from robot_identification.excitation import design, Requirements, save_excitation

folder = Path(sys.argv[1] if len(sys.argv) > 1 else '.')
arm = load_arm('two_link')
# limits of motion alone; without `requirements` torque and collisions are looked at too
found = design(arm, period=5.0, harmonics=3, starts=1, good_enough=30.0,
               requirements=Requirements())
print(f'condition number {found.condition_number:.3g}, {found.status}')
for claim in found.certificate.claims:
    print(' ', claim)
save_excitation(found, folder / 'excitation.yaml')
