// SPDX-License-Identifier: MIT
// Untouched C++ for the pass.
#include "truth.h"

#include <cstdint>

namespace shape {

static int calls;

struct Base {
  virtual ~Base() = default;
  int id = 0;
};

class Square : public Base {
 public:
  explicit Square(int side) : side_(side) { id = side * 10; }
  int Grow(const Square &other, int &amount);

 private:
  int side_;
};

int Square::Grow(const Square &other, int &amount) {
  TRUTH("feat:method: base=%d own=%d other=%d by_ref=%d\n", id, side_, other.side_, amount);
  side_ += amount;
  amount = other.side_;
  return side_;
}

__attribute__((noinline)) int MayThrow(int n) {
  calls++;
  if (n % 3 == 2) throw n;
  return n * 5;
}

int Try(int n) {
  try {
    int result = MayThrow(n);
    return result + 1;
  } catch (int caught) {
    return -caught;
  }
}

}  // namespace shape

template <typename T>
static T Scale(T value, unsigned size) {
  T result = static_cast<T>(value * static_cast<T>(size));
  TRUTH("feat:instance: size=%u value=%lld\n", size, static_cast<long long>(result));
  return result;
}

int features_cxx(int n) {
  shape::Square a(n), b(n + 2);
  int amount = n + 1;
  int sum = a.Grow(b, amount) + amount;
  sum +=
      static_cast<int>(Scale<int64_t>(n, 3)) + Scale<short>(static_cast<short>(n), 4) + Scale<int>(n - 5, 2);
  if (n % 3 != 2) TRUTH("feat:thrown: result=%d calls=%d\n", n * 5, shape::calls + 1);
  return sum + shape::Try(n);
}
