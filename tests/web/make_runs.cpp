// Writes a store with the results of a made-up run, for tests of `opwright report --html`.
//   make_runs STORE UID KIND [COUNT]     KIND: mixed, later, empty, failed, accepted, against, hostile, endless
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "store/store.h"

namespace {

using opwright::Blame;
using opwright::CaseRecord;
using opwright::Outcome;
using opwright::RunRecord;
using Dice = std::mt19937_64;

template <class T>
const T& any_of(const std::vector<T>& from, Dice& dice) {
  return from[dice() % from.size()];
}
double share(Dice& dice) { return static_cast<double>(dice() >> 11) * 0x1p-53; }

const std::vector<std::string> kOps{"ttnn.add",
                                    "ttnn.multiply",
                                    "ttnn.matmul",
                                    "ttnn.linear",
                                    "ttnn.softmax",
                                    "ttnn.layer_norm",
                                    "ttnn.rms_norm",
                                    "ttnn.conv2d",
                                    "ttnn.max_pool2d",
                                    "ttnn.embedding",
                                    "ttnn.concat",
                                    "ttnn.reshape",
                                    "ttnn.transpose",
                                    "ttnn.permute",
                                    "ttnn.sigmoid",
                                    "ttnn.gelu",
                                    "ttnn.silu",
                                    "ttnn.relu",
                                    "ttnn.exp",
                                    "ttnn.mean",
                                    "ttnn.sum",
                                    "ttnn.slice",
                                    "ttnn.pad",
                                    "ttnn.topk",
                                    "ttnn.typecast",
                                    "ttnn.to_layout",
                                    "ttnn.tilize",
                                    "ttnn.untilize",
                                    "ttnn.where",
                                    "ttnn.argmax",
                                    "ttnn.transformer.scaled_dot_product_attention",
                                    "ttnn.experimental.rotary_embedding_llama"};
const std::vector<std::string> kDtypes{"BFLOAT16",  "BFLOAT16", "BFLOAT16", "BFLOAT8_B",
                                       "BFLOAT4_B", "FLOAT32",  "UINT32"};
const std::vector<std::string> kMemory{"DRAM INTERLEAVED",  "DRAM INTERLEAVED", "L1 INTERLEAVED",
                                       "L1 HEIGHT_SHARDED", "L1 BLOCK_SHARDED", "L1 WIDTH_SHARDED"};
const std::vector<std::string> kModels{"resnet50", "efficientnetb0", "llama-3.1-8b",    "llama-3.1-8b,qwen3-32b",
                                       "whisper",  "vit,deit",       "stable_diffusion"};

std::string verdict_json(double pcc, double ulp, double bound) {
  return fmt::format(
      R"json([{{"outcome": "{}", "judged_by": "pcc and bound", "reasons": [], "notes": [], "pcc_threshold": 0.999,
 "metrics": {{"compared": 65536, "pcc": {}, "pcc_ideal": 0.99999871, "max_abs": {:.6g}, "max_rel": {:.6g}, "nrmse": {:.6g},
 "ulp_max": {:.6g}, "ulp_mean": {:.6g}, "ulp_p99": {:.6g}, "exact_share": {:.6g}, "within_share": 1.0, "excess": {:.6g}}},
 "worst": {{"index": [0, 0, 17, 3], "actual": 1.5, "expected": 1.4921875}}, "rows": 64, "total_rows": 64,
 "distribution": "N(0,1)", "seed": 1, "budget": "half an ULP, and 8 roundings"}}])json",
      bound > 1 ? "failed" : "passed", pcc, bound / 40, bound / 300, std::sqrt(1 - pcc), ulp, ulp / 3, ulp / 1.3,
      1 / (1 + ulp), bound);
}

void judge(CaseRecord& record, double lost, double bound) {
  record.pcc = 1 - lost;
  record.ulp = std::round(1 + 3e4 * lost);
  record.nrmse = std::sqrt(lost);
  record.bound_used = bound;
  record.judged = record.elements / 2;
  record.verdicts = verdict_json(*record.pcc, *record.ulp, bound);
  record.outputs = R"json(["[1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)"])json";
}

