// What all kernels share: the loop over elements, sums over a block, labels.

#ifndef Real
#define Real float
#endif

#define KERNEL extern "C" __global__ void

// for (int i : Grid(n)): this thread's share of 0 … n − 1.  Unsigned within, as i + step may pass INT_MAX.
struct Grid {
  unsigned int n;
  struct Place {
    unsigned int i;
    __device__ int operator*() const { return (int)i; }
    __device__ void operator++() { i += gridDim.x * blockDim.x; }
    __device__ bool operator!=(const Place &end) const { return i < end.i; }
  };
  __device__ explicit Grid(int count) : n((unsigned int)count) {}
  __device__ Place begin() const { return Place{blockIdx.x * blockDim.x + threadIdx.x}; }
  __device__ Place end() const { return Place{n}; }
};

#define MOST_THREADS 256

// The sum of all threads' values, for all of them; `room` is shared and has a place for each thread.
__device__ inline Real block_sum(Real value, Real *room) {
  const int t = threadIdx.x;
  room[t] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) room[t] += room[t + half];
    __syncthreads();
  }
  const Real sum = room[0];
  __syncthreads();
  return sum;
}

__device__ inline Real block_max(Real value, Real *room) {
  const int t = threadIdx.x;
  room[t] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half && !(room[t] >= room[t + half])) room[t] = room[t + half];
    __syncthreads();
  }
  const Real most = room[0];
  __syncthreads();
  return most;
}

// The part of (outer, inner) that a split of a channel sums up, and where in x its element k is.
struct Split {
  int channel, begin, end;
  __device__ Split(int row, int splits, int values) : channel(row / splits) {
    const long long s = row % splits;
    begin = (int)(values * s / splits);
    end = (int)(values * (s + 1) / splits);
  }
};

__device__ inline long long place(int k, int channel, int channels, int inner) {
  return ((long long)(k / inner) * channels + channel) * inner + k % inner;
}

// A label's class, −1 if it is no class.
__device__ inline int class_of(Real label, int classes) {
  return label > -1 && label < classes ? (int)label : -1;
}

__device__ inline bool is_ignored(Real label, int has_ignore, int ignore) {
  return has_ignore && trunc(label) == ignore;
}

__device__ inline Real sign_of(Real x) { return x > 0 ? Real(1) : x < 0 ? Real(-1) : Real(0); }

__device__ inline Real not_a_number() { return Real(0) / Real(0); }

// The windows that see a pixel along an axis, by tap.  Tap k of window o sees pixel o·stride + k·dilation (the padding
// counted in), so if tap k of o does, tap k + stride/d of o − dilation/d does, d being their greatest common divisor.
struct Seen {
  int tap, window;  // of the first; tap is `kernel` if there is none
};

struct Taps {
  int kernel, stride, dilation, tap_step, window_step;
  __device__ Taps(int kernel_, int stride_, int dilation_)
      : kernel(kernel_), stride(stride_), dilation(dilation_) {
    int a = stride, b = dilation;
    while (b) {
      const int rest = a % b;
      a = b;
      b = rest;
    }
    tap_step = stride / a;
    window_step = dilation / a;
  }
  // Divides once: by the stride, for the first tap.
  __device__ Seen of(int pixel) const {
    int window = pixel / stride, rest = pixel - window * stride;
    for (int tap = 0; tap < tap_step && tap < kernel; ++tap) {
      if (rest == 0) return {tap, window};
      rest -= dilation;
      while (rest < 0) {
        rest += stride;
        --window;
      }
    }
    return {kernel, 0};
  }
};
