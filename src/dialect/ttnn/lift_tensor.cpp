#include "dialect/ttnn/lift_tensor.h"

#include <vector>

#include "base/text.h"

namespace opwright {

using namespace lifting;

namespace {

// A zero flag says the same as no flag: older writers do not have it.
bool is_unset_flag(const Value& value) {
  if (const bool* flag = value.as_bool()) return !*flag;
  if (const std::int64_t* number = value.as_int()) return *number == 0;
  return is_nothing(value);
}

Spelled<DType> read_dtype(const Value& value, Lifter& lifter) {
  return read_name(value, [&](std::string_view text) { return lifter.dtype(text); }, "dtype", lifter);
}

std::optional<CoreCoord> read_coord(const Value& value) {
  const Fields* fields = members(value);
  if (fields == nullptr) return std::nullopt;
  const Value* x = find(*fields, "x");
  const Value* y = find(*fields, "y");
  if (x == nullptr || y == nullptr || x->as_int() == nullptr || y->as_int() == nullptr) return std::nullopt;
  return CoreCoord{*x->as_int(), *y->as_int()};
}

std::optional<CoreRange> read_range(const Value& value) {
  if (const List* pair = value.as_list()) {
    if (pair->size() == 1) return read_range(pair->front());
    if (pair->size() != 2) return std::nullopt;
    const auto start = read_coord((*pair)[0]);
    const auto end = read_coord((*pair)[1]);
    if (start && end) return CoreRange{*start, *end};
    return std::nullopt;
  }
  const Fields* fields = members(value);
  if (fields == nullptr) return std::nullopt;
  const Value* start = find(*fields, "start");
  const Value* end = find(*fields, "end");
  if (start == nullptr || end == nullptr) return std::nullopt;
  const auto from = read_coord(*start);
  const auto to = read_coord(*end);
  if (from && to) return CoreRange{*from, *to};
  return std::nullopt;
}

std::optional<std::vector<CoreRange>> read_grid(const Value& spelled, Lifter& lifter) {
  const Value value = lifter.opened(spelled);
  const List* items = value.as_list();
  if (items == nullptr) {
    if (const Struct* s = value.as_struct(); s != nullptr && s->fields.size() == 1 && s->type != "CoreRange") {
      return read_grid(s->fields.front().second, lifter);  // CoreRangeSet(…)
    }
    if (const auto range = read_range(value)) return std::vector<CoreRange>{*range};
    return std::nullopt;
  }
  if (items->size() == 2 && read_coord((*items)[0])) {  // [{x,y},{x,y}]: the two ends of one range
    if (const auto range = read_range(value)) return std::vector<CoreRange>{*range};
    return std::nullopt;
  }
  std::vector<CoreRange> grid;
  for (const Value& item : *items) {
    const auto range = read_range(item);
    if (!range) return std::nullopt;
    grid.push_back(*range);
  }
  return grid;
}

std::optional<ShardSpec> read_shard(const Value& spelled, Lifter& lifter) {
  const Value value = lifter.opened(spelled);
  const Fields* fields = members(value);
  if (fields == nullptr) return std::nullopt;
  ShardSpec spec;
  bool has_shape = false, has_grid = false;
  for (const auto& [name, field] : *fields) {
    if (name == "shape" || name == "shard_shape") {
      if (auto shape = read_shape(field, lifter)) {
        spec.shape = *std::move(shape);
        has_shape = true;
        continue;
      }
    } else if (name == "grid") {
      if (auto grid = read_grid(field, lifter)) {
        spec.grid = *std::move(grid);
        has_grid = true;
        continue;
      }
    } else if (name == "orientation") {
      spec.orientation = read_name(field, parse_orientation, "shard orientation", lifter);
      continue;
    } else if (name == "shard_distribution_strategy" && !name_text(field).empty()) {
      spec.distribution = last_part(name_text(field));
      continue;
    }
    spec.more.emplace_back(name, lifter.lift(field));
  }
  if (!has_shape || !has_grid) return std::nullopt;
  return spec;
}

void read_shard_field(const std::string& name, const Value& field, std::optional<ShardSpec>& spec, MemoryConfig& config,
                      Lifter& lifter) {
  if (is_nothing(field)) return;
  spec = read_shard(field, lifter);
  if (spec) return;
  const std::string text = field.as_string() != nullptr ? *field.as_string() : to_text(field);
  lifter.unparsed_text(text);
  config.more.emplace_back(name, Value::opaque(name, lifter.without_addresses(text)));
}

void read_memory_field(const Value& field, TensorSpec& spec, Lifter& lifter) {
  if (is_nothing(field)) return;
  const Value lifted = lifter.lift(lifter.opened(field));
  if (const MemoryConfig* memory = lifted.as_memory())
    spec.memory = *memory;
  else
    spec.more.emplace_back("memory_config", lifted);
}

// Faces of 16x16, as many as fit, follow from the tile; anything else is said.
void read_faces(const Fields& tile, TensorSpec& spec, Lifter& lifter) {
  for (const auto& [name, field] : tile) {
    if (name == "tile_shape") continue;
    if (name == "face_shape" && read_shape(field, lifter) == Shape{16, 16}) continue;
    if (name == "num_faces" && field.as_int() != nullptr && spec.tile && spec.tile->size() == 2 &&
        *field.as_int() * 256 == (*spec.tile)[0] * (*spec.tile)[1])
      continue;
    spec.more.emplace_back(name, lifter.lift(field));
  }
}

// PageConfig(config=TilePageConfig(tile=Tile(…))): its type is the layout, which older JSON dropped.
void read_page_config(const Fields& page, TensorSpec& spec, Lifter& lifter) {
  for (const auto& [name, config] : page) {
    const Fields* inner = members(config);
    if (const List* empty = config.as_list(); empty != nullptr && empty->empty()) continue;  // `{}`: it says nothing
    if (name != "config" || inner == nullptr) {
      spec.more.emplace_back("page_config." + name, lifter.lift(config));
      continue;
    }
    if (const Struct* typed = config.as_struct(); typed != nullptr && !spec.layout.present()) {
      if (typed->type == "TilePageConfig")
        spec.layout = {Layout::kTile, {}};
      else if (typed->type == "RowMajorPageConfig")
        spec.layout = {Layout::kRowMajor, {}};
      else
        spec.more.emplace_back("page_config", Value(Enum{"", typed->type}));
    }
    for (const auto& [part, field] : *inner) {
      const Fields* tile = part == "tile" ? members(field) : nullptr;
      if (tile == nullptr) {
        spec.more.emplace_back("page_config." + part, lifter.lift(field));
        continue;
      }
      if (const Value* shape = find(*tile, "tile_shape")) spec.tile = read_shape(*shape, lifter);
      read_faces(*tile, spec, lifter);
    }
  }
}

// `PlacementShard(-2)` -> `Shard(2)` for a tensor of rank 4; `PlacementReplicate()` -> `Replicate`.
std::string placement_dim(std::string_view text, std::size_t rank) {
  if (text.starts_with("Placement")) text.remove_prefix(9);
  if (text.ends_with("()")) text.remove_suffix(2);
  if (text.starts_with("Shard(-") && text.size() == 9 && text.back() == ')') {
    const auto back = static_cast<std::size_t>(text[7] - '0');
    if (back >= 1 && back <= rank) return "Shard(" + std::to_string(rank - back) + ")";
  }
  return std::string(text);
}

// "['PlacementShard(2)', 'PlacementReplicate']"; a text of another form is one dim, as it stands.
std::vector<std::string> placement_dims(std::string_view text, std::size_t rank) {
  std::vector<std::string> dims;
  std::size_t at = 0;
  while ((at = text.find('\'', at)) != std::string_view::npos) {
    const std::size_t end = text.find('\'', at + 1);
    if (end == std::string_view::npos) break;
    dims.push_back(placement_dim(text.substr(at + 1, end - at - 1), rank));
    at = end + 1;
  }
  if (dims.empty() && text != "[]") dims.emplace_back(text);
  return dims;
}

// `keep_rest`: fields besides the placement's own belong to it and are kept; else they are the tensor's.
void read_placement(const Fields& fields, TensorSpec& spec, Lifter& lifter, bool keep_rest = true) {
  Placement placement;
  const std::size_t rank = spec.shape.size();
  for (const auto& [name, field] : fields) {
    if (name == "placement" || name == "placements") {
      if (const std::string* text = field.as_string()) placement.dims = placement_dims(*text, rank);
      const List* list = field.as_list();
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        const std::string* dim = (*list)[i].as_string();
        placement.dims.push_back(dim != nullptr ? placement_dim(*dim, rank) : to_text((*list)[i]));
      }
    } else if (name == "distribution_shape" || name == "mesh_device_shape" || (keep_rest && name == "shape")) {
      auto read = read_shape(field, lifter);
      Shape& shape = name == "distribution_shape" ? placement.distribution : placement.mesh;
      if (read)
        shape = *std::move(read);
      else if (!is_nothing(field))
        spec.more.emplace_back("placement." + name, lifter.lift(field));
    } else if (keep_rest && name != "device_ids") {
      spec.more.emplace_back("placement." + name, lifter.lift(field));
    }
  }
  if (placement.mesh.size() != 2) {  // on the host: what the distribution implies
    if (placement.distribution.size() == 2) placement.mesh = placement.distribution;
    if (placement.distribution.size() == 1) placement.mesh = {1, placement.distribution[0]};
  }
  if (!placement.dims.empty() || !placement.distribution.empty() || !placement.mesh.empty())
    spec.placement = std::move(placement);
}

}  // namespace

