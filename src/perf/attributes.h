// The ATTRIBUTES cell: the text of a Python dict whose commas became semicolons. {'dim': '3'; 'topology':
// 'Topology::Linear'}
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opwright::perf {

// Names and values in the order of the cell; views into it. Empty when the cell is no such text.
std::vector<std::pair<std::string_view, std::string_view>> attributes_of(std::string_view cell);
// The value of one; "" when it is not there.
std::string_view attribute(std::string_view cell, std::string_view name);
// Without what differs from call to call of one operation (addresses, semaphores, positions in a cache, queues): two
// iterations of a decode loop write to another place of the cache, and are the same operation.
std::string stable_attributes(std::string_view cell);

}  // namespace opwright::perf
