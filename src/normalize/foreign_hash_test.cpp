// Hashes of our fixtures, computed by tests/fixtures/maker, which shares no code with the program.
#include "normalize/foreign_hash.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_folder.h"

namespace opwright::normalize {
namespace {

std::string hash(Generation generation, std::string_view arguments, std::string_view machine = "null") {
  json::Document document, machine_document;
  return config_hash(generation, "ttnn.add", **document.parse(arguments), *machine_document.parse(machine));
}

constexpr Generation kAll[] = {Generation::kG0, Generation::kG1, Generation::kG2,
                               Generation::kG3, Generation::kG4, Generation::kG5};

// The first generation from which on the two arguments have one hash; 6 when they never have.
int equal_since(std::string_view a, std::string_view b) {
  int since = kGenerations;
  for (int g = kGenerations; g-- > 0 && hash(kAll[g], a) == hash(kAll[g], b);) since = g;
  return since;
}

TEST(ForeignHash, KnownHashes) {  // sha256 of the text that Python makes
  EXPECT_EQ(hash(Generation::kG0, "{}"), "ceeb18f6d1882f1ee5496d551391bcfd60a46e316a7bf233f57e74998b5a4112");
  EXPECT_EQ(hash(Generation::kG5, R"({"b": 1e5, "a": "é"})",
                 R"({"board_type": "Wormhole", "device_series": ["n300", "x"], "mesh_device_shape": "[1, 2]"})"),
            "f370bceeea317704920f140955675615385faa143f9b22caf315cd2fc1e06d99");
  EXPECT_EQ(hash(Generation::kG1, "{}", R"({"board_type": "W", "device_series": "n", "card_count": 4,
      "tensor_placements": [{"mesh_device_shape": "[4, 8]", "placement": "[PlacementReplicate, PlacementShard(3)]"}]})"),
            "b9c6c3ef882cb738b0a14298619cd4af15b0e8e65edc10adff22c733a26f6806");
}

TEST(ForeignHash, RulesBeginWithTheirGeneration) {
  EXPECT_EQ(equal_since(R"({"a": {"hash": 1}})", R"({"a": {"hash": 2}})"), 1);
  EXPECT_EQ(equal_since(R"({"a": {"hash": true}})", R"({"a": {}})"), 1);
  EXPECT_EQ(equal_since(R"({"a": {"hash": "x"}})", R"({"a": {}})"), 6);  // only numbers
  EXPECT_EQ(equal_since(R"({"shard_spec": null})", R"({"shard_spec": "None"})"), 1);
  EXPECT_EQ(equal_since(R"({"a": ["<x at 0x12>"]})", R"({"a": ["<x>"]})"), 1);
  EXPECT_EQ(equal_since(R"({"a": -Infinity})", R"({"a": "-inf"})"), 2);
  EXPECT_EQ(equal_since(R"({"a": NaN})", R"({"a": "nan"})"), 2);
  EXPECT_EQ(equal_since(R"j({"a": {"type": "Shape", "value": "Shape([1, 32])"}})j", R"({"a": [1, 32]})"), 3);
  EXPECT_EQ(equal_since(R"j({"a": {"type": "Shape", "value": "Shape([1, -1])"}})j", R"({"a": [1, -1]})"), 6);
  EXPECT_EQ(equal_since(R"j({"a": [{"type": "Shape", "value": "Shape([1])"}]})j", R"({"a": [[1]]})"),
            6);  // not in lists
  EXPECT_EQ(equal_since(R"({"allowed_worker_cores": null})", "{}"), 4);
  EXPECT_EQ(equal_since(R"({"allowed_worker_cores": 1})", "{}"), 6);
  EXPECT_EQ(equal_since(R"({"b": 1, "a": 1.50})", R"({"a": 1.5, "b": 1})"), 0);
  EXPECT_EQ(equal_since(R"({"a": 1})", R"({"a": 1.0})"), 6);
}

TEST(ForeignHash, OfTheMachineOnlyHardwareAndMeshCount) {
  const auto g4 = [](std::string_view machine) { return hash(Generation::kG4, "{}", machine); };
  const auto g5 = [](std::string_view machine) { return hash(Generation::kG5, "{}", machine); };
  const std::string plain = g4(R"({"board_type": "W", "device_series": "n300", "card_count": 1})");
  EXPECT_EQ(g4(R"({"board_type": "W", "device_series": ["n300", "n150"], "tt_kmd": "2", "device_count": 8})"), plain);
  EXPECT_NE(g4(R"({"board_type": "W", "device_series": "n300", "card_count": 2})"), plain);
  EXPECT_EQ(g4("null"), g4(R"({"device_series": "n300"})"));  // no board, no hardware
  EXPECT_EQ(g4(R"({"board_type": "W", "mesh_device_shape": [1, 2]})"), g4(R"({"board_type": "W"})"));
  EXPECT_NE(g5(R"({"board_type": "W", "mesh_device_shape": [1, 2]})"), g5(R"({"board_type": "W"})"));
  EXPECT_EQ(g5(R"({"board_type": "W", "mesh_device_shape": "[1, 2]"})"),
            g5(R"({"board_type": "W", "mesh_device_shape": [1, 2]})"));
  EXPECT_NE(g5(R"({"board_type": "W", "device_count": 2})"), g5(R"({"board_type": "W"})"));
  EXPECT_EQ(g5(R"({"board_type": "W", "device_count": 0})"), g5(R"({"board_type": "W"})"));
}

TEST(ForeignHash, TheOperationCounts) {
  json::Document document;
  const json::Node& arguments = **document.parse("{}");
  EXPECT_NE(config_hash(Generation::kG5, "ttnn.add", arguments, nullptr),
            config_hash(Generation::kG5, "ttnn.sub", arguments, nullptr));
}

TEST(ForeignHash, NamesOfGenerations) {
  EXPECT_EQ(to_text(std::bitset<kGenerations>()), "none");
  EXPECT_EQ(to_text(std::bitset<kGenerations>(0b000110)), "G1/G2");
  EXPECT_EQ(name_of(Generation::kG5), "G5");
}

TEST(ForeignHash, Era1SignatureIsTheMd5OfPythonsRepr) {
  json::Document document;
  EXPECT_EQ(era1_signature(**document.parse(R"([{"arg0": "1"}, {"arg1": {"Tensor": null}}, {"arg2": true}])")),
            "f1a653d2da1c6807a6c417e70e7fc6fe");
}

// Every stored hash of every fixture, against the generations that tests/fixtures/expected.json says explain it.
TEST(ForeignHash, EveryHashOfTheFixtures) {
  json::Document expected_document;
  const auto expected = expected_document.parse(fixture("expected.json"));
  ASSERT_TRUE(expected);
  std::size_t compared = 0, restored = 0;
  for (std::uint32_t i = 0; i < (*expected)->count; ++i) {
    const auto& [name, facts] = (*expected)->fields[i];
    const json::Node* hashes = facts.find("hashes");
    if (hashes == nullptr) continue;
    json::Document document;
    const auto master = document.parse(fixture(name));
    ASSERT_TRUE(master) << name;
    const json::Node& operations = *(*master)->find("operations");
    for (std::uint32_t o = 0; o < operations.count; ++o) {
      for (const json::Node& configuration : *operations.fields[o].value.find("configurations")) {
        const json::Node* id = configuration.find("config_id");
        const auto line = std::find_if(hashes->begin(), hashes->end(),
                                       [&](const json::Node& h) { return h.find("config_id")->text == id->text; });
        ASSERT_NE(line, hashes->end()) << name << " " << id->text;
        std::bitset<kGenerations> generations;
        for (const json::Node& match : *line->find("matches")) {
          generations.set(static_cast<std::size_t>(match.text[1] - '0'));
          restored += match.text.ends_with('*') ? 1 : 0;
        }
        const json::Node* machine = configuration.find("traced_machine_info");
        if (machine == nullptr) machine = configuration.find("executions")->items[0].find("machine_info");
        const std::string_view stored = configuration.string_field("config_hash").value_or("");
        EXPECT_EQ(
            to_text(matching_generations(stored, operations.fields[o].key, *configuration.find("arguments"), machine)),
            to_text(generations))
            << name << " " << id->text;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60u);
  EXPECT_GT(restored, 2u);
}

}  // namespace
}  // namespace opwright::normalize