MemoryConfig read_memory(const Fields& fields, Lifter& lifter) {
  MemoryConfig config;
  for (const auto& [name, field] : fields) {
    if (name == "memory_layout") {
      config.layout = read_name(field, parse_memory_layout, "memory layout", lifter);
    } else if (name == "buffer_type") {
      config.buffer = read_name(field, parse_buffer_type, "buffer type", lifter);
    } else if (name == "shard_spec") {
      read_shard_field(name, field, config.shard, config, lifter);
    } else if (name == "nd_shard_spec") {
      read_shard_field(name, field, config.nd_shard, config, lifter);
    } else if (name == "hash" || name == "type" || name == "__type__" || name == "is_sharded" ||
               name == "interleaved") {
      continue;  // a hash of one build, and what follows from the layout
    } else if (!is_unset_flag(field)) {
      config.more.emplace_back(name, lifter.lift(field));
    }
  }
  return config;
}

TensorSpec read_cpp_tensor(const Fields& fields, Lifter& lifter) {
  TensorSpec spec;
  // Tensor(storage, tensor_spec(logical_shape, tensor_layout(dtype, page_config, memory_config, alignment))) or flat.
  const auto read = [&](const auto& self, const Fields& level) -> void {
    for (const auto& [name, field] : level) {
      const Fields* inner = members(field);
      if ((name == "tensor_spec" || name == "tensor_layout") && inner != nullptr) {
        self(self, *inner);
      } else if (name == "logical_shape" || name == "shape") {
        if (auto shape = read_shape(field, lifter)) {
          spec.shape = *std::move(shape);
          spec.has_shape = true;
        } else {
          spec.more.emplace_back(name, lifter.lift(field));
        }
      } else if (name == "dtype") {
        spec.dtype = read_dtype(field, lifter);
      } else if (name == "layout") {
        spec.layout = read_name(field, parse_layout, "layout", lifter);
      } else if (name == "storage_type") {
        spec.storage = read_name(field, parse_storage_type, "storage type", lifter);
      } else if (name == "memory_config") {
        read_memory_field(field, spec, lifter);
      } else if (name == "page_config" && inner != nullptr) {
        read_page_config(*inner, spec, lifter);
      } else if (name == "alignment") {
        if (auto alignment = read_shape(field, lifter)) {
          spec.more.emplace_back("alignment", numbers(*alignment));
        } else {
          spec.more.emplace_back("alignment", lifter.lift(field));
        }
      } else if (name == "storage") {  // DeviceStorage(), HostStorage(): the type says where, its members are handles
        if (const Struct* typed = field.as_struct(); typed != nullptr && !spec.storage.present()) {
          if (typed->type == "DeviceStorage")
            spec.storage = {StorageType::kDevice, {}};
          else if (typed->type == "HostStorage")
            spec.storage = {StorageType::kHost, {}};
          else
            spec.more.emplace_back("storage", Value(Enum{"", typed->type}));
        }
      } else {
        spec.more.emplace_back(name, lifter.lift(field));
      }
    }
  };
  read(read, fields);
  return spec;
}

