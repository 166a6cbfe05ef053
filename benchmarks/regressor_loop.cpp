// Copyright 2026 The robot_identification authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.
// Pinocchio's joint torque regressor in a loop: ARM STATES OUT; prints seconds of processor time.
// STATES holds q, v and a, each (samples, joints); OUT the regressors, (samples, joints, 10 joints).

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/regressor.hpp>

#include <ctime>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using Row = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using pinocchio::JointIndex;

JointIndex add(
  pinocchio::Model & model, const std::string & kind, JointIndex parent,
  const pinocchio::SE3 & place, const std::string & name)
{
  if (kind == "RX") {return model.addJoint(parent, pinocchio::JointModelRX(), place, name);}
  if (kind == "RY") {return model.addJoint(parent, pinocchio::JointModelRY(), place, name);}
  if (kind == "RZ") {return model.addJoint(parent, pinocchio::JointModelRZ(), place, name);}
  if (kind == "PX") {return model.addJoint(parent, pinocchio::JointModelPX(), place, name);}
  if (kind == "PY") {return model.addJoint(parent, pinocchio::JointModelPY(), place, name);}
  if (kind == "PZ") {return model.addJoint(parent, pinocchio::JointModelPZ(), place, name);}
  throw std::runtime_error("no loop for joints of the kind " + kind);
}

int main(int, char ** argv)
{
  pinocchio::Model model;
  std::ifstream arm(argv[1]);
  int n;
  arm >> n;
  for (int j = 0; j < n; ++j) {
    std::string kind;
    JointIndex parent;
    Eigen::Matrix<double, 3, 3, Eigen::RowMajor> rotation, inertia;
    Eigen::Vector3d translation, lever;
    double mass;
    arm >> kind >> parent;
    const auto read = [&arm](double * numbers, int count) {
        for (int k = 0; k < count; ++k) {arm >> numbers[k];}
      };
    read(rotation.data(), 9);
    read(translation.data(), 3);
    read(&mass, 1);
    read(lever.data(), 3);
    read(inertia.data(), 9);
    const auto joint = add(
      model, kind, parent, pinocchio::SE3(rotation, translation), "joint" + std::to_string(j));
    model.appendBodyToJoint(joint, pinocchio::Inertia(mass, lever, inertia));
  }
  std::ifstream file(argv[2], std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::size_t>(file.tellg());
  std::vector<double> states(size / sizeof(double));
  file.seekg(0);
  file.read(reinterpret_cast<char *>(states.data()), size);
  const int samples = states.size() / (3 * n), columns = 10 * n;
  std::vector<double> out(std::size_t(samples) * n * columns, 1.0);
  pinocchio::Data data(model);
  const Eigen::Map<Row> all(states.data(), 3 * samples, n);
  const auto began = std::clock();
  for (int k = 0; k < samples; ++k) {
    pinocchio::computeJointTorqueRegressor(
      model, data, all.row(k).transpose(), all.row(samples + k).transpose(),
      all.row(2 * samples + k).transpose());
    Eigen::Map<Row>(out.data() + std::size_t(k) * n * columns, n, columns) =
      data.jointTorqueRegressor;
  }
  std::cout << double(std::clock() - began) / CLOCKS_PER_SEC << std::endl;
  std::ofstream(argv[3], std::ios::binary).write(
    reinterpret_cast<const char *>(out.data()), out.size() * sizeof(double));
}
