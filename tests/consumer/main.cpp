// What a stranger's program looks like: headers and library come from the installed tree alone.
#include <cstdio>

#include "fenchel/base/version.hpp"
#include "fenchel/loss/hinge.hpp"

int main() {
  const double value = fenchel::loss::Hinge{}.value(+1.0, 0.25);
  std::printf("fenchel %s: hinge at margin 0.25 is %g\n", fenchel::version.data(), value);
  return value == 0.75 ? 0 : 1;
}
