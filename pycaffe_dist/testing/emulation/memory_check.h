// Who touched which byte of shared memory, and which element of the arrays, in which interval between two barriers.
// g++ calls the functions at the end before every access to memory (-fsanitize=thread); its own library is not used.
//
// Two accesses of different threads to one place are a race if one of them writes, not both are atomic, and
// - shared memory: they are in one interval of one block;
// - arrays: they are in one interval of one block, or in different blocks and not in order.
//
// What a block has done is in order before what another one does if a thread of it, behind a fence, has changed some place
// atomically, and then a thread of the other has, with a fence behind.  Barriers bring in the other threads of both blocks.

#define UNWATCHED __attribute__((no_sanitize("thread")))

namespace emulation {

enum Kind { READ, WRITE, ATOMIC, KINDS };
enum Problem { RACE = 1, OUTSIDE = 2, UNWRITTEN = 3, ENDLESS = 4 };

struct Access {
  unsigned int block;  // counted from 1: 0 is nobody
  unsigned int interval, thread, code;  // code: where in the library, from its beginning
  unsigned int step;                    // counts the accesses of a launch
};

// As much of all accesses of a kind as later ones can be in conflict with: blocks run one after another.
struct History {
  Access one, two;  // of different threads, in the last interval of the last block
  Access earlier;   // of another block
};

struct Cell {
  History of[KINDS];
};

// What a launch may touch: an array, or a variable of shared memory, whose place is counted from the beginning of that.
// In an array of `numbers` one with all bits set was never written.
struct Area {
  char *begin, *end;
  unsigned int element;
  int numbers, shared;
  Cell *cells;
};

struct Report {
  int problem, now_kind, before_kind;
  unsigned int size;
  unsigned long long address, shared;  // shared: where that memory begins
  Access now, before;
};

// A fence, then an atomic operation: what was done before the fence is there for who finds the place changed.
struct Release {
  Access fence;
  char *place;
};

// A release that a thread of the block under way has found, and the fence behind, from which on that counts.
struct Found {
  Release release;
  Access fence;  // its step is 0 until there is one
};

enum { MOST_AREAS = 1024 };

static Area areas[MOST_AREAS];
static int area_count;
static Cell *all_cells;
static size_t cell_room;
static Report report;
static unsigned long long steps, most_steps;

template <class Item>
struct List {
  Item *items;
  size_t count, room;
  UNWATCHED void add(const Item &item) {
    if (count == room) items = (Item *)realloc(items, (room = 2 * room + 64) * sizeof(Item));
    items[count++] = item;
  }
};
static List<Release> releases;
static List<Found> found;                   // by the block `finder`
static unsigned int finder;
static Access fences[MOST_THREADS];         // the last of each thread

UNWATCHED inline size_t cells_of(const Area &area) { return (area.end - area.begin + area.element - 1) / area.element; }

// The arrays of the next launch: it may touch nothing else.
UNWATCHED static void watch(const Area *given, int count, unsigned long long limit) {
  if (!image_end) dl_iterate_phdr(look_at_library, &shared_mark);
  size_t wanted = 0;
  for (int i = 0; i < count; ++i) {
    areas[i] = given[i];
    const size_t place = given[i].shared ? (size_t)shared_begin() : 0;
    areas[i].begin += place, areas[i].end += place;
    wanted += cells_of(areas[i]);
  }
  if (wanted > cell_room) {
    free(all_cells);
    all_cells = (Cell *)malloc(wanted * sizeof(Cell));
    cell_room = wanted;
  }
  memset(all_cells, 0, wanted * sizeof(Cell));
  Cell *next = all_cells;
  for (int i = 0; i < count; next += cells_of(areas[i]), ++i) areas[i].cells = next;
  area_count = count, steps = 0, most_steps = limit;
  releases.count = found.count = finder = 0;
  memset(fences, 0, sizeof(fences));
}

UNWATCHED static void complain(Problem problem, Kind kind, char *at, unsigned int size, const Access &now,
                               Kind before_kind = READ, const Access &before = Access{}) {
  report = Report{problem, kind, before_kind, size, (unsigned long long)at, (unsigned long long)shared_begin(), now,
                  before};
  give_up(BAD_ACCESS);
}

UNWATCHED inline bool sees(const Access &before, const Access &now) {
  return before.thread == now.thread || before.interval < now.interval;
}

UNWATCHED inline bool in_order(const Access &before, const Access &now) {
  for (size_t k = 0; finder == now.block && k < found.count; ++k) {
    const Access &released = found.items[k].release.fence, &fence = found.items[k].fence;
    if (released.block == before.block && before.step <= released.step && sees(before, released) && fence.block &&
        sees(fence, now))
      return true;
  }
  return false;
}

UNWATCHED inline bool clash(const Access &before, const Access &now, bool shared) {
  if (!before.block) return false;
  if (before.block != now.block) return !shared && !in_order(before, now);
  return before.interval == now.interval && before.thread != now.thread;
}

UNWATCHED inline void remember(History &history, const Access &now) {
  if (history.one.block && history.one.block != now.block) history.earlier = history.one;
  if (history.one.block != now.block || history.one.interval != now.interval) {
    history.one = now;
    history.two = Access{};
  } else if (history.one.thread != now.thread) {
    history.two = now;
  }
}

UNWATCHED inline bool written_by(const History &history, unsigned int block, bool shared) {
  return history.one.block && (!shared || history.one.block == block);
}

UNWATCHED static void touch(Cell &cell, Kind kind, char *at, unsigned int size, const Access &now, bool shared) {
  for (int other = 0; other < KINDS; ++other) {
    if (other == kind && kind != WRITE) continue;
    const History &history = cell.of[other];
    const Access *const all[] = {&history.one, &history.two, &history.earlier};
    for (const Access *before : all)
      if (clash(*before, now, shared)) complain(RACE, kind, at, size, now, (Kind)other, *before);
  }
  remember(cell.of[kind], now);
}

// A number that was never written.  Shared memory is so at the beginning of every block.
UNWATCHED static bool unwritten(const Area &area, const Cell &cell, const char *element, unsigned int block) {
  if (written_by(cell.of[WRITE], block, area.shared) || written_by(cell.of[ATOMIC], block, area.shared)) return false;
  if (area.shared) return true;
  if (!area.numbers) return false;
  for (unsigned int k = 0; k < area.element; ++k)
    if (element[k] != (char)0xFF) return false;
  return true;
}

UNWATCHED inline const Area *area_at(const char *at) {
  for (int i = 0; i < area_count; ++i)
    if (at >= areas[i].begin && at < areas[i].end) return &areas[i];
  return nullptr;
}

// A thread's own variables, and those of the emulation
UNWATCHED inline bool is_private(const char *at) {
  if (at >= image_begin && at < image_end) return true;
  if (current && at >= current->stack && at < current->stack + STACK) return true;
  return at >= launch_frame - STACK && at < launch_frame + STACK;
}

UNWATCHED static void check(char *at, unsigned int size, Kind kind, void *caller) {
  if (!launch_frame) return;
  const Access now{blockIdx.x + 1, interval, threadIdx.x, (unsigned int)((char *)caller - image_begin),
                   (unsigned int)steps + 1};
  const Area *area = area_at(at);
  if (!area && is_private(at)) return;
  if (!area || at + size > area->end) complain(OUTSIDE, kind, at, size, now);
  if (++steps > most_steps) complain(ENDLESS, kind, at, size, now);
  const size_t first = (at - area->begin) / area->element, last = (at + size - 1 - area->begin) / area->element;
  for (size_t k = first; k <= last; ++k) {
    Cell &cell = area->cells[k];
    if (kind != WRITE && unwritten(*area, cell, area->begin + k * area->element, now.block))
      complain(UNWRITTEN, kind, at, size, now);
    touch(cell, kind, at, size, now, area->shared);
  }
}

UNWATCHED void note_fence() {
  if (!launch_frame) return;
  const Access now{blockIdx.x + 1, interval, threadIdx.x, 0, (unsigned int)steps};
  fences[now.thread] = now;
  for (size_t k = 0; finder == now.block && k < found.count; ++k)
    if (!found.items[k].fence.block && found.items[k].fence.thread == now.thread) found.items[k].fence = now;
}

UNWATCHED void note_atomic(void *at, unsigned int size) {
  check((char *)at, size, ATOMIC, __builtin_return_address(0));
  const unsigned int block = blockIdx.x + 1, thread = threadIdx.x;
  if (finder != block) finder = block, found.count = 0;
  for (size_t k = 0; k < releases.count; ++k)
    if (releases.items[k].place == at && releases.items[k].fence.block != block)
      found.add({releases.items[k], Access{0, 0, thread, 0, 0}});
  if (fences[thread].block == block) releases.add({fences[thread], (char *)at});
}

}  // namespace emulation

#define VISIBLE extern "C" __attribute__((visibility("default"), no_sanitize("thread")))

VISIBLE void watch_memory(const emulation::Area *given, int count, unsigned long long limit) {
  emulation::watch(given, count, limit);
}
VISIBLE const emulation::Report *bad_access() { return &emulation::report; }

#define HOOK extern "C" UNWATCHED void
#define HOOKS(size)                                                                                               \
  HOOK __tsan_read##size(void *at) { emulation::check((char *)at, size, emulation::READ, __builtin_return_address(0)); } \
  HOOK __tsan_write##size(void *at) { emulation::check((char *)at, size, emulation::WRITE, __builtin_return_address(0)); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
HOOK __tsan_read_range(void *at, unsigned long size) {
  emulation::check((char *)at, (unsigned int)size, emulation::READ, __builtin_return_address(0));
}
HOOK __tsan_write_range(void *at, unsigned long size) {
  emulation::check((char *)at, (unsigned int)size, emulation::WRITE, __builtin_return_address(0));
}
HOOK __tsan_init() {}
HOOK __tsan_func_entry(void *) {}
HOOK __tsan_func_exit() {}
