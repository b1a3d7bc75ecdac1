// One row per parameter: GObject properties, command-line flags, documentation and tests are all made from
// these rows.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace quietframe {

enum class ParamType { Int, Float, Bool, Enum };

/// One value of an enumeration parameter, in the order of the C++ enumerators (which count from 0).
struct Choice {
  const char* nick;   ///< what the user types
  const char* blurb;  ///< what it means
};

/// A parameter of a filter (or of every filter): where it lives in its struct, and all that users are told of
/// it.
struct ParamInfo {
  const char* name;   ///< kebab-case, without the filter's name
  const char* unit;   ///< "levels" is the 8-bit scale 0..255 whatever the depth; "" has no unit
  const char* blurb;  ///< one sentence
  ParamType type;
  std::size_t offset;  ///< bytes into the standard-layout struct
  double minimum, maximum, default_value;
  std::span<const Choice> choices;  ///< Enum only

  void set(void* params, double value) const {
    auto* p = static_cast<std::byte*>(params) + offset;
    if (type == ParamType::Float) {
      const auto v = static_cast<float>(value);
      std::memcpy(p, &v, sizeof v);
    } else if (type == ParamType::Bool) {
      const bool v = value != 0;
      std::memcpy(p, &v, sizeof v);
    } else {
      const auto v = static_cast<int>(value);
      std::memcpy(p, &v, sizeof v);
    }
  }
  double get(const void* params) const {
    const auto* p = static_cast<const std::byte*>(params) + offset;
    if (type == ParamType::Float) {
      float v;
      std::memcpy(&v, p, sizeof v);
      return static_cast<double>(v);
    }
    if (type == ParamType::Bool) {
      bool v;
      std::memcpy(&v, p, sizeof v);
      return v ? 1 : 0;
    }
    int v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
};

template <class T>
constexpr ParamType param_type_of() {
  if constexpr (std::is_same_v<T, int>)
    return ParamType::Int;
  else if constexpr (std::is_same_v<T, float>)
    return ParamType::Float;
  else if constexpr (std::is_same_v<T, bool>)
    return ParamType::Bool;
  else {
    static_assert(std::is_enum_v<T> && std::is_same_v<std::underlying_type_t<T>, int>,
                  "parameters are int, float, bool or an enum class of int");
    return ParamType::Enum;
  }
}

/// A row for a number or a switch. The default is read from the struct's own initialiser, so it is written
/// once.
#define QF_PARAM(Struct, field, name, unit, min, max, blurb)                                                 \
  ::quietframe::ParamInfo {                                                                                  \
    name, unit, blurb, ::quietframe::param_type_of<decltype(Struct::field)>(), offsetof(Struct, field), min, \
        max, static_cast<double>(Struct{}.field), {}                                                         \
  }

/// A row for an enumeration; `table` is a constexpr array of Choice in the order of the enumerators.
#define QF_PARAM_ENUM(Struct, field, name, table, blurb)                                                  \
  ::quietframe::ParamInfo {                                                                               \
    name, "", blurb, ::quietframe::ParamType::Enum, offsetof(Struct, field), 0,                           \
        static_cast<double>(std::size(table) - 1), static_cast<double>(static_cast<int>(Struct{}.field)), \
        table                                                                                             \
  }

}  // namespace quietframe