TensorSpec read_python_tensor(std::string type, const Fields& fields, Lifter& lifter) {
  TensorSpec spec;
  spec.type = std::move(type);
  const Value* original = find(fields, "original_shape");
  const Value* shape = original != nullptr ? original : find(fields, "shape");
  if (shape != nullptr) {
    if (auto read = read_shape(*shape, lifter)) {
      spec.shape = *std::move(read);
      spec.has_shape = true;
    }
  }
  const bool has_values = find(fields, "values") != nullptr;
  const Value* original_dtype = find(fields, "original_dtype");
  for (const auto& [name, field] : fields) {
    const Fields* inner = members(field);
    if (name == "original_shape" || name == "type" || name == "__type__" || name == "values") {
      if (name == "original_shape" && !spec.has_shape) spec.more.emplace_back(name, lifter.lift(field));
    } else if (name == "shape") {
      // With values, shape and dtype describe the copy on the host, not the tensor.
      if (has_values) continue;
      auto read = read_shape(field, lifter);
      if (!read)
        spec.more.emplace_back(name, lifter.lift(field));  // no list of numbers: kept as it is
      else if (original != nullptr && *read != spec.shape)
        spec.device_shape = *std::move(read);
    } else if (name == "original_dtype" || (name == "dtype" && original_dtype == nullptr)) {
      spec.dtype = read_dtype(field, lifter);
    } else if (name == "dtype") {
      const Spelled<DType> device = lifter.dtype(name_text(field));
      if (!has_values && !(device == lifter.dtype(name_text(*original_dtype))))
        spec.more.emplace_back("device_dtype", lifter.lift(field));
    } else if (name == "layout") {
      spec.layout = read_name(field, parse_layout, "layout", lifter);
    } else if (name == "storage_type") {
      spec.storage = read_name(field, parse_storage_type, "storage type", lifter);
    } else if (name == "tile" && read_shape(field, lifter)) {  // native traces: a tile other than 32x32
      spec.tile = read_shape(field, lifter);
    } else if (name == "memory_config") {
      read_memory_field(field, spec, lifter);
    } else if ((name == "tensor_placement" || name == "mesh_device") && inner != nullptr) {
      read_placement(*inner, spec, lifter);
    } else if (name == "tensor_id" || name == "is_allocated" || name == "device_id" || name == "mesh_coords" ||
               name == "mesh_shape" || name == "distribution_shape" || name == "placements" || name == "address") {
      // Python records of a graph report spread the placement over the tensor's own fields; ids are no configuration.
      if (name == "placements") {
        read_placement(fields, spec, lifter, false);
        if (const Value* mesh = find(fields, "mesh_shape"); mesh != nullptr && spec.placement) {
          if (auto read = read_shape(*mesh, lifter)) spec.placement->mesh = *std::move(read);
        }
      }
    } else if (!is_nothing(field)) {
      spec.more.emplace_back(name, lifter.lift(field));
    }
  }
  return spec;
}

}  // namespace opwright
