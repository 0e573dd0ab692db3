// Short names for where a configuration comes from: the model behind a test, the machine behind machine_info.
#pragma once

#include <string>
#include <string_view>

namespace opwright::normalize {

struct SourceName {
  std::string path;      // the source without [HF_MODEL:…] and [LLAMA_DIR:…]
  std::string hf_model;  // "meta-llama/Llama-3.2-1B" or ""
  std::string model;     // "llama-3.2-1b", "deepseek_v3"; "unknown" when nothing names one
};
SourceName name_source(std::string_view source);

// {"board_type": "Wormhole", "device_series": "n300", "card_count": 1, …} -> "Wormhole n300 x1"
std::string name_machine(std::string_view machine_json);

}  // namespace opwright::normalize
