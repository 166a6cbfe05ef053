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

// Pinocchio's own loop over joint torque regressors, one thread: processor time a sample [us].
//
//     pinocchio_loop ARM.urdf SAMPLES

#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>

int main(int argc, char ** argv)
{
  if (argc != 3) {
    std::cerr << "usage: pinocchio_loop ARM.urdf SAMPLES\n";
    return 2;
  }
  pinocchio::Model model;
  pinocchio::urdf::buildModel(argv[1], model);
  pinocchio::Data data(model);
  const int count = std::atoi(argv[2]);
  std::srand(0);
  const Eigen::MatrixXd q = Eigen::MatrixXd::Random(model.nq, count);
  const Eigen::MatrixXd v = Eigen::MatrixXd::Random(model.nv, count);
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(model.nv, count);
  Eigen::MatrixXd out = Eigen::MatrixXd::Ones(model.nv * 10 * model.nv, count);
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t began = std::clock();
    for (int k = 0; k < count; ++k) {
      pinocchio::computeJointTorqueRegressor(model, data, q.col(k), v.col(k), a.col(k));
      Eigen::Map<Eigen::MatrixXd>(out.col(k).data(), model.nv, 10 * model.nv) =
        data.jointTorqueRegressor;
    }
    best = std::min(best, double(std::clock() - began) / CLOCKS_PER_SEC / count * 1e6);
  }
  std::cout << best << std::endl;
  return out.allFinite() ? 0 : 1;
}
