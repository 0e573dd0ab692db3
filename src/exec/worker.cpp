#include "exec/worker.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "base/clock.h"
#include "base/json_object.h"
#include "base/json_write.h"
#include "base/large_memory.h"
#include "base/parallel.h"
#include "device/external/external_device.h"
#include "device/external/keeper.h"
#include "exec/case_line.h"
#include "exec/job.h"
#include "exec/planted_device.h"
#include "exec/record_of.h"
#include "exec/run_external.h"
#include "exec/selftest_device.h"
#include "exec/time_case.h"
#include "exec/vote.h"
#include "model/record_json.h"

namespace opwright {
namespace {

constexpr std::chrono::seconds kBeat{1};
constexpr std::string_view kSelftest = "selftest";

// Lines out, from the thread that works and the one that beats.
class Answers {
 public:
  explicit Answers(int out) : out_(out) {}
  void write_line(std::string text) {
    text += '\n';
    const std::lock_guard lock(mutex_);
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = write(out_, text.data() + done, text.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) _exit(1);  // the parent is gone: nobody wants the result
      done += static_cast<std::size_t>(count);
    }
  }

 private:
  int out_;
  std::mutex mutex_;
};

// Says that the process lives while a case runs.
class Heart {
 public:
  explicit Heart(Answers& answers) : thread_([this, &answers] { beat(answers); }) {}
  ~Heart() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  void begin(std::int64_t index) { running_.store(index); }
  void end() { running_.store(-1); }

 private:
  void beat(Answers& answers) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kBeat, [this] { return ended_; }))
      if (const std::int64_t index = running_.load(); index >= 0)
        answers.write_line(JsonObject().add("beat", index).text());
  }
  std::atomic<std::int64_t> running_{-1};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

