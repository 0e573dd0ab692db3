// Failures that need what ran before them: the shortest sequence of cases after which the last one fails.
#pragma once

#include <vector>

#include "shrink/trial.h"

namespace opwright::shrink {

// `subject` fails after all of `subject.before`. Halves, then quarters, … of it are left out as long as it fails.
Subject shortest_sequence(Subject subject, Trials& trials);

}  // namespace opwright::shrink
