#include "cli/ascent_options.hpp"

#include "cli/arguments.hpp"
#include "cli/named_values.hpp"

namespace fenchel::cli {
namespace {

constexpr std::string_view group = "Dual coordinate ascent";

using kernel::StepOption;
using solver::Iterate;
using solver::Sampling;

constexpr Names<StepOption, 10> steps{{{"1", StepOption::exact},
                                       {"2", StepOption::segment},
                                       {"3", StepOption::bound},
                                       {"4", StepOption::common_bound},
                                       {"5", StepOption::constant},
                                       {"I", StepOption::exact},
                                       {"II", StepOption::segment},
                                       {"III", StepOption::bound},
                                       {"IV", StepOption::common_bound},
                                       {"V", StepOption::constant}}};
constexpr Names<Sampling, 3> samplings{
    {{"permutation", Sampling::permutation}, {"uniform", Sampling::uniform}, {"importance", Sampling::importance}}};
constexpr Names<Iterate, 4> iterates{{{"auto", Iterate::automatic},
                                      {"last", Iterate::last},
                                      {"averaged", Iterate::averaged},
                                      {"random", Iterate::random}}};
constexpr Names<bool, 2> momenta{{{"auto", true}, {"off", false}}};
constexpr Names<bool, 2> accelerations{{{"practical", false}, {"theory", true}}};

}  // namespace

void AscentOptions::add(CLI::App& app) {
  app_ = &app;
  const auto grouped = [](CLI::Option* option) { option->group(std::string(group)); };
  grouped(add_text(app, "--sdca-option", step_, "1|2|3|4|5",
                   "how a step of sdca or accelerated-sdca changes alpha_i (also I to V). With z = x_i.w + b, q = "
                   "c_i ||x_i||^2 / "
                   "(lambda sum c), u = -phi'(z), d = u - alpha_i and 1/gamma the smoothness of phi: 1 maximizes "
                   "-phi*(-t) - z (t "
                   "- alpha_i) - (q/2)(t - alpha_i)^2 over t; 2 the same over t between alpha_i and u; 3 moves by "
                   "s d, s = min(1, "
                   "[phi(z) + phi*(-alpha_i) + z alpha_i + (gamma/2) d^2] / [d^2 (gamma + q)]); 4 as 3 with the "
                   "largest q of all "
                   "rows; 5 moves by s d, s = gamma / (gamma + largest q), for smooth losses (default 1)"));
  grouped(add_text(app, "--sampling", sampling_, "permutation|uniform|importance",
                   "the rows of a sweep: each once in a fresh random order; independent draws, all rows alike; or "
                   "independent draws with probabilities (q_i + mean q) / sum (default permutation)"));
  grouped(
      add_text(app, "--iterate", iterate_, "auto|last|averaged|random",
               "what sdca certifies and returns: its last alpha with the better of its last w and, for a loss "
               "with corners and an l2 part on every feature, a mean m of late ones, m <- m + 9/(t + 8) (w - m) at "
               "the t-th, or the multiple of it with the least P; its last alpha and w; their "
               "averages over the later half of its sweeps; or those after a random one of these sweeps "
               "(default auto)"));
  grouped(add_number(
      app, "--smoothing", smoothing_, positive,
      "work on the smooth loss phi_G whose conjugate is phi*(-t) + (G/2) t^2, phi - (G/2) max t^2 <= "
      "phi_G <= phi; the gap stays that of phi, and cannot fall much below what the smoothing costs, at "
      "most G/2 max t^2; of losses of all classes for multiclass-hinge only, with ||b||^2 for t^2 (default: none; "
      "levels that fall for agm-inf and agm-1)"));
  grouped(
      add_text(app, "--momentum", momentum_, "auto|off",
               "start sweeps of sdca from alpha + t d, d the way between the last two starts and t where the dual "
               "objective is largest along it; rows that would leave the domain of phi* stay. auto: under a plain "
               "l2 penalty, with option 1 and permutations, for losses with a phi* of parabolas, which all but "
               "logistic have. off: the method of the paper (default auto)"));
  grouped(add_text(
      app, "--acceleration", acceleration_, "practical|theory",
      "of accelerated-sdca, which minimizes P(w) + (kappa/2) ||w - y||^2 again and again and extrapolates "
      "y = w + beta (w - w_before). practical: kappa such that a few sweeps bring the subproblem's gap "
      "below kappa ||w - y||^2, beta as in fista with restarts. theory: kappa = R^2/(gamma n) - lambda, mu "
      "= lambda/2, eta = sqrt(mu / (mu + kappa)), beta = (1 - eta)/(1 + eta), subproblems to a gap of eta "
      "xi / (2 (1 + 1/eta^2)) with xi = (1 - eta/2)^t xi_1, xi_1 = (1 + 1/eta^2) P(0); losses that are "
      "not smooth are smoothed, less and less (default practical)"));
  grouped(add_count(app, "--blocks", blocks_, 1,
                    "blocks of rows that are swept side by side and merged with a step that cannot lower the dual "
                    "objective; a part of the method, whatever --threads is (default: 1 or 2, by the size of the "
                    "data; 1 for losses of all classes with corners)"));
}

registry::AscentSettings AscentOptions::resolve() const {
  registry::AscentSettings settings{.step = value_of("--sdca-option", step_, steps),
                                    .sampling = value_of("--sampling", sampling_, samplings),
                                    .iterate = value_of("--iterate", iterate_, iterates),
                                    .smoothing = smoothing_,
                                    .momentum = value_of("--momentum", momentum_, momenta),
                                    .theory = value_of("--acceleration", acceleration_, accelerations)};
  if (settings.iterate == Iterate::automatic) settings.iterate.reset();  // as if nothing had been said
  if (settings.momentum == true) settings.momentum.reset();
  if (given(*app_, "--blocks")) settings.blocks = blocks_;
  return settings;
}

std::string_view name(solver::Sampling sampling) { return name_of(sampling, samplings); }
std::string_view name(solver::Iterate iterate) { return name_of(iterate, iterates); }

}  // namespace fenchel::cli
