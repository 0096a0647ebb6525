// Convolution without columns: a product of matrices whose right factor is looked up in the image when it is needed.
// A block makes a tile of the product, a thread SIDE × SIDE values of it.  DEPTH rows of both factors are in shared
// memory at a time, and those of the next step are on their way to registers meanwhile.

#include "common.cuh"

// Two blocks have room on a multiprocessor: one computes while the other waits for memory.
#undef KERNEL
#define KERNEL extern "C" __global__ __launch_bounds__(MOST_THREADS, 2) void

#define ACROSS 16  // threads along either side of a tile
#define STAGED 4   // values of a factor that a thread brings for a step

// Read and written in one instruction.
struct alignas(16) Vector {
  static constexpr int LENGTH = 16 / sizeof(Real);
  Real v[LENGTH];
};

template <int SIDE>
struct Tile {
  static constexpr int SIZE = ACROSS * SIDE, DEPTH = MOST_THREADS * STAGED / SIZE;
  // A factor's part of a step.  The four values at the end keep threads of a warp on different banks.
  struct Part {
    Vector lines[DEPTH][(SIZE + 4) / Vector::LENGTH];
    __device__ void put(int depth, int line, Real value) {
      lines[depth][line / Vector::LENGTH].v[line % Vector::LENGTH] = value;
    }
  };
  struct Room {
    Part left, right;
  };
  Real sums[SIDE][SIDE];

  __device__ Tile() {
#pragma unroll
    for (int i = 0; i < SIDE; ++i)
#pragma unroll
      for (int j = 0; j < SIDE; ++j) sums[i][j] = 0;
  }
  // The line of a factor that this thread's i-th row or column is of: vectors of neighbours are neighbours.
  __device__ static int line(int thread, int i) {
    return (i / Vector::LENGTH * ACROSS + thread) * Vector::LENGTH + i % Vector::LENGTH;
  }
  __device__ static int row(int i) { return line(threadIdx.x / ACROSS, i); }
  __device__ static int column(int j) { return line(threadIdx.x % ACROSS, j); }

  __device__ void add(const Room &room) {
    constexpr int VECTORS = SIDE / Vector::LENGTH;
    const int down = threadIdx.x / ACROSS, right = threadIdx.x % ACROSS;
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
      Vector a[VECTORS], b[VECTORS];
#pragma unroll
      for (int v = 0; v < VECTORS; ++v) {
        a[v] = room.left.lines[d][v * ACROSS + down];
        b[v] = room.right.lines[d][v * ACROSS + right];
      }
#pragma unroll
      for (int i = 0; i < SIDE; ++i)
#pragma unroll
        for (int j = 0; j < SIDE; ++j)
          sums[i][j] += a[i / Vector::LENGTH].v[i % Vector::LENGTH] * b[j / Vector::LENGTH].v[j % Vector::LENGTH];
    }
  }

  // Σ left·right over so many steps.  Two rooms take turns, so a barrier in each step is enough.
  template <class Factors>
  __device__ void multiply(int steps, Factors factors, Room *rooms) {
    Real left[STAGED], right[STAGED];
    for (int step = 0; step <= steps; ++step) {
      if (step < steps) factors.fetch(step * DEPTH, left, right);
      if (step > 0) add(rooms[(step - 1) % 2]);
      if (step < steps) factors.put(left, right, rooms[step % 2]);
      __syncthreads();
    }
  }
};

// Tap k of all of a group's channels: what it adds to a window's place in the source, row and column; where its weight is.
struct alignas(16) Tap {
  int offset, row, column, weight;
};

// Of a convolution, or of its gradient.  Position (i, j) of an image is a window that begins at (i·step_h + top,
// j·step_w + left) in the source, and (i·out_step_h + out_top, j·out_step_w + out_left) in the target.
struct alignas(16) Geometry {
  int groups, group_channels;  // of the source
  int channels, height, width;
  int down, across, step_h, step_w, top, left;
  int out_channels, out_height, out_width, out_step_h, out_step_w, out_top, out_left;
  int group_weights, line_weights;  // from a group's weights to the next one's, from a line's to the next one's
};

// Windows by their number: the image, and where in it.
struct Position {
  int image, i, j;
  __device__ Position(int number, const Geometry &g)
      : image(number / (g.down * g.across)), i(number / g.across % g.down), j(number % g.across) {}
};

// The source, from a group's first channel on.
struct Source {
  const Real *values;
  const Tap *taps;
  int height, width;
  __device__ Source(const Geometry &g, const Tap *taps_, const Real *x, int group)
      : values(x + group * g.group_channels * g.height * g.width), taps(taps_), height(g.height), width(g.width) {}
  // What a tap sees of the window that begins at (h, w), which is at `place`.
  __device__ Real seen(int place, int h, int w, int k) const {
    const Tap tap = taps[k];
    const int row = h + tap.row, column = w + tap.column;
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? values[place + tap.offset] : Real(0);
  }
};