class LineReader {
 public:
  explicit LineReader(int in) : in_(in) {}
  bool next(std::string& line) {
    for (;;) {
      if (const std::size_t end = buffer_.find('\n', from_); end != std::string::npos) {
        line.assign(buffer_, from_, end - from_);
        from_ = end + 1;
        return true;
      }
      buffer_.erase(0, from_);
      from_ = 0;
      std::array<char, 65536> bytes;
      const ssize_t count = read(in_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int in_;
  std::string buffer_;
  std::size_t from_ = 0;
};

class Worker {
 public:
  Worker(WorkerSetup setup, Answers& answers) : setup_(std::move(setup)), answers_(answers) {}

  Result<std::string> hello() {
    OPWRIGHT_TRY_ASSIGN(Device * device, device_for(setup_.device, ""));
    if (!setup_.against.empty()) OPWRIGHT_TRY(device_for(setup_.against, ""));  // now: no case shall wait for it
    const Capabilities& can = device->can();
    JsonObject versions;
    for (const auto& [name, version] : can.versions) versions.add(name, version);
    return JsonObject()
        .add("protocol", std::int64_t{kWorkerProtocol})
        .add_raw("hello", JsonObject()
                              .add("device", can.name)
                              .add("numerics", name_of(can.numerics))
                              .add_raw("versions", versions.text())
                              .text())
        .text();
  }

  // What is found of the case; the parent knows the rest.
  CaseRecord run(const WorkOrder& order) {
    settle();
    last_index_ = order.index;
    tell_stage(Stage::kPlan);  // the parent knows now that the case has begun
    CaseRecord record;
    record.index = order.index;
    record.started = utc_now();
    const auto start = std::chrono::steady_clock::now();
    stage_ = Stage::kPlan;
    running_ = true;
    try {
      run_into(record, order);
    } catch (const std::bad_alloc&) {
      record.outcome = Outcome::kHostMemory;
      record.reason = fmt::format("the worker may not take more memory, in the {}", name_of(stage_));
    } catch (const std::exception& error) {
      record.outcome = stage_ == Stage::kDevice ? Outcome::kDeviceError : Outcome::kHarnessError;
      record.reason = fmt::format("the {} threw: {}", name_of(stage_), error.what());
    }
    running_ = false;
    record.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    record.host_bytes = used.ru_maxrss * 1024L;
    return record;
  }

  // Tells what devices did after their answers: that belongs to the case before.
  void settle() {
    if (last_index_ < 0) return;
    for (const auto& [name, device] : devices_) {
      const auto failure = device ? device->settle() : std::nullopt;
      if (!failure) continue;
      answers_.write_line(JsonObject()
                              .add_raw("late", JsonObject()
                                                   .add("index", last_index_)
                                                   .add("outcome", name_of(failure->outcome))
                                                   .add("reason", failure->message)
                                                   .add_bool("device", failure->own_fault)
                                                   .text())
                              .text());
    }
  }

 private:
  void run_into(CaseRecord& record, const WorkOrder& order) {
    const auto config = parse_case(order.line);
    if (!config) {
      record.outcome = Outcome::kHarnessError;
      record.reason = config.error().message;
      return;
    }
    const auto device = device_for(setup_.device, order.board);
    if (!device) {
      record.outcome = Outcome::kDeviceError;
      record.reason = device.error().message;
      record.blame = Blame::kDevice;
      return;
    }
    RunOptions options = setup_.options;
    options.recipe = order.recipe;
    if (order.pcc) options.pcc = order.pcc;
    options.recorded = order.recorded;
    options.mutate = setup_.mutate;
    options.keep_outputs = !setup_.against.empty();
    options.on_stage = [this](Stage stage) {
      stage_ = stage;
      tell_stage(stage);
    };
    if (setup_.device == kSelftest) options.tamper = selftest_tamper;
    if (setup_.perf) {
      const CasePerf perf = time_case(*config, **device, options, *setup_.perf);
      record.outcome = perf.refused.empty() ? Outcome::kAccepted : Outcome::kUnsupported;
      record.reason = perf.refused;
      record.perf = to_json(perf);
      return;
    }
    const CaseResult result = run_case(*config, **device, options);
    fill_record(result, (*device)->can(), record);
    Device* const golden = golden_of(**device, order);
    // About numbers: what a call returns, others do not know better than the trace.
    if (result.outcome == Outcome::kFailed && !result.verdicts.empty())
      ask_second_opinion(*config, **device, golden, options, record);
    if (setup_.golden) fill_golden(run_golden(*config, golden == nullptr ? **device : *golden, options), record);
    if (!setup_.against.empty()) run_against(*config, order, options, result, record);
  }

  // Who has golden functions: the device, or the one it is held against.
  Device* golden_of(Device& device, const WorkOrder& order) {
    if (device.can().golden) return &device;
    if (setup_.against.empty()) return nullptr;
    const auto second = device_for(setup_.against, order.board);
    return second && (*second)->can().golden ? *second : nullptr;
  }

  // Another implementation with the same data and the same reference: where that one fails too, the reference is the
  // odd one out.
  void ask_second_opinion(const OpConfig& config, Device& device, Device* golden, RunOptions options,
                          CaseRecord& record) {
    options.mutate = false;
    options.on_stage = nullptr;
    if (golden != nullptr) {
      const Vote vote = vote_on_reference(config, device, *golden, options);
      record.second_opinion = vote.golden;
      if (vote.reference_wrong) {
        record.outcome = Outcome::kReferenceWrong;
        record.blame = Blame::kReference;
        record.evidence = vote.evidence;
      }
      if (vote.golden == Outcome::kPassed || vote.golden == Outcome::kFailed) return;
    }
    // The simulated device is no second opinion of itself.
    if (device.can().name.starts_with("sim")) return;
    const auto simulated = open_device("sim", device.can().board);
    record.second_opinion = run_case(config, *simulated, options).outcome;
  }

  void run_against(const OpConfig& config, const WorkOrder& order, const RunOptions& options, const CaseResult& first,
                   CaseRecord& record) {
    const auto second = device_for(setup_.against, order.board);
    if (!second) {
      record.against = name_of(Outcome::kDeviceError);
      record.disagreement = second.error().message;
      return;
    }
    const CaseResult other = run_case(config, **second, options);
    fill_against(first, other, (*second)->can(), record);
  }

  void tell_stage(Stage stage) { answers_.write_line(JsonObject().add("stage", name_of(stage)).text()); }

  Result<std::unique_ptr<Device>> open(const std::string& name) {
    if (name == kSelftest) return open_selftest_device();
    if (is_planted_device(name)) return open_planted_device(name);
    ProgramLimits limits;
    if (setup_.hello_seconds > 0) limits.hello_seconds = setup_.hello_seconds;
    // The time of a start is not the case's: the parent hears when one begins, and when the case goes on.
    limits.on_start = [this](bool starting) {
      if (running_) tell_stage(starting ? Stage::kStart : stage_);
    };
    for (const DeviceProgram& program : setup_.programs)
      if (program.name == name) return ExternalDevice::open(program, std::move(limits));
    return open_device(name);
  }

  // A device a name and board, opened when it is first needed.
  Result<Device*> device_for(const std::string& name, const std::string& board) {
    const std::string full = setup_.own_board && !board.empty() && name == setup_.device ? name + ":" + board : name;
    auto& device = devices_[full];
    if (!device) {
      OPWRIGHT_TRY_ASSIGN(device, open(full));
    }
    return device.get();
  }

  WorkerSetup setup_;
  Answers& answers_;
  std::map<std::string, std::unique_ptr<Device>> devices_;
  Stage stage_ = Stage::kStart;
  bool running_ = false;          // a case
  std::int64_t last_index_ = -1;  // of the case that runs or ran last
};

std::int64_t int_of(const json::Node& node, std::string_view name, std::int64_t otherwise) {
  const json::Node* field = node.find(name);
  return field == nullptr ? otherwise : field->as_int64().value_or(otherwise);
}
std::vector<std::string> texts_of(const json::Node* list) {
  std::vector<std::string> texts;
  if (list != nullptr)
    for (const json::Node& item : *list) texts.emplace_back(item.text);
  return texts;
}

std::string programs_json(const std::vector<DeviceProgram>& programs) {
  std::vector<std::string> items;
  for (const DeviceProgram& program : programs)
    items.push_back(JsonObject()
                        .add("name", program.name)
                        .add_raw("argv", json_array(program.argv, false))
                        .add_raw("environment", json_array(program.environment, false))
                        .text());
  return json_array(items, true);
}

bool flag_of(const json::Node& node, std::string_view name) {
  const json::Node* field = node.find(name);
  return field != nullptr && field->is_true();
}

}  // namespace

std::string to_json(const WorkerSetup& setup) {
  JsonObject object;
  object.add("protocol", std::int64_t{kWorkerProtocol})
      .add("device", setup.device)
      .add_bool("own_board", setup.own_board)
      .add("against", setup.against)
      .add_raw("programs", programs_json(setup.programs))
      .add("threads", std::int64_t{setup.threads})
      .add_bool("golden", setup.golden)
      .add_bool("mutate", setup.mutate)
      .add("memory", setup.memory)
      .add_raw("hello_seconds", json::float_text(setup.hello_seconds))
      .add("sample", setup.options.most_elements)
      .add("repeat", std::int64_t{setup.options.repeat})
      .add_bool("capture", setup.options.capture)
      .add_bool("check", !setup.options.compute);
  if (setup.options.pcc) object.add_raw("pcc", json::float_text(*setup.options.pcc));
  if (setup.perf) object.add("perf", to_json(*setup.perf));
  return object.text();
}

Result<WorkerSetup> parse_worker_setup(std::string_view line) {
  json::Document document;
  const auto root = document.parse(line);
  if (!root || !(*root)->is(json::Kind::kObject)) return fail(ErrorCode::kBadInput, "the first line is no setup");
  const json::Node& node = **root;
  if (const std::int64_t protocol = int_of(node, "protocol", 0); protocol != kWorkerProtocol)
    return fail(ErrorCode::kUnsupported,
                fmt::format("a parent that speaks protocol {}, this worker speaks {}", protocol, kWorkerProtocol));
  WorkerSetup setup;
  setup.device = node.string_field("device").value_or("sim");
  setup.own_board = flag_of(node, "own_board");
  setup.against = node.string_field("against").value_or("");
  if (const json::Node* programs = node.find("programs"); programs != nullptr)
    for (const json::Node& program : *programs)
      setup.programs.push_back({std::string(program.string_field("name").value_or("")), texts_of(program.find("argv")),
                                texts_of(program.find("environment")), nullptr});
  setup.threads = static_cast<int>(int_of(node, "threads", 1));
  setup.golden = flag_of(node, "golden");
  setup.mutate = flag_of(node, "mutate");
  setup.memory = int_of(node, "memory", 0);
  if (const json::Node* seconds = node.find("hello_seconds"); seconds != nullptr && seconds->is(json::Kind::kNumber))
    setup.hello_seconds = std::strtod(std::string(seconds->text).c_str(), nullptr);
  if (const auto perf = node.string_field("perf")) setup.perf = parse_perf_plan(*perf);
  setup.options.most_elements = int_of(node, "sample", setup.options.most_elements);
  setup.options.repeat = static_cast<int>(int_of(node, "repeat", 1));
  setup.options.capture = flag_of(node, "capture");
  setup.options.compute = !flag_of(node, "check");
  if (const json::Node* pcc = node.find("pcc"); pcc != nullptr && pcc->is(json::Kind::kNumber))
    setup.options.pcc = std::strtod(std::string(pcc->text).c_str(), nullptr);
  return setup;
}

int serve_worker(int in, int out) {
  // A group of its own, so that Ctrl-C reaches the parent alone, which lets the running cases end; and no life after
  // the parent's.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  adopt_orphans();  // of a keeper that somebody killed
  std::signal(SIGPIPE, SIG_IGN);
  reuse_large_blocks();
  Answers answers(out);
  LineReader lines(in);
  std::string line;
  if (!lines.next(line)) return 0;
  auto setup = parse_worker_setup(line);
  if (!setup) {
    answers.write_line(JsonObject().add("cannot_start", setup.error().message).text());
    return 3;
  }
  set_threads(setup->threads);
  if (setup->memory > 0) limit_memory(setup->memory);
  Worker worker(*std::move(setup), answers);
  const auto hello = worker.hello();
  if (!hello) {
    answers.write_line(JsonObject().add("cannot_start", hello.error().message).text());
    return 3;
  }
  answers.write_line(*hello);
  Heart heart(answers);
  while (lines.next(line)) {
    const auto order = parse_order(line);
    if (!order) {
      answers.write_line(JsonObject().add("cannot_start", order.error().message).text());
      return 3;
    }
    heart.begin(order->index);
    const CaseRecord record = worker.run(*order);
    heart.end();
    answers.write_line(JsonObject().add_raw("record", to_json(record)).text());
  }
  worker.settle();
  answers.write_line(kGoodbye);
  return 0;
}

}  // namespace opwright
