// Typed 32-bit ids of things that live in vectors, and maps keyed by them.

#ifndef LINNET_CORE_BASE_ID_H_
#define LINNET_CORE_BASE_ID_H_

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

namespace linnet {

// `Tag` is any type; two ids with different tags do not mix. A default id is
// invalid.
template <typename Tag>
struct Id {
  int32_t index = -1;

  constexpr bool valid() const { return index >= 0; }
  friend constexpr bool operator==(Id, Id) = default;
  friend constexpr auto operator<=>(Id, Id) = default;
  template <typename H>
  friend H AbslHashValue(H h, Id id) {
    return H::combine(std::move(h), id.index);
  }
  friend std::ostream& operator<<(std::ostream& os, Id id) {
    return os << "#" << id.index;
  }
};

// A vector indexed by one kind of id.
template <typename IdType, typename T>
class IdMap {
 public:
  IdMap() = default;
  IdMap(size_t size, const T& value) : items_(size, value) {}

  IdType push_back(T value) {
    items_.push_back(std::move(value));
    return IdType{static_cast<int32_t>(items_.size()) - 1};
  }
  T& operator[](IdType id) { return items_[static_cast<size_t>(id.index)]; }
  const T& operator[](IdType id) const {
    return items_[static_cast<size_t>(id.index)];
  }
  bool contains(IdType id) const {
    return id.valid() && static_cast<size_t>(id.index) < items_.size();
  }
  int32_t size() const { return static_cast<int32_t>(items_.size()); }
  bool empty() const { return items_.empty(); }
  void resize(size_t size) { items_.resize(size); }
  void reserve(size_t size) { items_.reserve(size); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::vector<T>& items() { return items_; }
  const std::vector<T>& items() const { return items_; }

 private:
  std::vector<T> items_;
};

}  // namespace linnet

#endif  // LINNET_CORE_BASE_ID_H_
