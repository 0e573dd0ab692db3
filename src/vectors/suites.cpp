#include "vectors/test_vector.h"
