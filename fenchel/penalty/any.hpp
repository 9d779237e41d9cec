// The list of penalties, and of the constraints that may take their place: a new one is one more header and one more entry here.
#pragma once

#include <variant>

#include "fenchel/penalty/elastic_net.hpp"
#include "fenchel/penalty/elastic_net_ball.hpp"
#include "fenchel/penalty/l1.hpp"
#include "fenchel/penalty/l1_ball.hpp"
#include "fenchel/penalty/l2.hpp"
#include "fenchel/penalty/l2_ball.hpp"
#include "fenchel/penalty/none.hpp"
#include "fenchel/penalty/simplex.hpp"

namespace fenchel::penalty {

using Any = std::variant<L2, L1, ElasticNet, None, L1Ball, L2Ball, ElasticNetBall, Simplex>;

}  // namespace fenchel::penalty
