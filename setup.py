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
    license_files=['LICENSE'],
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['py.typed', 'cli/templates/*', 'formats/*.c', 'reporting/templates/*',
                            'reporting/templates/*/*', 'papers/templates/*',
                            'fleet/templates/*']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (SHARE, ['package.xml']),
        (f'{SHARE}/config', glob('config/*')),
        (f'{SHARE}/urdf', glob('urdf/*')),
        (f'{SHARE}/launch', glob('launch/*')),
        # nodes are for `ros2 run` and launch, which look here; their names are too common for PATH
        (f'lib/{PACKAGE}', glob('scripts/*')),
    ],
    zip_safe=False,
    python_requires='>=3.10',
    install_requires=[
        'setuptools>=61', 'numpy>=2.2', 'scipy>=1.14.1', 'pin>=3.3', 'pyyaml>=6.0.1',
        'numba>=0.61', 'clarabel>=0.9', 'mujoco>=3.5', 'rich>=13', 'typer>=0.16',
        'threadpoolctl>=3', 'urdf-parser-py>=0.0.4', 'jinja2>=3.1',
        'example-robot-data>=4.4', 'xacro>=2', 'mcap>=1.1.1',
    ],
    extras_require={
        'logs': ['pandas>=2.2.3', 'pyarrow>=17', 'h5py>=3.12', 'openpyxl>=3.1',
                 'rosbags>=0.11.5'],
        'codegen': ['casadi>=3.8'],
        'test': ['pytest>=7.4', 'hypothesis>=6.100', 'cma>=3', 'rosbags>=0.11.5', 'casadi>=3.8'],
        'develop': ['pytest>=7.4', 'pytest-xdist>=3', 'hypothesis>=6.100', 'cma>=3',
                    'rosbags>=0.11.5', 'casadi>=3.8', 'ruff>=0.6', 'mypy>=1.8', 'types-PyYAML',
                    'pandas>=2.2.3', 'pyarrow>=17', 'distributed>=2024.8', 'fsspec>=2023.1',
                    'h5py>=3.12', 'openpyxl>=3.1', 'tables>=3.10', 'catkin-pkg'],
        'search': ['cma>=3'],
        'plot': ['matplotlib>=3.9', 'pandas>=2.2.3'],
        'fleet': ['distributed>=2024.8', 'bokeh>=3.4', 'fsspec>=2023.1', 'pyarrow>=17'],
        'docs': ['sphinx>=7', 'myst-parser>=3', 'furo'],
    },
    entry_points={'console_scripts': [f'robot-identification = {PACKAGE}.cli:main']},
)
