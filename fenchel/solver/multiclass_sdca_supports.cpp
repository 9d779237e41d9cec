// The sweeps of multiclass dual ascent over the supports of rows, by two threads where rows are long or have no class in common.
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "fenchel/kernel/support_sweep.hpp"
#include "fenchel/solver/class_rounds.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"

namespace fenchel::solver {
namespace {

// Sweeps over the support after one over everything: how many at most, and the part of its mean gain from a row with which a row
// still takes part. Parts of 0.02 to 0.05 take the least time on 20news-tfidf and sector.scale, those below 0.01 up to a half more. Where
// every row has an entry for every feature, visits to a few classes are far shorter than to all: 0.001 to 0.003 take an eighth less
// than 0.05 on letter.scale, and as much on usps.
constexpr int most_support_sweeps = 50;
constexpr double part_of_mean_gain = 0.05;
constexpr double part_without_gaps = 0.001;
// Sides of fewer rows than some dozens are not worth waiting for one another.
constexpr double rows_for_rounds = 600.0;
// A second thread's start is worth it for so many products with weights: sweeps over supports are several.
constexpr double least_products_in_supports = 1 << 15;
// Conjugate gradients go up the supports after these first epochs, while sweeps still find the supports faster; with 2 or 8 instead
// letter.scale takes up to a fifth longer to 1e-3.
constexpr std::uint64_t epochs_before_ascent = 12;
// They leave gradients uneven among rows: so many sweeps follow, as letter.scale takes a fifth more passes to 1e-5 without.
constexpr int sweeps_after_ascent = 2;
// What they may take against the sweeps before them: 1 is no better than none on usps, 2 is.
constexpr double work_of_ascent = 2.0;
// They go through the classes of a support one by one. In larger weights, out of a core's own cache, every one of these is a line of
// memory of its own, and the same steps take twice as long as the sweeps that they replace (sector.scale).
constexpr std::size_t most_weights_for_ascent = 1 << 16;

// Sweeps over supports, each time over those rows that gained enough the time before.
template <class Rows, class Loss>
class SupportSweeps {
 public:
  SupportSweeps(const Rows& rows, const Loss& loss, kernel::MulticlassSweepState& state,
                kernel::ClassSupports& supports, Random& random)
      : weights_(state),
        sweep_(rows, loss, weights_, state, supports),
        random_(random),
        order_(supports.rows.size()) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  }
  // Returns the work.
  double run(int times, double least_gain) {
    double work = 0.0;
    for (int t = 0; t < times && !order_.empty(); ++t) {
      random_.shuffle(std::span(order_));
      work += sweep_.run(order_, least_gain);
    }
    return work;
  }

 private:
  kernel::WeightsByFeature weights_;
  kernel::SupportSweep<Rows, Loss, kernel::WeightsByFeature> sweep_;
  Random& random_;
  std::vector<std::uint32_t> order_;  // of places in the supports
};

// The same with weights that lie class by class, in rounds on two sides (class_rounds.hpp) while there are enough rows.
template <class Rows, class Loss>
class SupportRounds {
 public:
  SupportRounds(const Rows& rows, const Loss& loss, kernel::MulticlassSweepState& state,
                kernel::ClassSupports& supports, Random& random)
      : weights_(state),
        sides_{Side(rows, loss, weights_, state, supports, random),
               Side(rows, loss, weights_, state, supports, random)},
        places_(class_rounds(supports, state.classes)) {
    places_.rest.reserve(supports.rows.size());
  }

  // One thread does what both sides do, in an order in which they might.
  void run(int times, double least_gain) {
    while (times > 0 && left(0) + left(1) >= rows_for_rounds) {
      for (std::size_t round = 0; round < places_.rounds.size(); ++round) {
        for (const std::size_t side : {0U, 1U}) visit(side, round, least_gain);
      }
      visit_rest(least_gain);
      --times;
    }
    finish(times, least_gain);
  }
  // What one of two threads does.
  void run(int times, double least_gain, Duo& duo, std::size_t side) {
    double together = left(0) + left(1);
    duo.exchange(side);  // from here on each side's lists are its own
    while (times > 0 && together >= rows_for_rounds) {
      for (std::size_t round = 0; round < places_.rounds.size(); ++round) {
        visit(side, round, least_gain);
        duo.exchange(side);
      }
      if (side == 0) visit_rest(least_gain);
      const double own = left(side);
      duo.outgoing(side).front() = own;
      together = own + duo.exchange(side, Duo::Wait::planned).front();
      --times;
    }
    if (side == 0) finish(times, least_gain);
  }
  [[nodiscard]] double work() const { return sides_[0].work + sides_[1].work; }

