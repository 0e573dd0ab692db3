// Of data that cannot be all zeros or all ones: the one number that is enough, with everything else plain.
#pragma once

#include <optional>

#include "shrink/rules.h"
#include "shrink/trial.h"

namespace opwright::shrink {

// The fewest numbers of one input that are enough, where they were drawn. Nothing: it needs more than that.
std::optional<Subject> with_kept_numbers(const Subject& subject, const Rules& rules, Trials& trials);

// One number wherever it stands, a whole one and as small as it fails, as the first of its input: so it stays when
// dimensions change. Nothing where it matters where it stands.
std::optional<Subject> with_one_number(const Subject& subject, const Rules& rules, Trials& trials);

}  // namespace opwright::shrink