CaseRecord plain_case(std::int64_t index, Dice& dice) {
  CaseRecord record;
  record.index = index;
  record.vector = fmt::format("{:016x}", dice());
  record.key = fmt::format("{:016x}{:016x}", dice(), dice());
  record.op = any_of(kOps, dice);
  record.suite = "model_traced";
  record.dtype = any_of(kDtypes, dice);
  record.layout = dice() % 4 == 0 ? "ROW_MAJOR" : "TILE";
  record.memory = any_of(kMemory, dice);
  record.models = any_of(kModels, dice);
  record.calls = static_cast<std::int64_t>(1 + dice() % 90);
  const auto rows = 32 * (1 + dice() % 200);
  const auto columns = 32 * (1 + dice() % 64);
  record.elements = static_cast<std::int64_t>(rows * columns * 3);
  const std::string tensor = fmt::format("tensor([1,1,{},{}] {} {} DEVICE memory({}))", rows, columns, record.dtype,
                                         record.layout, record.memory);
  record.line = fmt::format(
      "{}(input_tensor_a={}, input_tensor_b={}, alpha={}, memory_config=memory({}), activation=\"it's {}\")", record.op,
      tensor, tensor, dice() % 7, record.memory, dice() % 2 ? "relu" : "none");
  record.started = "2026-11-15T20:09:21.123Z";
  record.wall_seconds = 0.002 * std::exp(4 * share(dice));
  record.device_seconds = record.wall_seconds * 0.4;
  record.reference_seconds = record.wall_seconds * 0.5;
  record.kernel_seconds = record.device_seconds / 1000;
  record.l1_per_core = static_cast<std::int64_t>(dice() % 1400000);
  record.dram = record.elements * 2;
  record.host_bytes = 90'000'000;
  record.fields = 14;
  record.fields_equal = 14;
  return record;
}

void fail_with(CaseRecord& record, Outcome outcome, std::string reason) {
  record.outcome = outcome;
  record.reason = std::move(reason);
  record.blame = outcome == Outcome::kUnsupported ? Blame::kNobody : Blame::kOperator;
  if (record.blame != Blame::kNobody) record.evidence = "alone in a clean process: the same, 2 of 2; canary passed";
}

CaseRecord mixed_case(std::int64_t index, Dice& dice) {
  CaseRecord record = plain_case(index, dice);
  const double lot = share(dice);
  record.outcome = Outcome::kPassed;
  if (lot < 0.9) {
    judge(record, dice() % 40 == 0 ? 0.0 : std::pow(10, -7.5 + 4 * share(dice)), share(dice));
    record.faults = 6;
    record.faults_noticed = 6;
  } else if (lot < 0.93) {
    judge(record, std::pow(10, -2.5 + 2.6 * share(dice)), 1.2 + 40 * share(dice));
    fail_with(
        record, Outcome::kFailed,
        fmt::format("output 0: PCC {:.6f} is below 0.999; {} elements outside the bound", *record.pcc, dice() % 5000));
  } else if (lot < 0.945) {
    fail_with(record, Outcome::kRefused, fmt::format("shard width {} must be a multiple of 32", 8 + dice() % 24));
    record.argument = "memory_config";
  } else if (lot < 0.96) {
    fail_with(record, Outcome::kOutOfMemory,
              fmt::format("L1: needs {} bytes a core, 1,395,424 are free", 1400000 + dice() % 900000));
  } else if (lot < 0.975) {
    fail_with(record, Outcome::kUnsupported, fmt::format("no kernel for {} with {}", record.op, record.dtype));
  } else if (lot < 0.98) {
    judge(record, 1e-6, 0.1);
    record.outcome = Outcome::kMistrusted;
    record.reason = "all outputs are zero";
  } else if (lot < 0.985) {
    fail_with(record, Outcome::kTimedOut, "no answer in 30 s");
    record.wall_seconds = 30;
    record.blame = Blame::kFlaky;
  } else if (lot < 0.99) {
    fail_with(record, Outcome::kCrashed, "the worker died: signal 11 (segmentation fault)");
  } else if (lot < 0.995) {
    judge(record, 1e-5, 0.3);
    fail_with(record, Outcome::kUnproven, "2 of 14 fields were executed otherwise than traced");
    record.fields_equal = 12;
    record.differences = "memory_config.memory_layout: HEIGHT_SHARDED -> INTERLEAVED; alpha: 2 -> 1";
  } else {
    judge(record, 1e-3, 0.9);
    fail_with(record, Outcome::kVacuous, "3 of 6 planted faults would have passed");
    record.faults = 6;
    record.faults_noticed = 3;
    record.unnoticed = "one row swapped, last tile zero, sign of one element";
  }
  return record;
}

