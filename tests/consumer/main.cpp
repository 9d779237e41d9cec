// What a stranger's program looks like: headers and library come from the installed tree alone.
#include <cstdio>

#include "fenchel/base/version.hpp"
#include "fenchel/data/svmlight.hpp"
#include "fenchel/registry/fit.hpp"

int main() {
  auto source = fenchel::data::Source::of_text("+1 1:2\n-1 2:1\n-1 1:-1 2:3\n+1 1:1\n", "example");
  const fenchel::data::Dataset data = fenchel::data::read_svmlight(source);
  const fenchel::registry::Plan plan(data, fenchel::registry::Settings{});
  const fenchel::registry::Fit fit = fenchel::registry::fit(plan, {.tolerance = 1e-6});
  std::printf("fenchel %s: primal %g, gap %g\n", fenchel::version.data(), fit.total.primal, fit.total.gap);
  return fit.total.relative_gap() <= 1e-6 ? 0 : 1;
}