 private:
  struct alignas(128) Side {
    Side(const Rows& rows, const Loss& loss, kernel::WeightsByClass& weights, kernel::MulticlassSweepState& state,
         kernel::ClassSupports& supports, Random& seeds)
        : sweep(rows, loss, weights, state, supports),
          random(seeds.below(std::numeric_limits<std::uint64_t>::max())) {}
    void visit(ClassRounds::Places& places, double least_gain) {
      random.shuffle(std::span(places));
      work += sweep.run(places, least_gain);
    }
    kernel::SupportSweep<Rows, Loss, kernel::WeightsByClass> sweep;
    Random random;
    double work = 0.0;
  };
  void visit(std::size_t side, std::size_t round, double least_gain) {
    sides_[side].visit(places_.rounds[round][side], least_gain);
  }
  void visit_rest(double least_gain) { sides_[0].visit(places_.rest, least_gain); }
  // Without rounds.
  void finish(int times, double least_gain) {
    for (const auto& sides : places_.rounds) {
      for (const ClassRounds::Places& places : sides)
        places_.rest.insert(places_.rest.end(), places.begin(), places.end());
    }
    for (; times > 0 && !places_.rest.empty(); --times) visit_rest(least_gain);
  }
  // Places to visit.
  [[nodiscard]] double left(std::size_t side) const {
    std::size_t count = side == 0 ? places_.rest.size() : 0;
    for (const auto& sides : places_.rounds) count += sides[side].size();
    return static_cast<double>(count);
  }

  kernel::WeightsByClass weights_;
  std::array<Side, 2> sides_;
  ClassRounds places_;
};

}  // namespace

void MulticlassSdca::sweep_support(std::span<const std::uint32_t> order, kernel::MulticlassSweepReport& report) {
  const double least =
      (gapless_ ? part_without_gaps : part_of_mean_gain) * report.gain / static_cast<double>(order.size());
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t i : order) {
    if (gains_[i] >= least) rows.push_back(i);
  }
  report.work += sweep_supports(rows, most_support_sweeps, least);
}

double MulticlassSdca::sweep_supports(std::span<const std::uint32_t> list, int times, double least_gain) {
  kernel::MulticlassSweepState state = state_of(list);
  supports_.gather(state, list);
  Duo* const duo =
      duo_for(static_cast<double>(supports_.entries.size()) * entries_a_row(), least_products_in_supports);
  const double work = std::visit(
      [&]<class Rows, class Loss>(const Rows& rows, const Loss& loss) {
        if (gapless_) {
          SupportRounds sweeps(rows, loss, state, supports_, random_);
          if (duo != nullptr && static_cast<double>(supports_.rows.size()) >= rows_for_rounds) {
            duo->run([&](std::size_t side) { sweeps.run(times, least_gain, *duo, side); });
          } else {
            sweeps.run(times, least_gain);
          }
          return sweeps.work();
        }
        state.halves.duo = duo;
        if (duo == nullptr) return SupportSweeps(rows, loss, state, supports_, random_).run(times, least_gain);
        // Both go through the same, each with supports and random numbers of its own: only the weights are divided.
        kernel::FollowingState follower(state);
        kernel::ClassSupports followed = supports_;
        Random random = random_;
        SupportSweeps leading(rows, loss, state, supports_, random_);
        SupportSweeps following(rows, loss, follower.state, followed, random);
        std::array<double, 2> found{};
        duo->run([&](std::size_t side) { found[side] = (side == 0 ? leading : following).run(times, least_gain); });
        return found.front();
      },
      problem_.design.matrix, problem_.loss);
  supports_.scatter(state);
  return work;
}

void MulticlassSdca::climb_supports(kernel::MulticlassSweepReport& report) {
  const bool hinge = plain_ && center_.empty() && std::holds_alternative<loss::MulticlassHinge>(problem_.loss);
  const bool small = stored_.size() <= most_weights_for_ascent && visits_.windows().size() == 1;
  if (!hinge || !small || !report.changed || epoch_ <= epochs_before_ascent) return;
  report.work += ascent_.climb({.problem = problem_,
                                .shares = shares_,
                                .curvatures = curvatures_,
                                .inverse_l2 = inverse_l2_.front(),
                                .stride = stride_},
                               beta_, stored_, work_of_ascent * report.work);
  if (ascent_.rows().empty()) return;
  report.work += sweep_supports(ascent_.rows(), sweeps_after_ascent, 0.0);
}

}  // namespace fenchel::solver
