#include "device/external/shared_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/input.h"

namespace opwright {
namespace {

constexpr std::size_t kGuard = 64;  // bytes before and behind every tensor, and what offsets are multiples of
constexpr std::byte kGuardByte{0xA5};
constexpr std::uint32_t kPoison = 0xFFA5C3E1;          // as a float a NaN that no arithmetic makes
constexpr std::size_t kKeep = std::size_t{256} << 20;  // a file beyond is given back after its request
constexpr std::size_t kMost = std::size_t{1} << 38;

std::size_t element_size(std::string_view type) { return type == "u8" ? 1 : type == "u16" ? 2 : 4; }

// The poison's bytes as an element of that size.
template <class T>
T poison() {
  T out;
  std::memcpy(&out, &kPoison, sizeof out);
  return out;
}

template <class T, class From>
void store_values(std::byte* at, const std::vector<From>& values) {
  if constexpr (std::is_same_v<T, From>) {
    if (!values.empty()) std::memcpy(at, values.data(), values.size() * sizeof(T));  // of none, data() may be null
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T one = static_cast<T>(values[i]);
      std::memcpy(at + i * sizeof(T), &one, sizeof one);
    }
  }
}

// Fills `values`, and counts the elements that nobody wrote.
template <class T, class To>
std::size_t load_values(const std::byte* at, std::vector<To>& values) {
  std::size_t untouched = 0;
  const T unwritten = poison<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    T one;
    std::memcpy(&one, at + i * sizeof(T), sizeof one);
    untouched += std::memcmp(&one, &unwritten, sizeof one) == 0 ? 1U : 0U;
    values[i] = static_cast<To>(one);
  }
  // Small integers may be what the poison looks like: only a whole output of it was not written.
  if constexpr (sizeof(T) < sizeof(kPoison)) return untouched == values.size() ? untouched : 0;
  return untouched;
}

