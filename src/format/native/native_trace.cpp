#include "format/native/native_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/limits.h"

namespace opwright::format {

using capture::Record;
using capture::Tag;

namespace {

Hash128 read_hash(std::string_view bytes) {  // big-endian
  Hash128 hash;
  for (std::size_t i = 0; i < 8; ++i) {
    hash.high = hash.high << 8 | static_cast<unsigned char>(bytes[i]);
    hash.low = hash.low << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  return hash;
}

constexpr std::size_t kHashBytes = 16;

}  // namespace

std::string_view text_of(const NativeValue* value) {
  return value != nullptr && value->is(Tag::kString) ? value->text : std::string_view();
}

Result<NativeTrace> NativeTrace::open(const std::string& path) { return of(NativeFile::open(path)); }

Result<NativeTrace> NativeTrace::from_input(Input&& input, const std::string& shown) {
  return of(NativeFile::from_input(std::move(input), shown));
}

Result<NativeTrace> NativeTrace::from_bytes(std::string bytes, const std::string& shown) {
  return of(NativeFile::from_text(std::move(bytes), shown));
}

Result<NativeTrace> NativeTrace::from_view(std::string_view bytes, const std::string& shown,
                                           NativeFile::Passed passed) {
  return of(NativeFile::from_view(bytes, shown, std::move(passed)));
}

Result<NativeTrace> NativeTrace::of(Result<NativeFile> file) {
  if (!file) return fail(std::move(file).error());
  NativeTrace trace(*std::move(file));
  OPWRIGHT_TRY(trace.collect());
  return trace;
}

Status NativeTrace::collect() {
  // What is not a call stays in memory, with a few times the bytes of a small record.
  constexpr std::uint64_t kRecordsAThing = 4;
  std::uint64_t kept = 0;
  for (const NativeFile::Chunk& chunk : file_.chunks()) {
    file_.for_each_record(chunk, [&](const RecordView& record) {
      collect(record);
      kept += record.kind == Record::kBegin || record.kind == Record::kEnd ? 0 : 1;
    });
    if (kept / kRecordsAThing > limits().distinct)
      return fail(over_limit(path(), &Limits::distinct,
                             fmt::format("{} records beside its calls, {} a thing", kept, kRecordsAThing)));
  }
  values_->finish(damage_);
  const auto by_seq = [](const SideRecord& a, const SideRecord& b) { return a.seq < b.seq; };
  std::stable_sort(data_.begin(), data_.end(), by_seq);
  std::stable_sort(device_.begin(), device_.end(), by_seq);
  read_tests();
  for (const auto& [key, calls] : counts_) {
    const std::string_view op = text_of(values_->value(key.first));
    if (key.second <= static_cast<std::uint64_t>(capture::Uncalled::kLost) && calls > 0)
      unrecorded_.push_back({op.empty() ? "?" : op, static_cast<capture::Uncalled>(key.second), calls});
  }
  return {};
}

// Everything but calls, which are streamed.
void NativeTrace::collect(const RecordView& record) {
  ByteReader in(record.payload);
  const auto damaged = [&](std::string_view what) {
    damage_.add("damaged_record", record.offset,
                [&] { return fmt::format("a {} record is not built as the format says; it is left out", what); });
  };
  switch (record.kind) {
    case Record::kValue:
      return values_->add_value(record.payload, record.offset, damage_);
    case Record::kText:
      return values_->add_text(record.payload, record.offset, damage_);
    case Record::kFact: {
      const std::string_view name = in.text();
      const std::string_view encoded = in.rest();
      if (!in.ok() || encoded.empty()) return damaged("fact");
      facts_.push_back({name, encoded});
      return;
    }
    case Record::kTest:
      encoded_tests_.push_back(record.payload);
      return;
    case Record::kBlob: {
      const std::string_view hash = in.raw(kHashBytes);
      Blob blob;
      blob.description = in.id();
      blob.bytes = in.rest();
      if (!in.ok()) return damaged("blob");
      blobs_.try_emplace(read_hash(hash), blob);
      return;
    }
    case Record::kData:
    case Record::kDevice: {
      SideRecord side;
      side.seq = in.varint();
      side.payload = in.rest();
      if (!in.ok()) return damaged(record.kind == Record::kData ? "data" : "device");
      (record.kind == Record::kData ? data_ : device_).push_back(side);
      return;
    }
    case Record::kNote: {
      Note note;
      note.kind = in.text();
      note.text = in.text();
      if (!in.ok()) return damaged("note");
      notes_.push_back(note);
      return;
    }
    case Record::kCount: {
      const std::uint64_t reason = in.varint();
      const ValueId op = in.id();
      const std::uint64_t calls = in.varint();
      if (!in.ok() || calls > kMostCounted) return damaged("count");
      std::uint64_t& total = counts_[{op, reason}];
      total = std::max(total, calls);  // totals only grow, and lanes are read one after the other
      return;
    }
    case Record::kTensor: {
      TensorResult tensor;
      for (std::uint64_t* number : {&tensor.id, &tensor.version, &tensor.storage, &tensor.address, &tensor.view_of}) {
        *number = in.varint();
      }
      if (in.ok()) outside_tensors_.emplace(tensor.id, tensor);  // one that is damaged is told when calls are walked
      return;
    }
    case Record::kBegin:
    case Record::kEnd:
    case Record::kContext:
    case Record::kThread:
      return;
  }
  damage_.add("unknown_record", record.offset, [&] {
    return fmt::format("a record of kind {}, which version {} does not have", static_cast<int>(record.kind),
                       capture::kTraceVersion);
  });
}

void NativeTrace::read_tests() {
  for (const std::string_view encoded : encoded_tests_) {
    const NativeValue* value = values_->decode(encoded);
    TestOutcome test;
    if (value != nullptr) {
      test.id = text_of(value->find("id"));
      test.outcome = text_of(value->find("outcome"));
      if (const NativeValue* seconds = value->find("seconds"); seconds != nullptr && seconds->is(Tag::kFloat))
        test.seconds = seconds->real;
    }
    if (test.id.empty() || test.outcome.empty()) {
      damage_.add("damaged_record", static_cast<std::size_t>(encoded.data() - file_.bytes().data()),
                  [] { return "a test record without its id or outcome"; });
      continue;
    }
    tests_.push_back(test);
  }
}

const NativeValue* NativeTrace::fact(std::string_view name) {
  for (auto fact = facts_.rbegin(); fact != facts_.rend(); ++fact) {
    if (fact->name == name) return values_->decode(fact->encoded);
  }
  return nullptr;
}

std::string_view NativeTrace::fact_text(std::string_view name) { return text_of(fact(name)); }

const Flow& NativeTrace::flow() {
  if (flow_) return *flow_;
  flow_.emplace();
  const NativeValue* told = fact(kFlowFact);
  if (told == nullptr || !told->is(Tag::kStruct)) {
    if (!fact_text("converted_from").empty()) flow_->edges = DataFlow::kNone;
    return *flow_;
  }
  const auto count = [told](std::string_view name) {
    const NativeValue* number = told->find(name);
    return number != nullptr && number->is(Tag::kInt) ? number->number : 0;
  };
  flow_->inferred = count("inferred");
  flow_->ambiguous = count("ambiguous");
  if (text_of(told->find("edges")) != "recorded")
    flow_->edges = flow_->inferred > 0 ? DataFlow::kInferred : DataFlow::kNone;
  return *flow_;
}

const Blob* NativeTrace::blob(const Hash128& hash) const {
  const auto found = blobs_.find(hash);
  return found == blobs_.end() ? nullptr : &found->second;
}

CallContext NativeTrace::context(ValueId id) {
  if (id == 0) return {};
  const auto [found, added] = contexts_.try_emplace(id);
  if (!added) return found->second;
  const NativeValue* value = values_->value(id);
  if (value == nullptr || !value->is(Tag::kDict)) {
    damage_.add("missing_value", 0, [&] { return fmt::format("the context {} of calls is not in the file", id); });
    return {};
  }
  found->second = {text_of(value->find("test")), text_of(value->find("phase")), text_of(value->find("label")),
                   text_of(value->find("sweep_source_hash"))};
  return found->second;
}

std::vector<TensorData> NativeTrace::data_of(std::uint64_t seq) const {
  std::vector<TensorData> found;
  auto at = std::lower_bound(data_.begin(), data_.end(), seq,
                             [](const SideRecord& side, std::uint64_t wanted) { return side.seq < wanted; });
  for (; at != data_.end() && at->seq == seq; ++at) {
    ByteReader in(at->payload);
    TensorData data;
    data.slot = in.id();
    const std::uint64_t flags = in.varint();
    data.of_result = (flags & capture::kDataResult) != 0;
    data.after = (flags & capture::kDataAfter) != 0;
    if ((flags & capture::kDataHash) != 0) {
      const std::string_view hash = in.raw(kHashBytes);
      if (in.ok()) data.hash = read_hash(hash);
    }
    if ((flags & capture::kDataSketch) != 0) data.sketch = in.id();
    if (in.ok()) found.push_back(data);
  }
  return found;
}

std::string_view NativeTrace::device_of(std::uint64_t seq) const {
  const auto at = std::lower_bound(device_.begin(), device_.end(), seq,
                                   [](const SideRecord& side, std::uint64_t wanted) { return side.seq < wanted; });
  return at != device_.end() && at->seq == seq ? at->payload : std::string_view();
}

std::int64_t NativeTrace::ns_of(std::uint64_t ticks) const {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  constexpr std::uint64_t kLongest = 2'000'000'000;  // 63 years: sums of several times do not overflow
  const std::uint64_t rate = header().ticks_per_second == 0 ? kSecond : header().ticks_per_second;
  const bool before = ticks < header().start_ticks;
  const std::uint64_t since = before ? header().start_ticks - ticks : ticks - header().start_ticks;
  const std::uint64_t seconds = std::min(since / rate, kLongest);
  const std::uint64_t rest = since % rate;
  const std::uint64_t ns =
      rate <= UINT64_MAX / kSecond
          ? rest * kSecond / rate
          : static_cast<std::uint64_t>(static_cast<double>(rest) / static_cast<double>(rate) * 1e9);
  const auto total = static_cast<std::int64_t>(seconds * kSecond + ns);
  return before ? -total : total;
}

}  // namespace opwright::format
