# ROS 2 with this package built: docker build --build-arg ROS_DISTRO=jazzy --tag robot_identification .
# The nodes need the host's network to hear the robot: docker run --rm -it --net=host robot_identification
ARG ROS_DISTRO=jazzy
FROM ros:${ROS_DISTRO}-ros-base
# 1: with mujoco_ros2_control, for sim:=mujoco_control
ARG WITH_MUJOCO=
ENV DEBIAN_FRONTEND=noninteractive PIP_BREAK_SYSTEM_PACKAGES=1
WORKDIR /workspace/src/robot_identification
COPY package.xml ./
COPY interfaces/package.xml interfaces/
# what has a key of rosdep comes from the distribution, the rest of setup.py from PyPI
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-pip \
        "ros-$ROS_DISTRO-ros2controlcli" \
    && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths . interfaces --ignore-src --yes \
    && rm -rf /var/lib/apt/lists/*
# The distributions' NumPy, SciPy and Pinocchio are compiled for NumPy 1; package.xml names what has no
# key of rosdep. launch_testing does not know pytest 9.
RUN pip install --no-cache-dir 'numpy<2' 'numba>=0.57' clarabel threadpoolctl 'mcap>=1.1' \
        'setuptools>=61,<80' 'pytest>=7,<9' pytest-xdist 'hypothesis>=6' 'cma>=3' 'casadi>=3.7' \
    && pip install --no-cache-dir --no-deps example-robot-data \
    && if [ -n "$WITH_MUJOCO" ]; then pip install --no-cache-dir 'mujoco>=3.3'; fi
COPY . .
RUN . "/opt/ros/$ROS_DISTRO/setup.sh" \
    && colcon --log-base /workspace/log build --build-base /workspace/build \
        --install-base /workspace/install --base-paths . interfaces
# the image's entry point sources the distribution; this adds the workspace
RUN sed -i 's#^exec#source /workspace/install/setup.bash\nexec#' /ros_entrypoint.sh \
    && echo 'source /workspace/install/setup.bash' >> /root/.bashrc
CMD ["bash"]
