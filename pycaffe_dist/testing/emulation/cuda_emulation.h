// CUDA's words for g++: a grid runs as a loop over its blocks, and a block as a loop over its threads, forwards or backwards.
// Threads that wait for each other (__syncthreads) have a stack each and take turns from barrier to barrier.

// C's headers alone: those of C++ take longer to compile than the kernels.
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __global__ __attribute__((visibility("hidden")))
#define __device__
#define __launch_bounds__(...)
// Blocks run one after another: what is there is the block's.  Of thread-local memory the loader knows place and size.
#define __shared__ static thread_local

struct Index {
  unsigned int x = 0, y = 0, z = 0;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

enum Outcome { FINE = 0, PARTED = 1, UNEXPECTED_BARRIER = 2, BAD_ACCESS = 3 };

enum { STACK = 64 << 10, MOST_THREADS = 256 };

struct Fiber {
  char *stack;  // from the first turn on, for as long as the process lives
  bool alive;   // it is within live(), at `place`
  bool done;
  jmp_buf place;
};

static Fiber fibers[MOST_THREADS];
static Fiber *current = nullptr;  // whose turn it is; nobody's while threads need not wait
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;  // one launch at a time: what is static here and in the kernels is its
static jmp_buf scheduler, way_out;
static void (*body)(const void *);
static const void *body_data;
static Outcome outcome;
static bool backwards;
static unsigned int interval;  // counts the barriers of a block
static char *launch_frame;     // during a launch: where the stack of the host's thread was

void note_atomic(void *at, unsigned int size);  // of an atomic operation that comes now
void note_fence();
#ifndef CHECK_MEMORY
inline void note_atomic(void *, unsigned int) {}
inline void note_fence() {}
#endif

// The first and the last byte of the library's own variables, and shared memory, from its mark on.
static char *image_begin, *image_end;
static thread_local char shared_mark __attribute__((used));
static size_t before_mark;
static size_t shared_size;

inline char *shared_begin() { return &shared_mark - before_mark; }

inline int look_at_library(struct dl_phdr_info *info, size_t, void *) {
  char *const base = (char *)info->dlpi_addr, *const tls = (char *)info->dlpi_tls_data;
  char *begin = nullptr, *end = nullptr;
  size_t size = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = info->dlpi_phdr[i];
    if (part.p_type == PT_TLS) size = part.p_memsz;
    if (part.p_type != PT_LOAD) continue;
    if (!begin) begin = base + part.p_vaddr;
    end = base + part.p_vaddr + part.p_memsz;
  }
  if (!tls || &shared_mark < tls || &shared_mark >= tls + size) return 0;
  image_begin = begin, image_end = end;
  before_mark = &shared_mark - tls, shared_size = size;
  return 1;
}

// float32 subnormals are zeros on a GPU, as CuPy compiles (-ftz=true); here float64's are, too.
inline unsigned int flush_subnormals() {
#ifdef __SSE__
  const unsigned int before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  return before;
#else
  return 0;
#endif
}

inline void restore_rounding(unsigned int before) {
#ifdef __SSE__
  __builtin_ia32_ldmxcsr(before);
#endif
}

inline void yield() {
  if (_setjmp(current->place) == 0) _longjmp(scheduler, 1);
}

// A fiber does its part of one block after another.
inline void live() {
  for (;;) {
    body(body_data);
    current->done = true;
    yield();
  }
}

// Let a fiber run up to its next barrier, or its end.
inline void turn(Fiber &fiber) {
  current = &fiber;
  if (_setjmp(scheduler) == 0) {
    if (fiber.alive) _longjmp(fiber.place, 1);
    if (!fiber.stack) fiber.stack = (char *)malloc(STACK);
    fiber.alive = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, live, 0);
    setcontext(&context);
  }
  current = nullptr;
}

inline unsigned int nth(unsigned int i, unsigned int count) { return backwards ? count - 1 - i : i; }

// All threads of a block, from barrier to barrier; on a GPU some at one and some at their end may hang.
inline void run_block(unsigned int threads) {
  memset(shared_begin(), 0xFF, shared_size);  // NaN
  for (unsigned int t = 0; t < threads; ++t) fibers[t].done = false;
  for (unsigned int done = 0; done < threads; ++interval) {
    done = 0;
    for (unsigned int i = 0; i < threads; ++i) {
      const unsigned int t = threadIdx.x = nth(i, threads);
      if (!fibers[t].done) turn(fibers[t]);
      done += fibers[t].done;
    }
    if (done && done < threads) outcome = PARTED;
  }
}

inline void run_grid(bool waiting) {
  for (unsigned int b = 0; b < gridDim.x; ++b) {
    blockIdx.x = nth(b, gridDim.x);
    interval = 0;
    if (waiting) {
      run_block(blockDim.x);
      continue;
    }
    for (unsigned int t = 0; t < blockDim.x; ++t) {
      threadIdx.x = nth(t, blockDim.x);
      body(body_data);
    }
  }
}

// Leave the kernel where it is.
inline void give_up(Outcome why) {
  outcome = why;
  current = nullptr;
  for (Fiber &fiber : fibers) fiber.alive = false;
  _longjmp(way_out, 1);
}

template <class Body>
Outcome launch(unsigned int grid, unsigned int block, bool waiting, bool reversed, const Body &kernel) {
  pthread_mutex_lock(&busy);
  const unsigned int rounding = flush_subnormals();
  if (!image_end) dl_iterate_phdr(look_at_library, &shared_mark);
  gridDim.x = grid;
  blockDim.x = block;
  backwards = reversed;
  outcome = FINE;
  body = [](const void *data) { (*static_cast<const Body *>(data))(); };
  body_data = &kernel;
  launch_frame = (char *)__builtin_frame_address(0);
  if (_setjmp(way_out) == 0) run_grid(waiting);
  launch_frame = nullptr;
  const Outcome result = outcome;
  restore_rounding(rounding);
  pthread_mutex_unlock(&busy);
  return result;
}

}  // namespace emulation

inline void __syncthreads() {
  if (emulation::current)
    emulation::yield();
  else
    emulation::outcome = emulation::UNEXPECTED_BARRIER;
}

inline void __threadfence() { emulation::note_fence(); }

__attribute__((no_sanitize("thread"))) inline unsigned int atomicInc(unsigned int *at, unsigned int last) {
  emulation::note_atomic(at, sizeof(int));
  const unsigned int old = *at;
  *at = old >= last ? 0 : old + 1;
  return old;
}

__attribute__((no_sanitize("thread"))) inline int atomicMax(int *at, int value) {
  emulation::note_atomic(at, sizeof(int));
  const int old = *at;
  if (value > old) *at = value;
  return old;
}
