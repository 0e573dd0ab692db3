#include "format/native/call_text.h"

#include <fmt/format.h>

#include "dialect/aten/aten.h"
#include "format/native/made_text.h"

namespace opwright::format {
namespace {

using capture::Tag;

constexpr std::size_t kLongest = 96;  // bytes of an object's text

std::string member(const NativeValue* value) {  // TILE of Layout.TILE
  if (value == nullptr || value->is_null()) return "";
  return value->is(Tag::kEnum) ? std::string(value->text) : made_text(*value);
}

std::string shape_text(const NativeValue* shape) {
  if (shape == nullptr || !shape->is_list()) return "[?]";
  std::string text = "[";
  for (const NativeValue* dim : shape->items) {
    if (text.size() > 1) text += ',';
    text += made_text(*dim);
  }
  return text + "]";
}

Shape numbers_of(const NativeValue* list) {
  Shape numbers;
  for (std::size_t i = 0; list != nullptr && list->is_list() && i < list->items.size(); ++i)
    numbers.push_back(list->items[i]->number);
  return numbers;
}

std::string shortened(std::string text) {
  if (text.size() <= kLongest) return text;
  std::size_t cut = kLongest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return text.substr(0, cut) + "…";
}

std::string memory_text(const NativeValue& config) {
  std::string text = member(config.find("buffer_type")) + " " + member(config.find("memory_layout"));
  const NativeValue* shard = config.find("shard_spec");
  if (shard == nullptr || shard->is_null()) shard = config.find("nd_shard_spec");
  if (shard == nullptr || !shard->is(Tag::kStruct)) return text;
  const NativeValue* shape = shard->find("shape");
  return text + " shard " + shape_text(shape != nullptr ? shape : shard->find("shard_shape"));
}

std::string spec_text(const NativeValue& spec) {
  if (!spec.is(Tag::kStruct)) return made_text(spec);
  std::string text;
  if (spec.type != "ttnn.Tensor") text = std::string(spec.type) + " ";
  text += shape_text(spec.find("shape"));
  const auto add = [&text](const std::string& word) {
    if (!word.empty()) text += " " + word;
  };
  add(member(spec.find("dtype")));
  add(member(spec.find("layout")));
  const std::string storage = member(spec.find("storage_type"));
  const NativeValue* memory = spec.find("memory_config");
  if (storage == "HOST")
    add(storage);
  else if (memory != nullptr && memory->is(Tag::kStruct))
    add(memory_text(*memory));
  if (const NativeValue* strides = spec.find("strides"); strides != nullptr && strides->is_list()) {
    if (!is_contiguous(numbers_of(spec.find("shape")), numbers_of(strides))) add("strides " + shape_text(strides));
  }
  if (const NativeValue* device = spec.find("device"); device != nullptr && device->is(Tag::kString))
    add(std::string(device->text));
  return text;
}

class Line {
 public:
  Line(NativeTrace& trace, const NativeCall& call) : trace_(trace), call_(call) {}

  std::string text() {
    const NativeValue* value = trace_.values().call(call_.call);
    if (value == nullptr) return "? (its value is not in the file)";
    out_ = std::string(value->text) + "(";
    for (std::size_t i = 0; i < value->items.size(); ++i) {
      if (i > 0) out_ += ", ";
      if (i >= value->positional) {
        out_ += value->names[i - value->positional];
        out_ += '=';
      }
      append(*value->items[i]);
    }
    out_ += ')';
    append_end();
    return std::move(out_);
  }

 private:
  void append_end() {
    if (!call_.finished) {
      out_ += " … never ended";
    } else if (call_.raised()) {
      const NativeValue* error = trace_.values().value(call_.error);
      const std::string_view type = error != nullptr ? text_of(error->find("type")) : "?";
      std::string message(error != nullptr ? text_of(error->find("message")) : std::string_view());
      for (char& c : message) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
      }
      out_ += fmt::format(" raised {}: {}", type, shortened(std::move(message)));
    } else if (const NativeValue* result = call_.result != 0 ? trace_.values().value(call_.result) : nullptr) {
      out_ += " -> ";
      in_result_ = true;
      slot_ = 0;
      append(*result);
    }
    for (const TensorWrite& write : call_.writes) out_ += fmt::format(" writes {}", id_of(write.slot));
    for (const std::uint32_t slot : call_.frees) out_ += fmt::format(" frees {}", id_of(slot));
  }

  // ~ marks an identity that was inferred, and ? one that is not known.
  std::string shown(std::uint64_t id) const {
    const bool recorded = trace_.flow().edges == DataFlow::kRecorded;
    return recorded ? fmt::format("#{}", id) : id == 0 ? "#?" : fmt::format("~{}", id);
  }

  std::string id_of(std::size_t slot) const {
    return slot < call_.tensors.size() ? shown(call_.tensors[slot].id) : "#?";
  }

  void append(const NativeValue& value) {
    switch (value.tag) {
      case Tag::kTensor: {
        const std::size_t slot = slot_++;
        if (!in_result_)
          out_ += id_of(slot);
        else
          out_ += slot < call_.results.size() ? shown(call_.results[slot].id) : "#?";
        out_ += " " + spec_text(*value.items[0]);
        return;
      }
      case Tag::kList:
      case Tag::kTuple:
        out_ += value.is(Tag::kList) ? '[' : '(';
        for (std::size_t i = 0; i < value.items.size(); ++i) {
          if (i > 0) out_ += ", ";
          append(*value.items[i]);
        }
        out_ += value.is(Tag::kList) ? ']' : ')';
        return;
      case Tag::kDict:
        out_ += '{';
        for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
          if (i > 0) out_ += ", ";
          out_ += made_text(*value.items[i]) + ": ";
          append(*value.items[i + 1]);
        }
        out_ += '}';
        return;
      case Tag::kStruct:
        if (value.type == "MemoryConfig")
          out_ += memory_text(value);
        else if (value.type == "torch.Tensor" || value.type == "numpy.ndarray")
          out_ += spec_text(value);
        else
          out_ += shortened(object_text(value));
        return;
      case Tag::kEnum:
        out_ += value.text;
        return;
      case Tag::kString:
        out_ += '"' + shortened(std::string(value.text)) + '"';
        return;
      default:
        out_ += shortened(made_text(value));
    }
  }

  std::string object_text(const NativeValue& value) const {
    const PrintedText* printed = value.id != 0 ? trace_.values().printed(value.id) : nullptr;
    if (printed == nullptr) return made_text(value);
    // An address tells a reader nothing; the fields do.
    const bool is_address = printed->text.find(" at 0x") != std::string_view::npos;
    return is_address && !value.items.empty() ? made_text(value) : std::string(printed->text);
  }

  NativeTrace& trace_;
  const NativeCall& call_;
  std::string out_;
  bool in_result_ = false;
  std::size_t slot_ = 0;
};

}  // namespace

std::string call_text(NativeTrace& trace, const NativeCall& call) { return Line(trace, call).text(); }

}  // namespace opwright::format