// The cases of a mixed run a day later: every 20th is new in failing, every 20th repaired where it failed, every 20th
// is less accurate or near zero.
CaseRecord later_case(std::int64_t index, Dice& dice) {
  CaseRecord record = mixed_case(index, dice);
  const bool passed = record.outcome == Outcome::kPassed;
  if (passed && index % 20 == 0) {
    fail_with(record, Outcome::kCrashed, "the worker died: signal 11 (segmentation fault)");
  } else if (passed && index % 20 == 1) {
    judge(record, 4e-4, 0.9);
  } else if (passed && index % 20 == 2) {
    record.ulp = 3e36;
  } else if (record.outcome == Outcome::kFailed) {
    record.outcome = Outcome::kPassed;
    record.reason.clear();
    judge(record, 1e-6, 0.5);
  }
  return record;
}

CaseRecord failed_case(std::int64_t index, Dice& dice) {
  CaseRecord record = plain_case(index, dice);
  fail_with(record, Outcome::kCrashed, "the worker died: signal 6 (aborted)");
  return record;
}

CaseRecord accepted_case(std::int64_t index, Dice& dice) {
  CaseRecord record = plain_case(index, dice);
  if (dice() % 10 == 0) {
    fail_with(record, Outcome::kRefused, "TT_FATAL: input must be tiled");
  } else {
    record.outcome = Outcome::kAccepted;
  }
  return record;
}

CaseRecord against_case(std::int64_t index, Dice& dice) {
  CaseRecord record = mixed_case(index, dice);
  record.against = index % 4 == 0 ? "refused" : "accepted";
  if (index % 4 == 0) record.disagreement = "outcome: passed against refused (TT_FATAL: input must be tiled)";
  return record;
}

// Whatever could be taken for markup, a template, a number or a name of ordinary length.
CaseRecord hostile_case(std::int64_t index, Dice& dice) {
  static const std::vector<std::string> texts{"</script><script>window.owned=1</script>",
                                              "<img src=x onerror=\"window.owned=1\">",
                                              "<!--<script>",
                                              "{{title}} {{data}}",
                                              "'; rm -rf $HOME; echo '",
                                              "line\nbreak\ttab \x01 control",
                                              "żółć 中文 😀 \u202e back",
                                              "&lt;b&gt; &amp; \"quoted\"",
                                              "__proto__",
                                              std::string(300, 'x'),
                                              "a,b,,c",
                                              ""};
  const std::string& text = texts[static_cast<std::size_t>(index) % texts.size()];
  CaseRecord record = plain_case(index, dice);
  record.op = text;
  record.line = text + "(" + text + ")";
  record.dtype = record.memory = record.models = record.suite = record.notes = record.differences = text;
  record.verdicts = text;
  record.outputs = "[\"" + std::string(index % 2 ? "<b>" : "</dialog>") + "\"]";
  fail_with(record, Outcome::kFailed, text);
  record.evidence = text;
  const double odd[] = {std::nan(""), std::numeric_limits<double>::infinity(), -1.0, 1.0, 1.0000001, 0.5};
  record.pcc = odd[index % 6];
  record.ulp = odd[(index + 1) % 6];
  record.bound_used = odd[(index + 1) % 6];
  return record;
}

