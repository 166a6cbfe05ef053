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
A node as a process: says in a sentence why it cannot start, and ends cleanly on SIGINT.

It also ends when the process that started it is gone: nothing stays behind a killed launch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import os
import signal
import threading
import time
from typing import Any, Protocol

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions
from robot_identification.errors import RobotIdentificationError

START = 2.0  # [s] for which a node that is still being made may go on


class Process(Protocol):
    """What `run` runs."""

    patience: float
    """For which it may take to come to its end [s]."""

    @property
    def nodes(self) -> Sequence[Any]:
        """The ROS nodes, for the executor."""

    def stop(self) -> None:
        """Begin to end; called once."""

    @property
    def stopped(self) -> bool:
        """Whether it has ended, so that communication may be shut down."""


def run(make: Callable[[], Process], args: Sequence[str] | None = None) -> int:
    """
    Run nodes until SIGINT or SIGTERM, or until the process that started them is gone.

    Parameters
    ----------
    make
        Makes the nodes.
    args
        Command line with ROS arguments.

    Returns
    -------
    int
        0; 1 where the process ended by itself; 2 where the nodes could not be made; the reason
        was logged.

    """
    rclpy.init(args=list(args) if args is not None else None,
               signal_handler_options=SignalHandlerOptions.NO)
    ending = threading.Event()

    def listen(patience: float, code: int) -> None:
        def end(*_: Any) -> None:
            if not ending.is_set():
                ending.set()
                # an executor that is held up does not look
                timer = threading.Timer(patience, os._exit, (code,))
                timer.daemon = True
                timer.start()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end)

    parent = os.getppid()
    listen(START, 0)    # nothing is open yet
    try:
        process = make()
    except RobotIdentificationError as error:
        get_logger('robot_identification').fatal(str(error))
        rclpy.try_shutdown()
        return 2
    listen(process.patience + START, 1)
    executor = SingleThreadedExecutor()
    for node in process.nodes:
        executor.add_node(node)
    try:
        while not ending.is_set() and not process.stopped:
            _spin(executor, 0.1)
            if _abandoned(parent):
                get_logger('robot_identification').error(
                    'the process that started this node is gone: the node ends')
                ending.set()
        code = 0 if ending.is_set() else 1
        process.stop()
        latest = time.monotonic() + process.patience
        while not process.stopped and time.monotonic() < latest:
            _spin(executor, 0.05)
    except ExternalShutdownException:
        code = 0
        process.stop()
    finally:
        executor.shutdown(timeout_sec=1.0)
        for node in process.nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return code


def _spin(executor: Any, seconds: float) -> None:
    """Do what is due; what a callback did not expect is said, and the node lives on."""
    try:
        executor.spin_once(timeout_sec=seconds)
    except ExternalShutdownException:
        raise
    except Exception as error:
        get_logger('robot_identification').error(f'unexpected: {error!r}',
                                                 throttle_duration_sec=1.0)


def _abandoned(parent: int) -> bool:
    """Whether what started this node is gone; with nohup or its own session it is to stay."""
    return (os.getppid() != parent and os.getsid(0) != os.getpid()
            and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN)


def main_of(make: Callable[[], Process]) -> Callable[[], int]:
    """Return the entry point of a console script."""
    def main() -> int:
        return run(make)
    return main
