// Arithmetic of whole arrays, and copies of parts of them.

#include "common.cuh"

KERNEL fill(int n, Real value, Real *y) {
  for (int i : Grid(n)) y[i] = value;
}

KERNEL fill_int(int n, int value, int *y) {
  for (int i : Grid(n)) y[i] = value;
}

KERNEL cast_int(int n, const int *x, Real *y) {
  for (int i : Grid(n)) y[i] = (Real)x[i];
}

KERNEL add(int n, const Real *a, const Real *b, Real *y) {
  for (int i : Grid(n)) y[i] = a[i] + b[i];
}

KERNEL subtract(int n, const Real *a, const Real *b, Real *y) {
  for (int i : Grid(n)) y[i] = a[i] - b[i];
}

KERNEL multiply(int n, const Real *a, const Real *b, Real *y) {
  for (int i : Grid(n)) y[i] = a[i] * b[i];
}

KERNEL scale(int n, Real factor, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = factor * x[i];
}

// y = factor·weight[0]·x
KERNEL scale_by(int n, Real factor, const Real *weight, const Real *x, Real *y) {
  const Real by = factor * weight[0];
  for (int i : Grid(n)) y[i] = by * x[i];
}

// y ← y + factor·x
KERNEL axpy(int n, Real factor, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] += factor * x[i];
}

// y += Σ x[p, i] over the parts, in their order
KERNEL add_parts(int n, int parts, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    Real sum = 0;
    for (int p = 0; p < parts; ++p) sum += x[(long long)p * n + i];
    y[i] += sum;
  }
}

// z = a·x + b·y
KERNEL axpby(int n, Real a, const Real *x, Real b, const Real *y, Real *z) {
  for (int i : Grid(n)) z[i] = a * x[i] + b * y[i];
}

// x: (first, second, inner)  y: (second, first, inner)
KERNEL swap_axes(int n, int first, int second, int inner, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const int k = i % inner, f = i / inner % first, s = i / inner / first;
    y[i] = x[((long long)f * second + s) * inner + k];
  }
}

// y[o, offset + k] = x[o, k]   x: (outer, part)  y: (outer, whole)
KERNEL copy_part(int n, int part, int whole, int offset, const Real *x, Real *y) {
  for (int i : Grid(n)) y[(long long)(i / part) * whole + offset + i % part] = x[i];
}

// y[o, k] = x[o, offset + k]   x: (outer, whole)  y: (outer, part)
KERNEL take_part(int n, int part, int whole, int offset, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = x[(long long)(i / part) * whole + offset + i % part];
}

// y = x[offset : offset + size]   geometry: the sizes of x, those of y, the offsets
KERNEL crop_forward(int n, int axes, const int *geometry, const Real *x, Real *y) {
  const int *bottom = geometry, *top = geometry + axes, *offset = geometry + 2 * axes;
  for (int i : Grid(n)) {
    long long at = 0, step = 1;
    int rest = i;
    for (int a = axes - 1; a >= 0; --a) {
      at += (rest % top[a] + offset[a]) * step;
      step *= bottom[a];
      rest /= top[a];
    }
    y[i] = x[at];
  }
}

// ∂x = ∂y inside of the crop, 0 outside
KERNEL crop_backward(int n, int axes, const int *geometry, const Real *gy, Real *gx) {
  const int *bottom = geometry, *top = geometry + axes, *offset = geometry + 2 * axes;
  for (int i : Grid(n)) {
    long long at = 0, step = 1;
    int rest = i;
    bool inside = true;
    for (int a = axes - 1; a >= 0; --a) {
      const int k = rest % bottom[a] - offset[a];
      inside = inside && k >= 0 && k < top[a];
      at += k * step;
      step *= top[a];
      rest /= bottom[a];
    }
    gx[i] = inside ? gy[at] : Real(0);
  }
}

// y[o, t, k] = x[o, k]
KERNEL tile_forward(int n, int tiles, int inner, const Real *x, Real *y) {
  for (int i : Grid(n)) y[i] = x[i / inner / tiles * inner + i % inner];
}

// ∂x[o, k] = Σₜ ∂y[o, t, k]
KERNEL tile_backward(int n, int tiles, int inner, const Real *gy, Real *gx) {
  for (int i : Grid(n)) {
    const long long first = (long long)(i / inner) * tiles * inner + i % inner;
    Real sum = 0;
    for (int t = 0; t < tiles; ++t) sum += gy[first + (long long)t * inner];
    gx[i] = sum;
  }
}

// y[i] = x[index i], NaN where there is no such row
KERNEL take_rows(int n, int size, int limit, const Real *indices, const Real *x, Real *y) {
  for (int i : Grid(n)) {
    const int row = class_of(indices[i / size], limit);
    y[i] = row < 0 ? not_a_number() : x[(long long)row * size + i % size];
  }
}

// ∂x[index i] += ∂y[i].  A thread owns a column and every parts-th row: sums are made in the items' order.
KERNEL add_rows(int n, int parts, int size, int items, int limit, const Real *indices, const Real *gy, Real *gx) {
  for (int i : Grid(n)) {
    const int column = i % size, part = i / size;
    for (int item = 0; item < items; ++item) {
      const int row = class_of(indices[item], limit);
      if (row >= 0 && row % parts == part)
        gx[(long long)row * size + column] += gy[(long long)item * size + column];
    }
  }
}
