#include <oneapi/tbb/parallel_for.h>  // the stand-in next door
