// Times every projection on random points of growing size, beside one pass that reads all its inputs and writes the result:
//     projection_probe --sizes 1e3,1e4,1e5 --threads 2 [--rounds 5]
// Prints a line of JSON a projection and size: the least seconds of either, measured in turns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <tbb/global_control.h>
#include <nlohmann/json.hpp>

#include "bench/probe.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/projection/balls.hpp"
#include "fenchel/projection/box_hyperplane.hpp"
#include "fenchel/projection/capped_simplex.hpp"
#include "fenchel/projection/kl_capped_simplex.hpp"

namespace {

using namespace fenchel;
using Vector = std::vector<double>;

template <class Draw>
Vector drawn(std::size_t size, std::uint64_t seed, Draw&& draw) {
  Random random(seed);
  Vector list(size);
  for (double& x : list) x = draw(random);
  return list;
}

struct Task {
  std::string name;
  std::vector<const Vector*> inputs;
  std::function<void(Vector& result)> project;
};

template <std::size_t Count>
void read_and_write(const std::vector<const Vector*>& inputs, Vector& result) {
  const double* from[Count];
  for (std::size_t k = 0; k < Count; ++k) from[k] = inputs[k]->data();
  for_each_block(result.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < Count; ++k) sum += from[k][i];
      result[i] = sum;
    }
  });
}

void one_pass(const Task& task, Vector& result) {
  switch (task.inputs.size()) {
    case 1: return read_and_write<1>(task.inputs, result);
    case 2: return read_and_write<2>(task.inputs, result);
    default: return read_and_write<5>(task.inputs, result);
  }
}

template <class Work>
double seconds_of(std::size_t repeats, Work&& work) {
  const Stopwatch clock;
  for (std::size_t k = 0; k < repeats; ++k) work();
  return clock.seconds() / static_cast<double>(repeats);
}

void measure(const Task& task, std::size_t rounds) {
  Vector result(task.inputs[0]->size());
  const std::size_t repeats = std::max<std::size_t>(1, 200000 / result.size());  // so that a clock can tell
  double projection = INFINITY, pass = INFINITY;
  for (std::size_t k = 0; k < rounds; ++k) {
    pass = std::min(pass, seconds_of(repeats, [&] { one_pass(task, result); }));
    projection = std::min(projection, seconds_of(repeats, [&] { task.project(result); }));
  }
  const nlohmann::ordered_json line{
      {"projection", task.name}, {"size", result.size()}, {"seconds", projection}, {"pass_seconds", pass}};
  bench::print_line(line.dump());
}

void measure_all(std::size_t n, std::size_t rounds) {
  const auto size = static_cast<double>(n);
  const Vector centre = drawn(n, 1, [](Random& random) { return 0.5 + random.normal(); });
  const Vector signs = drawn(n, 2, [](Random& random) { return random.below(2) == 0 ? -1.0 : 1.0; });
  const Vector weight = drawn(n, 3, [](Random& random) { return 0.5 + random.uniform(); });
  const Vector low = drawn(n, 4, [](Random& random) { return -random.uniform(); });
  const Vector high = drawn(n, 5, [](Random& random) { return random.uniform(); });
  const Vector normal = drawn(n, 6, [](Random& random) { return random.normal(); });
  const projection::BoxHyperplane unit{.centre = centre, .weight = {}, .low = {}, .high = {}, .normal = signs};
  const projection::BoxHyperplane general{
      .centre = centre, .weight = weight, .low = low, .high = high, .normal = normal};
  const std::vector<Task> tasks{
      {"box and hyperplane: 0/1, s = ±1", {&centre, &signs}, [&](Vector& r) { project_box_hyperplane(unit, r); }},
      {"box and hyperplane: general",
       {&centre, &weight, &low, &high, &normal},
       [&](Vector& r) { project_box_hyperplane(general, r); }},
      {"simplex", {&centre}, [&](Vector& r) { projection::project_simplex(centre, 1.0, r); }},
      {"simplex, radius n/10", {&centre}, [&](Vector& r) { projection::project_simplex(centre, 0.1 * size, r); }},
      {"l1 ball", {&centre}, [&](Vector& r) { projection::project_l1_ball(centre, 0.1 * size, r); }},
      {"l2 ball", {&centre}, [&](Vector& r) { projection::project_l2_ball(centre, 1.0, r); }},
      {"elastic-net ball",
       {&centre},
       [&](Vector& r) { projection::project_elastic_net_ball(centre, 0.5, 0.1 * size, r); }},
      {"capped simplex in KL",
       {&centre},
       [&](Vector& r) { projection::project_kl_capped_simplex(centre, 2.0 / size, r); }},
      {"b ≥ 0, Σb ≤ 1", {&centre}, [&](Vector& r) {
         projection::apply_threshold(centre, projection::projection_threshold(centre), r);
       }}};
  for (const Task& task : tasks) measure(task, rounds);
}

}  // namespace

int main(int count, char** words) {
  std::string sizes = "1e3,1e4,1e5";
  std::size_t rounds = 5, threads = 2;
  for (int k = 1; k + 1 < count; k += 2) {
    if (std::strcmp(words[k], "--sizes") == 0) sizes = words[k + 1];
    if (std::strcmp(words[k], "--rounds") == 0) rounds = std::stoul(words[k + 1]);
    if (std::strcmp(words[k], "--threads") == 0) threads = std::stoul(words[k + 1]);
  }
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
  for (const double size : bench::numbers_in(sizes)) measure_all(static_cast<std::size_t>(size), rounds);
  return 0;
}
