#!/usr/bin/env bash
# One motion of a robot on simulated hardware: .github/motion.sh ROBOT SIM
# ROS 2 and the workspace are sourced; SIM is mock or mujoco_control.
set -euo pipefail
robot=$1 sim=$2
data=$(mktemp -d)
export ROS_LOG_DIR=$data/log

python3 -m robot_identification excite "$robot" --duration 5 --time-budget 20 --no-collisions \
    -o "$data/excitation.yaml"
ros2 launch robot_identification identify.launch.py robot:="$robot" sim:="$sim" headless:=true \
    autostart:=true data_directory:="$data" &
launch=$!
trap 'kill -INT $launch; wait $launch || true' EXIT

timeout 120 bash -c 'until ros2 control list_controllers 2>/dev/null \
    | grep -q "^joint_trajectory_controller.* active"; do sleep 1; done'
timeout 60 bash -c 'until ros2 lifecycle get /excitation 2>/dev/null | grep -q active; do sleep 1; done'
timeout 300 ros2 action send_goal /excitation/execute robot_identification_interfaces/action/Excite \
    '{excitation: excitation.yaml, periods: 1, recording: run}' | tee "$data/result.txt"
grep -q SUCCEEDED "$data/result.txt"
test -s "$data/run/metadata.yaml"
