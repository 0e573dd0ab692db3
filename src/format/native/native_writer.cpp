#include "format/native/native_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "capture/crc32c.h"

namespace opwright::format {

using capture::ChunkHeader;
using capture::crc32c;
using capture::kUnit;
using capture::Record;
using capture::RecordHeader;

namespace {

void append_hash(capture::Encoder& out, const Hash128& hash) {  // big-endian
  for (const std::uint64_t half : {hash.high, hash.low}) {
    for (int shift = 56; shift >= 0; shift -= 8) out.byte(static_cast<std::uint8_t>(half >> shift));
  }
}

}  // namespace

NativeWriter::NativeWriter(TraceOutput& output, const Start& start) : output_(output) {
  std::memcpy(header_.magic, capture::kMagic, sizeof header_.magic);
  header_.version = capture::kTraceVersion;
  header_.header_size = capture::kHeaderSize;
  header_.unit = kUnit;
  header_.pid = start.pid;
  header_.start_unix_ns = start.start_unix_ns;
  header_.start_ticks = start.start_ticks;
  header_.ticks_per_second = start.ticks_per_second;
  header_.last_ticks = start.start_ticks;
  header_.state = static_cast<std::uint32_t>(capture::State::kClosed);
  status_ = output_.append(std::string(capture::kHeaderSize, '\0'));
  lane(0, 0);
}

void NativeWriter::lane(std::uint32_t number, std::uint64_t thread) {
  if (lane_ != nullptr && number == number_) return;  // calls say their thread themselves
  close_chunk(false);
  number_ = number;
  lane_ = &lanes_[number];
  lane_->thread = thread;
  if (lane_->ticks == 0) lane_->ticks = header_.start_ticks;
}

void NativeWriter::start_chunk(std::size_t payload) {
  units_ = static_cast<std::uint32_t>((sizeof(ChunkHeader) + sizeof(RecordHeader) + payload + kUnit - 1) / kUnit);
  ChunkHeader header{};
  header.magic = capture::kChunkMagic;
  header.units = units_;
  header.lane = number_;
  header.ordinal = lane_->ordinal++;
  header.base_ticks = lane_->ticks;
  header.base_seq = lane_->seq;
  header.base_tensor = lane_->tensor;
  header.thread = lane_->thread;
  header.context = lane_->context;
  header.crc = crc32c(&header, offsetof(ChunkHeader, crc));
  chunk_.assign(reinterpret_cast<const char*>(&header), sizeof header);
}

void NativeWriter::close_chunk(bool last) {
  if (chunk_.empty()) return;
  header_.units += units_;
  if (!last) chunk_.resize(static_cast<std::size_t>(units_) * kUnit);
  if (status_) status_ = output_.append(chunk_);
  chunk_.clear();
}

// A record of a call counts from the numbers of its chunk, so the chunk is there before the record is made.
void NativeWriter::room_for(std::size_t payload) {
  const std::size_t need = sizeof(RecordHeader) + payload + 4;
  if (!chunk_.empty() && chunk_.size() + need <= static_cast<std::size_t>(units_) * kUnit) return;
  close_chunk(false);
  start_chunk(payload + 4);
}

void NativeWriter::write(const capture::Encoder& payload) {
  room_for(payload.size());
  const RecordHeader record{static_cast<std::uint32_t>(payload.size()), crc32c(payload.view().data(), payload.size())};
  chunk_.append(reinterpret_cast<const char*>(&record), sizeof record);
  chunk_ += payload.view();
  chunk_.resize((chunk_.size() + 3) / 4 * 4);
}

ValueId NativeWriter::value(std::string_view encoded) {
  const auto [known, added] = values_.try_emplace(xxh128(encoded), static_cast<ValueId>(values_.size() + 1));
  if (added) {
    capture::Encoder record;
    record.record(Record::kValue);
    record.varint(known->second);
    record.raw(encoded);
    write(record);
    ++header_.values;
  }
  return known->second;
}

void NativeWriter::text(ValueId id, bool has_dict, std::string_view text) {
  payload_.clear();
  payload_.record(Record::kText);
  payload_.varint(id);
  payload_.varint(has_dict ? capture::kTextHasDict : 0);
  payload_.raw(text);
  write(payload_);
}

void NativeWriter::see_thread(std::uint64_t thread) {
  if (lane_->thread == thread) return;
  lane_->thread = thread;
  payload_.clear();
  payload_.record(Record::kThread);
  payload_.varint(thread);
  write(payload_);
}

void NativeWriter::see_context(ValueId context) {
  if (lane_->context == context) return;
  payload_.clear();
  payload_.record(Record::kContext);
  payload_.varint(context);
  write(payload_);
  lane_->context = context;
}

void NativeWriter::begin(const NativeCall& call, std::uint64_t ticks) {
  see_thread(call.thread);
  see_context(call.context);
  room_for(64 + call.tensors.size() * 20);
  payload_.clear();
  payload_.record(Record::kBegin);
  payload_.varint(call.seq - lane_->seq);
  payload_.varint(ticks > lane_->ticks ? ticks - lane_->ticks : 0);
  payload_.varint(call.parent == 0 ? 0 : call.seq - call.parent);
  payload_.varint(call.call);
  payload_.varint(call.tensors.size());
  for (const TensorUse& use : call.tensors) {
    payload_.zigzag(static_cast<std::int64_t>(use.id - lane_->tensor));
    payload_.varint(use.version);
    lane_->tensor = use.id;
  }
  lane_->seq = call.seq;
  lane_->ticks = std::max(lane_->ticks, ticks);
  write(payload_);
  ++header_.calls;
  header_.last_ticks = std::max(header_.last_ticks, lane_->ticks);
}

void NativeWriter::end(const NativeCall& call, std::uint64_t ticks) {
  room_for(96 + call.results.size() * 50 + call.writes.size() * 30 + call.frees.size() * 10);
  std::uint64_t flags = (call.thinned ? capture::kEndThinned : 0) | (call.direct ? capture::kEndDirect : 0);
  if (call.error != 0) flags |= capture::kEndError;
  if (call.result != 0) flags |= capture::kEndResult;
  if (!call.writes.empty()) flags |= capture::kEndWrites;
  if (!call.frees.empty()) flags |= capture::kEndFrees;
  payload_.clear();
  payload_.record(Record::kEnd);
  payload_.varint(lane_->seq - call.seq);
  payload_.varint(ticks > lane_->ticks ? ticks - lane_->ticks : 0);
  payload_.varint(flags);
  if (call.error != 0) payload_.varint(call.error);
  if (call.result != 0) {
    payload_.varint(call.result);
    payload_.varint(call.results.size());
    for (const TensorResult& result : call.results) {
      payload_.zigzag(static_cast<std::int64_t>(result.id - lane_->tensor));
      for (const std::uint64_t number : {result.version, result.storage, result.address, result.view_of})
        payload_.varint(number);
      lane_->tensor = result.id;
    }
  }
  if (!call.writes.empty()) {
    payload_.varint(call.writes.size());
    for (const TensorWrite& written : call.writes) {
      payload_.varint(written.slot);
      payload_.varint(written.spec);
      payload_.varint(written.version);
    }
  }
  if (!call.frees.empty()) {
    payload_.varint(call.frees.size());
    for (const std::uint32_t slot : call.frees) payload_.varint(slot);
  }
  lane_->ticks = std::max(lane_->ticks, ticks);
  write(payload_);
  if (call.error != 0) ++header_.errors;
  if (call.thinned) ++header_.calls_thinned;
  header_.last_ticks = std::max(header_.last_ticks, lane_->ticks);
}

void NativeWriter::tensor(const TensorResult& tensor, ValueId spec) {
  payload_.clear();
  payload_.record(Record::kTensor);
  for (const std::uint64_t number : {tensor.id, tensor.version, tensor.storage, tensor.address, tensor.view_of})
    payload_.varint(number);
  payload_.varint(spec);
  write(payload_);
}

void NativeWriter::fact(std::string_view name, std::string_view encoded) {
  payload_.clear();
  payload_.record(Record::kFact);
  payload_.text(name);
  payload_.raw(encoded);
  write(payload_);
}

void NativeWriter::test(std::string_view encoded) {
  payload_.clear();
  payload_.record(Record::kTest);
  payload_.raw(encoded);
  write(payload_);
}

void NativeWriter::note(std::string_view kind, std::string_view text) {
  payload_.clear();
  payload_.record(Record::kNote);
  payload_.text(kind);
  payload_.text(text);
  write(payload_);
}

void NativeWriter::unrecorded(capture::Uncalled reason, ValueId op, std::uint64_t calls) {
  payload_.clear();
  payload_.record(Record::kCount);
  payload_.varint(static_cast<std::uint64_t>(reason));
  payload_.varint(op);
  payload_.varint(calls);
  write(payload_);
}

void NativeWriter::blob(const Hash128& hash, ValueId description, std::string_view bytes) {
  if (!blobs_.insert(hash).second) return;
  payload_.clear();
  payload_.record(Record::kBlob);
  append_hash(payload_, hash);
  payload_.varint(description);
  payload_.raw(bytes);
  write(payload_);
}

void NativeWriter::data(std::uint64_t seq, const TensorData& data) {
  payload_.clear();
  payload_.record(Record::kData);
  payload_.varint(seq);
  payload_.varint(data.slot);
  payload_.varint((data.of_result ? capture::kDataResult : 0) | (data.after ? capture::kDataAfter : 0) |
                  (data.hash ? capture::kDataHash : 0) | (data.sketch != 0 ? capture::kDataSketch : 0));
  if (data.hash) append_hash(payload_, *data.hash);
  if (data.sketch != 0) payload_.varint(data.sketch);
  write(payload_);
}

void NativeWriter::device(std::uint64_t seq, std::string_view encoded) {
  payload_.clear();
  payload_.record(Record::kDevice);
  payload_.varint(seq);
  payload_.raw(encoded);
  write(payload_);
}

Status NativeWriter::finish() {
  close_chunk(true);
  OPWRIGHT_TRY(status_);
  header_.header_crc = crc32c(&header_, offsetof(capture::Header, header_crc));
  std::string page(capture::kHeaderSize, '\0');
  std::memcpy(page.data(), &header_, sizeof header_);
  return output_.overwrite_front(page);
}

}  // namespace opwright::format
