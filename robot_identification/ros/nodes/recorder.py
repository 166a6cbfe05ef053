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
"""The node `recorder`, which records joint states and other topics to bags."""

from contextlib import suppress
from datetime import datetime
import threading
import time
from typing import Any

from rclpy.node import Node
from robot_identification import errors
from robot_identification.files import atomic_write, write_text
from robot_identification.recording.bag import bag_description
from robot_identification.ros.execution.motion_monitor import JointStateWatchdog
from robot_identification.ros.nodes import parameters
from robot_identification.ros.nodes.bag_recording import BagRecording, find_topics
from robot_identification.ros.nodes.batch_subscription import BatchSubscription
from robot_identification.ros.nodes.live_states import PERIOD
from robot_identification.ros.nodes.process import Health, main_of, ThreadedProcess
from robot_identification.ros.nodes.recording_metadata import RecordingMetadata
from robot_identification.ros.nodes.service_calls import FIRST_MESSAGE
from robot_identification_interfaces.srv import StartRecording, StopRecording
from std_msgs.msg import String

FLUSH = 0.25     # [s] between writes to the disk; a killed recorder loses the messages in between
DISCOVERY = 2.0  # [s] within which the middleware discovers the names of the publishing nodes


class RecorderNode(ThreadedProcess):
    """Node that records joint states and other topics to bags, on request."""

    patience = 30.0  # [s] to close the bag

    def __init__(self) -> None:
        node = Node('recorder')
        super().__init__(node)
        self.arm = parameters.declare_arm(node)
        self.data = parameters.declare_data_directory(node, 'recordings')
        self.topic = parameters.declare_joint_states(node)
        self.others = [topic for topic in parameters.declare(
            node, 'topics', [''], 'other topics to record, for example motor currents') if topic]
        self.controller = parameters.declare(
            node, 'controller', 'joint_trajectory_controller',
            'name of the controller, whose state and parameters are recorded if it is running')
        self._metadata = RecordingMetadata(node, [self.controller])
        self._texts = [node.resolve_topic_name(f'~/{name.split("/")[-1]}')
                       for name in (bag_description.ROBOT, bag_description.FACTS)]
        self.health = Health(node)
        self._lock = threading.Lock()
        self._bag: BagRecording | None = None
        self._lease: JointStateWatchdog | None = None      # if the client must renew the recording
        self._last: tuple[BagRecording, int] | None = None     # last bag, its number of messages
        self._keep = BatchSubscription(node, String, '~/keep', raw=False)
        self.add_service(StartRecording, 'start', self._on_start)
        self.add_service(StopRecording, 'stop', self._on_stop)
        self.start_thread(self._loop)

    def _on_start(self, request: Any) -> dict[str, Any]:
        bag = self._begin(request.name, request.excitation, request.lease)
        deadline = time.monotonic() + FIRST_MESSAGE
        while not bag.statistics.messages and time.monotonic() < deadline and not bag.failure:
            time.sleep(0.01)
        if bag.statistics.messages:
            return {'path': str(bag.path), 'message': f"recording to '{bag.path}'"}
        self._end()
        topic = self.node.resolve_topic_name(self.topic)
        return {'success': False, 'path': str(bag.path), 'message': bag.failure or (
            f"no joint state arrived on '{topic}' for {FIRST_MESSAGE:g} s; check that the robot "
            f'is on')}

    def _begin(self, name: str, excitation: str, lease: float) -> BagRecording:
        """Create a bag with the files that describe it, and start to record."""
        with self._lock:
            if self._bag is not None:
                owner = '' if self._lease is None else ' for a client that renews it'
                raise errors.RecordingError(
                    f"'{self._bag.path}' is already being recorded{owner}; stop it first")
            path = self.data.path(name or f'recording_{datetime.now():%Y%m%d_%H%M%S}', 'recording')
            source = self.data.existing(excitation, 'excitation') if excitation else None
            topics = find_topics(self.node, [self.topic, *self.others], [
                bag_description.DESCRIPTION, f'{self.controller}/controller_state'])
            bag = BagRecording(self.node, self.arm, path, topics, self._texts)
            robot = bag_description.robot_text(self.arm)
            try:
                write_text(path / 'robot.yaml', robot)
                write_text(path / 'robot.urdf', self.arm.urdf)
                if source is not None:
                    with atomic_write(path / 'excitation.yaml') as copy:
                        copy.write_bytes(source.read_bytes())
            except (OSError, errors.RobotIdentificationError) as error:
                bag.close()
                raise errors.RecordingError(
                    f"nothing is recorded to '{path}': {error}") from error
            bag.subscribe()
            self._lease, self._bag = JointStateWatchdog(lease) if lease else None, bag
            bag.write_text(self._texts[0], robot)
        # in a thread: the responses of other nodes are received by the thread of this callback
        threading.Thread(target=self._write_metadata, args=(bag,), daemon=True).start()
        self.health.ok(f"recording to '{path}'")
        self.node.get_logger().info(f"recording to '{path}'")
        return bag

    def _write_metadata(self, bag: BagRecording) -> None:
        """Collect the metadata of a bag and write it to the bag and to a file beside it."""
        deadline = time.monotonic() + DISCOVERY
        publishers = bag.publishers()
        while 'NAME_UNKNOWN' in str(publishers) and time.monotonic() < deadline:
            time.sleep(0.1)
            publishers = bag.publishers()
        text = self._metadata.collect(publishers)
        with self._lock:
            if self._bag is bag:
                bag.write_text(self._texts[1], text)
                with suppress(OSError):    # the bag contains it anyway
                    write_text(bag.path / 'facts.yaml', text)

    def _on_stop(self, request: Any) -> dict[str, Any]:
        with self._lock:
            bag = self._bag
        if bag is not None and request.path not in ('', str(bag.path)):
            raise errors.RecordingError(f"'{bag.path}' is being recorded, not '{request.path}'")
        self._end()
        if self._last is None or (bag is None and not self._last[0].failure
                                  and request.path != str(self._last[0].path)):
            raise errors.RecordingError('nothing is being recorded')
        last, messages = self._last
        stamps, duration = last.statistics, last.statistics.duration
        return {
            'success': not last.failure, 'path': str(last.path), 'duration': duration,
            'messages': messages, 'joint_states': stamps.messages, **stamps.faults,
            'message': last.failure or (
                f"recorded {stamps.messages} joint states in {duration:.2f} s to '{last.path}'"
                + (f'; {stamps.unreadable} messages on the topic were unreadable'
                   if stamps.unreadable else ''))}

    def _end(self) -> None:
        """Close the bag of the current recording, if there is one, and report the statistics."""
        with self._lock:
            bag = self._bag
            if bag is None:
                return
            bag.take()
            self._bag = None
            self._last = bag, bag.close()
        stamps = bag.statistics
        report = (self.health.error if bag.failure else
                  self.health.warn if stamps.gaps or stamps.out_of_order else self.health.ok)
        report(bag.failure or 'recorded', messages=stamps.messages, **stamps.faults)

    def _loop(self, ending: threading.Event) -> None:
        """Write batches of messages to the bag until the node ends."""
        flushed = last = time.monotonic()
        while not ending.wait(PERIOD):
            kept = {message.data for message in self._keep.take()[0]}
            elapsed, last = time.monotonic() - last, time.monotonic()
            if self._end_abandoned(kept, elapsed):
                continue
            with self._lock:
                bag = self._bag
                if bag is None:
                    continue
                bag.take()
                if time.monotonic() > flushed + FLUSH:
                    flushed = time.monotonic()
                    bag.flush()
            if bag.failure:
                self.node.get_logger().error(bag.failure)
                self._end()
        self._end()

    def _end_abandoned(self, kept: set[str], elapsed: float) -> bool:
        """End a recording that its client no longer renews; return whether one was ended."""
        with self._lock:
            bag, lease = self._bag, self._lease
            if bag is None or lease is None:
                return False
            lease.step(str(bag.path) in kept, 0.0, elapsed)
            if not lease.expired:
                return False
        self._end()
        text = (f"the client that requested '{bag.path}' no longer renews it: the recording was "
                'ended')
        self.node.get_logger().warning(text)
        self.health.warn(text)
        return True


main = main_of(RecorderNode)
