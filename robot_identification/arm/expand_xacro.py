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
"""
Program that writes the URDF of a xacro to stdout: python expand_xacro.py ORDER.

ORDER is JSON with the path of the xacro, its arguments, the package folders, and the largest
number of characters of the URDF. Only the standard library and xacro are imported.
"""

import json
from pathlib import Path
import runpy
import sys

from xacro import process_file, substitution_args


def main(order: dict[str, object]) -> None:
    """Expand the xacro."""
    find_package = runpy.run_path(str(Path(__file__).with_name('packages.py')))['find_package']

    def find(name: str) -> str:
        folder = find_package(name, Path(str(order['path'])), order['folders'])
        if folder is None:
            raise SystemExit(
                f"the package '{name}' is not in --package-dir, not around the file and not in a "
                'sourced ROS; name the folder that holds it with --package-dir')
        return str(folder)

    substitution_args._eval_find = find
    text = process_file(order['path'], mappings=order['arguments']).toxml()
    sys.stdout.buffer.write(text[:int(str(order['length'])) + 1].encode())


if __name__ == '__main__':
    main(json.loads(sys.argv[1]))