Hash128 hash_of(std::span<const std::byte> bytes) {
  return xxh128({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string_view element_type(DType dtype) {
  switch (dtype) {
    case DType::kInt32:
      return "i32";
    case DType::kUint32:
      return "u32";
    case DType::kUint16:
      return "u16";
    case DType::kUint8:
      return "u8";
    default:
      return "f32";
  }
}

SharedData::~SharedData() { release(); }

void SharedData::release() {
  if (mapped_ != nullptr) munmap(mapped_, size_);
  if (file_ >= 0) close(file_);
  mapped_ = nullptr;
  file_ = -1;
  size_ = 0;
}

Status SharedData::make_room(std::size_t bytes) {
  if (size_ > kKeep && bytes <= kKeep) release();
  if (bytes <= size_) return {};
  release();
  // Room to grow, so that most requests find the file as it is and the program need not map it again.
  const std::size_t wanted = std::max<std::size_t>(bytes <= kKeep / 2 ? 2 * bytes : bytes, std::size_t{1} << 20);
  file_ = memfd_create("opwright-tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file_ < 0) return fail(ErrorCode::kIo, fmt::format("no shared memory: {}", system_message(errno)));
  if (ftruncate(file_, static_cast<off_t>(wanted)) != 0)
    return fail(ErrorCode::kIo, fmt::format("no {} bytes of shared memory: {}", wanted, system_message(errno)));
  // A program that made the file shorter would take our mapping from under us: SIGBUS.
  if (fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail(ErrorCode::kIo, fmt::format("shared memory cannot be sealed: {}", system_message(errno)));
  void* mapped = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED)
    return fail(ErrorCode::kIo, fmt::format("no {} bytes of shared memory: {}", wanted, system_message(errno)));
  mapped_ = static_cast<std::byte*>(mapped);
  size_ = wanted;
  path_ = fmt::format("/proc/{}/fd/{}", getpid(), file_);
  return {};
}

Status SharedData::fill(std::span<const HostTensor> inputs, std::span<const TensorSpec> outputs) {
  inputs_.clear();
  outputs_.clear();
  used_ = kGuard;
  const auto place = [&](const TensorSpec& spec) -> SharedPlace {
    const std::string_view type = element_type(spec.dtype.value);
    const SharedPlace out{used_, static_cast<std::size_t>(volume(spec.shape)) * element_size(type), type};
    used_ = (out.offset + out.bytes + kGuard + kGuard - 1) / kGuard * kGuard;
    return out;
  };
  for (const HostTensor& input : inputs) inputs_.push_back(place(input.spec));
  for (const TensorSpec& output : outputs) outputs_.push_back(place(output));
  if (used_ > kMost)
    return fail(ErrorCode::kUnsupported, fmt::format("{} bytes of tensors are more than any memory", used_));
  OPWRIGHT_TRY(make_room(used_));
  std::size_t at = 0;
  const auto guard_until = [&](std::size_t end) { std::memset(mapped_ + at, static_cast<int>(kGuardByte), end - at); };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [offset, bytes, type] = inputs_[i];
    guard_until(offset);
    if (type == "f32") store_values<float>(mapped_ + offset, inputs[i].floats);
    if (type == "i32") store_values<std::int32_t>(mapped_ + offset, inputs[i].ints);
    if (type == "u32") store_values<std::uint32_t>(mapped_ + offset, inputs[i].ints);
    if (type == "u16") store_values<std::uint16_t>(mapped_ + offset, inputs[i].ints);
    if (type == "u8") store_values<std::uint8_t>(mapped_ + offset, inputs[i].ints);
    at = offset + bytes;
  }
  for (const auto& [offset, bytes, type] : outputs_) {
    guard_until(offset);
    const std::size_t size = element_size(type);
    for (std::size_t b = 0; b < bytes; b += size) std::memcpy(mapped_ + offset + b, &kPoison, size);
    at = offset + bytes;
  }
  guard_until(used_);
  input_hashes_.clear();
  for (const SharedPlace& input : inputs_) input_hashes_.push_back(hash_of(bytes_of(input)));
  return {};
}

std::string SharedData::touched() const {
  std::size_t at = 0;
  std::string before = "the first tensor";
  const auto check = [&](std::size_t end, const std::string& next) -> std::string {
    for (; at < end; ++at)
      if (mapped_[at] != kGuardByte)
        return fmt::format("the device wrote beside its outputs: byte {} of the file, between {} and {}", at, before,
                           next);
    return "";
  };
  const auto step = [&](const SharedPlace& place, std::string name) {
    std::string found = check(place.offset, name);
    at = place.offset + place.bytes;
    before = std::move(name);
    return found;
  };
  before = "the beginning";
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (std::string found = step(inputs_[i], fmt::format("input {}", i)); !found.empty()) return found;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (hash_of(bytes_of(inputs_[i])) != input_hashes_[i])
      return fmt::format("the device wrote into input {}; what a call changes is an output", i);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (std::string found = step(outputs_[i], fmt::format("output {}", i)); !found.empty()) return found;
  return check(used_, "the end");
}

Result<HostTensor> SharedData::read(std::size_t output, const TensorSpec& spec) const {
  const auto& [offset, bytes, type] = outputs_[output];
  HostTensor out{.spec = spec};
  const std::size_t count = bytes / element_size(type);
  const std::byte* at = mapped_ + offset;
  std::size_t unwritten = 0;
  if (type == "f32") {
    out.floats.resize(count);
    unwritten = load_values<float>(at, out.floats);
  } else {
    out.ints.resize(count);
    if (type == "i32") unwritten = load_values<std::int32_t>(at, out.ints);
    if (type == "u32") unwritten = load_values<std::uint32_t>(at, out.ints);
    if (type == "u16") unwritten = load_values<std::uint16_t>(at, out.ints);
    if (type == "u8") unwritten = load_values<std::uint8_t>(at, out.ints);
  }
  if (count > 0 && unwritten > 0)
    return fail(ErrorCode::kBadInput,
                fmt::format("output {}: {} of {} elements were not written by the device", output, unwritten, count));
  return out;
}

}  // namespace opwright