// A window of the source.
struct Window {
  int place, h, w;
  __device__ Window(const Position &at, const Geometry &g) : h(at.i * g.step_h + g.top), w(at.j * g.step_w + g.left) {
    place = (at.image * g.channels * g.height + h) * g.width + w;
  }
  __device__ Real seen(const Source &source, int k) const { return source.seen(place, h, w, k); }
};

// Where a thread's values of a factor go if neighbouring threads have neighbouring depths of a line.
template <int SIDE>
struct Along {
  static constexpr int DEPTH = Tile<SIDE>::DEPTH, NEXT = MOST_THREADS / DEPTH;
  __device__ static int depth() { return threadIdx.x % DEPTH; }
  __device__ static int line(int i) { return threadIdx.x / DEPTH + i * NEXT; }
  __device__ static void put(const Real *values, typename Tile<SIDE>::Part &part) {
#pragma unroll
    for (int i = 0; i < STAGED; ++i) part.put(depth(), line(i), values[i]);
  }
};

// Weights times what windows see: a thread has one window, and each NEXT-th of its taps.
template <int SIDE>
struct Convolving {
  typedef Tile<SIDE> T;
  static constexpr int NEXT = MOST_THREADS / T::SIZE, RUNS = T::DEPTH / STAGED;
  const Real *weights;
  int lines, line_step, depth;
  bool packed;  // weights are read by vectors, STAGED of a line by a thread
  Source source;
  Window window;
  bool idle;

  __device__ void fetch(int from, Real *left, Real *right) const {
    if (packed)
      fetch_vectors(from, left);
    else
      fetch_weights(from, left);
#pragma unroll
    for (int i = 0; i < STAGED; ++i) {
      const int k = from + threadIdx.x / T::SIZE + i * NEXT;
      right[i] = idle || k >= depth ? Real(0) : window.seen(source, k);
    }
  }
  __device__ void fetch_vectors(int from, Real *left) const {
    const int line = threadIdx.x / RUNS, k = from + threadIdx.x % RUNS * STAGED;
#pragma unroll
    for (int i = 0; i < STAGED; i += Vector::LENGTH) {
      Vector read = {};
      if (line < lines && k + i < depth) read = *(const Vector *)(weights + line * line_step + k + i);
#pragma unroll
      for (int v = 0; v < Vector::LENGTH; ++v) left[i + v] = read.v[v];
    }
  }
  __device__ void fetch_weights(int from, Real *left) const {
    const int k = from + Along<SIDE>::depth();
#pragma unroll
    for (int i = 0; i < STAGED; ++i) {
      const int line = Along<SIDE>::line(i);
      left[i] = line < lines && k < depth ? weights[line * line_step + source.taps[k].weight] : Real(0);
    }
  }
  __device__ void put(const Real *left, const Real *right, typename T::Room &room) const {
    if (!packed) Along<SIDE>::put(left, room.left);
#pragma unroll
    for (int i = 0; i < STAGED; ++i) {
      if (packed) room.left.put(threadIdx.x % RUNS * STAGED + i, threadIdx.x / RUNS, left[i]);
      room.right.put(threadIdx.x / T::SIZE + i * NEXT, threadIdx.x % T::SIZE, right[i]);
    }
  }
};

// y[group, row, window] = bias[row] + Σ weights[row, tap]·x[what the tap sees], rectified if asked for
template <int SIDE>
__device__ void convolve(int tiles, int rows, int columns, int depth, int packed, int has_bias, int rectify,
                         const int *geometry, const Real *weights, const Real *x, const Real *bias, Real *y) {
  typedef Tile<SIDE> T;
  __shared__ typename T::Room rooms[2];
  const Geometry &g = *(const Geometry *)geometry;
  const Tap *taps = (const Tap *)(&g + 1);
  const int row_tiles = (rows + T::SIZE - 1) / T::SIZE, column_tiles = (columns + T::SIZE - 1) / T::SIZE;
  for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
    const int row = number % row_tiles * T::SIZE, column = number / row_tiles % column_tiles * T::SIZE;
    const int group = number / row_tiles / column_tiles, mine = column + threadIdx.x % T::SIZE;
    const Real *lines = weights + group * g.group_weights + row * g.line_weights;
    T tile;
    tile.multiply((depth + T::DEPTH - 1) / T::DEPTH,
                  Convolving<SIDE>{lines, rows - row, g.line_weights, depth, packed != 0,
                                   Source(g, taps, x, group), Window(Position(mine, g), g), mine >= columns},
                  rooms);
#pragma unroll
    for (int j = 0; j < SIDE; ++j) {
      if (column + T::column(j) >= columns) continue;
      const Position at(column + T::column(j), g);
      const int h = at.i * g.out_step_h + g.out_top, w = at.j * g.out_step_w + g.out_left;
      const int size = g.out_height * g.out_width, place = at.image * g.out_channels * size + h * g.out_width + w;
#pragma unroll
      for (int i = 0; i < SIDE; ++i) {
        const int channel = group * rows + row + T::row(i);
        if (row + T::row(i) < rows)
          y[place + channel * size] = rectified(tile.sums[i][j] + (has_bias ? bias[channel] : Real(0)), rectify);
      }
    }
  }
}