// Texts without end: a name of a hundred thousand letters, a list of fifty thousand.
CaseRecord endless_case(std::int64_t index, Dice& dice) {
  CaseRecord record = plain_case(index, dice);
  const std::string text =
      fmt::format("ttnn.endless_{}_{}", index, std::string(100'000, static_cast<char>('a' + index % 26)));
  record.op = text;
  record.line = text + "(" + text + ")";
  record.dtype = record.memory = record.layout = record.suite = record.notes = record.evidence = text;
  record.models = text + ", " + text + "2";
  for (int i = 0; i < 50'000; ++i) record.differences += fmt::format("{}field{}: 1 -> 2", i > 0 ? "; " : "", i);
  record.fields = 50'000;
  record.verdicts = "[{\"outcome\": \"failed\", \"a\": [" + std::string(10'000, '[') + std::string(10'000, ']') + "]}]";
  record.outputs = "[\"" + text + "\"]";
  fail_with(record, Outcome::kFailed, text);
  return record;
}

// As exec::repeat_command writes it: quoted for a shell.
std::string repeat_of(const CaseRecord& record) {
  std::string quoted;
  for (const char c : record.line) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("opwright run --case '{}' --device sim:n300 --seed 7", quoted);
}

RunRecord run_of(const std::string& uid, const std::string& kind, std::int64_t count) {
  RunRecord run;
  run.uid = uid;
  run.started = kind == "later" ? "2026-11-16T20:09:21.123Z" : "2026-11-15T20:09:21.123Z";
  run.ended = "2026-11-15T20:13:02.500Z";
  run.host = "lab-7 (Linux 6.1, 2 x 3.1 GHz)";
  run.device = kind == "accepted" ? "ttnn:mock:n300" : "sim:n300";
  run.numerics = kind == "accepted" ? "none" : "exact-model";
  run.command = "opwright run --suite model_traced --device " + run.device;
  if (kind == "against") run.against = "ttnn:mock:n300";
  run.git_commit = "6716e0b9f2a14c33d7e1b5a0c8f4e2d19a7b6c53";
  run.version = "0.1.0";
  run.suite = "model_traced";
  run.facts = R"({"cpu": "a made-up one", "jobs": 2, "limits": {"case_seconds": 30}, "note": "</script><b>"})";
  run.seed = 18446744073709551615u;
  run.planned = kind == "failed" ? count + 3 : count;
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: make_runs STORE UID mixed|later|empty|failed|accepted|against|hostile|endless [COUNT]\n";
    return 2;
  }
  const std::string uid = argv[2], kind = argv[3];
  const std::map<std::string, std::function<CaseRecord(std::int64_t, Dice&)>> kinds{
      {"mixed", mixed_case},       {"later", later_case},     {"empty", mixed_case},     {"failed", failed_case},
      {"accepted", accepted_case}, {"against", against_case}, {"hostile", hostile_case}, {"endless", endless_case}};
  const auto make = kinds.find(kind);
  if (make == kinds.end()) {
    std::cerr << "make_runs: no kind " << kind << "\n";
    return 2;
  }
  const std::int64_t count = kind == "empty" ? 0 : argc > 4 ? std::atoll(argv[4]) : 24;
  const auto written = [&]() -> opwright::Status {
    OPWRIGHT_TRY_ASSIGN(const auto writer, opwright::store::open_results_writer(argv[1], 1000));
    OPWRIGHT_TRY(writer->begin(run_of(uid, kind, count)));
    Dice dice(7);
    for (std::int64_t i = 0; i < count; ++i) {
      CaseRecord record = make->second(i, dice);
      record.repeat = repeat_of(record);
      OPWRIGHT_TRY(writer->add(uid, record));
    }
    return writer->end(uid, kind == "failed" ? "interrupted" : "complete", "2026-11-15T20:13:02.500Z");
  }();
  if (!written) std::cerr << "make_runs: " << written.error().message << "\n";
  return written ? 0 : 1;
}
