// machine_info of a trace: what it says of the board, and what follows from the board's name.
//
// Our recorder writes what it saw: the name of a mock board (`mock_board`), or what the library calls the hardware
// (`cluster_type`, `arch`). The existing tooling wants `board_type`, `device_series` and `card_count`, which follow
// from these by the table of boards. The store holds the short form; whoever shows or writes a machine takes the whole
// one, so that old stores and traces have it too, and a file that we wrote is known again when it is imported.
#pragma once

#include <string>
#include <string_view>

namespace opwright {

// The text with board_type, device_series, card_count (and device_count where nothing is said of a mesh), as far as its
// mock_board, cluster_type or arch tell them. What the text says itself stays; other texts come back as they are.
std::string whole_machine(std::string_view machine_json);

// The text without what whole_machine() would add to it again.
std::string short_machine(std::string_view machine_json);

}  // namespace opwright