// The gradient of the target times what windows see, over a part of all windows: neighbouring threads have
// neighbouring windows.
template <int SIDE>
struct Weighing {
  typedef Tile<SIDE> T;
  const Geometry &g;
  const Real *gy;
  Source source;
  int lines, taps, first_tap, number, end;
  Position at;

  __device__ void fetch(int from, Real *left, Real *right) {
    const bool idle = number >= end;
    const Window window(at, g);
    const int size = g.down * g.across, pixel = at.i * g.across + at.j;
#pragma unroll
    for (int i = 0; i < STAGED; ++i) {
      const int line = Along<SIDE>::line(i), k = first_tap + line;
      left[i] = idle || line >= lines ? Real(0) : gy[(at.image * g.out_channels + line) * size + pixel];
      right[i] = idle || k >= taps ? Real(0) : window.seen(source, k);
    }
    advance();
  }
  // To the thread's window of the next step
  __device__ void advance() {
    number += T::DEPTH;
    at.j += T::DEPTH;
    while (at.j >= g.across) {
      at.j -= g.across;
      if (++at.i == g.down) {
        at.i = 0;
        ++at.image;
      }
    }
  }
  __device__ void put(const Real *left, const Real *right, typename T::Room &room) const {
    Along<SIDE>::put(left, room.left);
    Along<SIDE>::put(right, room.right);
  }
};

// partial[split, group, row, tap] = Σ ∂y[group, row, window]·x[what the tap sees] over the windows of a split
template <int SIDE>
__device__ void weigh(int tiles, int splits, int rows, int windows, int depth, const int *geometry, const Real *gy,
                      const Real *x, Real *partial) {
  typedef Tile<SIDE> T;
  __shared__ typename T::Room rooms[2];
  const Geometry &g = *(const Geometry *)geometry;
  const Tap *taps = (const Tap *)(&g + 1);
  const int row_tiles = (rows + T::SIZE - 1) / T::SIZE, tap_tiles = (depth + T::SIZE - 1) / T::SIZE;
  for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
    const int row = number % row_tiles * T::SIZE, tap = number / row_tiles % tap_tiles * T::SIZE;
    const int group = number / row_tiles / tap_tiles % g.groups, part = number / row_tiles / tap_tiles / g.groups;
    const Split split(part, splits, windows);
    const int mine = split.begin + Along<SIDE>::depth();
    T tile;
    tile.multiply((split.end - split.begin + T::DEPTH - 1) / T::DEPTH,
                  Weighing<SIDE>{g, gy + (group * rows + row) * g.down * g.across, Source(g, taps, x, group),
                                 rows - row, depth, tap, mine, split.end, Position(mine, g)},
                  rooms);
#pragma unroll
    for (int i = 0; i < SIDE; ++i)
#pragma unroll
      for (int j = 0; j < SIDE; ++j)
        if (row + T::row(i) < rows && tap + T::column(j) < depth)
          partial[((part * g.groups + group) * rows + row + T::row(i)) * depth + tap + T::column(j)] = tile.sums[i][j];
  }
}

#define LARGE (sizeof(Real) == 4 ? 8 : 4)
#define SMALL 4

KERNEL convolve_small(int tiles, int rows, int columns, int depth, int packed, int has_bias, int rectify,
                      const int *geometry, const Real *weights, const Real *x, const Real *bias, Real *y) {
  convolve<SMALL>(tiles, rows, columns, depth, packed, has_bias, rectify, geometry, weights, x, bias, y);
}

KERNEL convolve_large(int tiles, int rows, int columns, int depth, int packed, int has_bias, int rectify,
                      const int *geometry, const Real *weights, const Real *x, const Real *bias, Real *y) {
  convolve<LARGE>(tiles, rows, columns, depth, packed, has_bias, rectify, geometry, weights, x, bias, y);
}

KERNEL weigh_small(int tiles, int splits, int rows, int windows, int depth, const int *geometry, const Real *gy,
                   const Real *x, Real *partial) {
  weigh<SMALL>(tiles, splits, rows, windows, depth, geometry, gy, x, partial);
}

KERNEL weigh_large(int tiles, int splits, int rows, int windows, int depth, const int *geometry, const Real *gy,
                   const Real *x, Real *partial) {
  weigh<LARGE>(tiles, splits, rows, windows, depth, geometry, gy, x, partial);
}
