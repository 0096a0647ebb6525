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

// Whether this block is the last of `count` to come here, by a ticket that is 0 before and afterwards: all of its threads
// then see what the others' first threads have written.  Between two calls threads have to wait for each other.
__device__ inline bool is_last(unsigned int *ticket, int count) {
  __shared__ int last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(ticket, (unsigned int)count - 1) == (unsigned int)count - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

// Σ partial, always in the same order, for all threads of a block.
__device__ inline Real sum_of(const Real *partial, int count, Real *room) {
  Real sum = 0;
  for (int k = threadIdx.x; k < count; k += blockDim.x) sum += partial[k];
  return block_sum(sum, room);
}

// The last of a channel's splits adds them up: y ← keep·y + scale·Σ partial.
__device__ inline void finish_sums(int channel, int splits, Real scale, Real keep, Real *partial,
                                   unsigned int *tickets, Real *y, Real *room) {
  if (!is_last(tickets + channel, splits)) return;
  const Real sum = sum_of(partial + (long long)channel * splits, splits, room);
  if (threadIdx.x == 0) y[channel] = scale * sum + (keep != 0 ? keep * y[channel] : Real(0));
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

// 1 where x > 0, `below` where x ≤ 0, 0 for NaN, as Caffe's sum has it: NaN where `below` is not finite
__device__ inline Real slope_at(Real x, Real below) { return Real(x > 0) + below * Real(x <= 0); }

// The larger and the smaller one; NaN if either is.
__device__ inline Real larger(Real a, Real b) { return a != a || a > b ? a : b; }
__device__ inline Real smaller(Real a, Real b) { return a != a || a < b ? a : b; }

// max(0, x) if `rectify`, and x else; of −∞ it is NaN, as in Caffe's sum
__device__ inline Real rectified(Real x, int rectify) { return rectify ? larger(x, 0) + 0 * smaller(x, 0) : x; }

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
