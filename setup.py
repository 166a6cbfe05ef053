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
"""Installation with pip and with colcon (ament_python)."""

from glob import glob
from pathlib import Path
import re

from setuptools import find_packages, setup

PACKAGE = 'robot_identification'
SHARE = f'share/{PACKAGE}'
README = Path(__file__).with_name('README.md').read_text(encoding='utf-8')
# on the page of a package index nothing lies beside README.md: its pictures go, links become text
README = re.sub(r'!\[[^]]*\]\((?!https?:)[^)]*\)\n*', '', README)
README = re.sub(r'\[([^]]*)\]\((?!https?:)([^)]*)\)', r'\1', README)

# 414 MB, of which the shipped robots ur3, ur5, ur10, xarm7 and z1 need the descriptions
ROBOTS = ['example-robot-data>=4.4']
# etils 1.14, which MuJoCo requires, needs Python 3.11; pip 22 and 23 search for hours without it
SIMULATION = ['mujoco>=3.5', 'etils<1.14; python_version < "3.11"']
PLOT = ['matplotlib>=3.9', 'pandas>=2.2.3']
LOGS = ['pandas>=2.2.3', 'pyarrow>=17', 'h5py>=3.12', 'openpyxl>=3.1', 'rosbags>=0.11.5']
TEST = ['pytest>=7.4', 'hypothesis>=6.100', 'cma>=3', 'rosbags>=0.11.5', 'casadi>=3.8', *ROBOTS,
        *SIMULATION]


def shared_files(folder):
    """Return the entries of data_files for a shipped folder and its subfolders."""
    paths = sorted(path for path in Path(folder).rglob('*') if path.is_file())
    parents = dict.fromkeys(path.parent for path in paths)
    return [(f'{SHARE}/{parent}', [str(path) for path in paths if path.parent == parent])
            for parent in parents]


setup(
    name=PACKAGE,
    version='0.1.0',
    description='From a URDF to a validated dynamic model of a serial arm',
    long_description=README,
    long_description_content_type='text/markdown',
    author='The robot_identification authors',
    keywords='robotics dynamics identification URDF ROS Pinocchio friction',
    classifiers=[
        'Development Status :: 4 - Beta', 'Environment :: Console',
        'Intended Audience :: Science/Research', 'Intended Audience :: Developers',
        'Intended Audience :: Manufacturing', 'Operating System :: POSIX :: Linux',
        *(f'Programming Language :: Python :: 3{minor}'
          for minor in ('', '.10', '.11', '.12', '.13')),
        'Topic :: Scientific/Engineering', 'Topic :: Scientific/Engineering :: Physics',
        'Typing :: Typed'],
    license='Apache-2.0',
    license_files=['LICENSE', 'urdf/example-robot-data/robots/panda_description/LICENSE'],
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed', 'arm/templates/*', 'code_generation/*.c',
                            'code_generation/ros2/*.in', 'code_generation/ros2/*/*.in',
                            'reporting/templates/*', 'reporting/templates/*/*',
                            'papers/templates/*', 'fleet/templates/*',
                            'servos/templates/*', 'changes/templates/*',
                            'benchmarking/templates/*', 'benchmarking/*.bib',
                            'benchmarking/data/*', 'benchmarking/robots/*']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (SHARE, ['package.xml']),
        *shared_files('config'), *shared_files('urdf'), *shared_files('launch'),
        # nodes are for `ros2 run` and launch, which look here; their names are too common for PATH
        (f'lib/{PACKAGE}', glob('scripts/*')),
    ],
    zip_safe=False,
    python_requires='>=3.10',
    install_requires=[
        'numpy>=2.2', 'scipy>=1.14.1', 'pin>=3.3', 'pyyaml>=6.0.1', 'numba>=0.61',
        'clarabel>=0.9', 'rich>=13', 'click>=8.0',
        'threadpoolctl>=3', 'jinja2>=3.1', 'xacro>=2', 'mcap>=1.1.1',
    ],
    extras_require={
        'logs': LOGS,
        'simulation': SIMULATION,
        'robots': ROBOTS,
        'codegen': ['casadi>=3.8'],
        'test': TEST,
        'develop': [*TEST, *LOGS, *PLOT, 'pytest-xdist>=3', 'ruff>=0.17', 'mypy>=1.8',
                    'import-linter>=2.17', 'types-PyYAML', 'distributed>=2024.8',
                    'fsspec>=2023.1', 'catkin-pkg'],
        'search': ['cma>=3'],
        'plot': PLOT,
        'fleet': ['distributed>=2024.8', 'bokeh>=3.4', 'fsspec>=2023.1', 'pyarrow>=17',
                  's3fs>=2023.1', 'aiohttp>=3.9'],    # recordings at s3:// and https://
        'docs': ['sphinx>=7', 'myst-parser>=3', 'furo', 'latex2mathml>=3.77'],
    },
    entry_points={'console_scripts': [f'robot-identification = {PACKAGE}.cli:main']},
)
