/* Work that a thread of its own does later, in the order in which it was given.

   An entry is a list of steps, which its giver keeps until the entry is done. Entries are numbered from 1: `done` is the
   number of the last one that is done, and whoever looks at it and finds a number sees all that the entries up to it
   wrote. A queue without a thread is a counter that others can wait for; its owner moves it on.

   The thread runs steps without Python. A step that calls Python takes Python's lock itself, so whoever waits for a queue
   must not hold that lock. The owner of a queue without a thread can run steps itself, one call at a time.

   This file is compiled to queue.ll, which is what users get: see tools/build_native.py. It includes no headers and relies
   on nothing that differs between Linux and macOS. Locks are opaque and have more room than any system wants. */

typedef int i32;
typedef long long i64;
typedef void run_code(void *pool, void *code, void *args, i64 total, i64 chunk, i64 arena_bytes, void *arena);
typedef i32 call_code(void *argument);

struct instant { i64 seconds, nanoseconds; };
struct lock { _Alignas(64) char bytes[128]; };
struct bell { _Alignas(64) char bytes[128]; };

extern int pthread_create(i64 *thread, const void *options, void *(*code)(void *), void *argument);
extern int pthread_detach(i64 thread);
extern int pthread_mutex_init(struct lock *, const void *options);
extern int pthread_mutex_lock(struct lock *);
extern int pthread_mutex_unlock(struct lock *);
extern int pthread_cond_init(struct bell *, const void *options);
extern int pthread_cond_wait(struct bell *, struct lock *);
extern int pthread_cond_timedwait(struct bell *, struct lock *, const struct instant *);
extern int pthread_cond_signal(struct bell *);
extern int pthread_cond_broadcast(struct bell *);
extern int posix_memalign(void **memory, unsigned long alignment, unsigned long size);
extern void free(void *memory);
extern void *memcpy(void *to, const void *from, unsigned long size);
extern int clock_gettime(int clock, struct instant *);

/* Tells the processor that this is a wait; its code depends on the processor and is added when queue.ll is used. */
extern void tileproof_relax(void);

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_SEQ_CST)
#define ADD(place, value) __atomic_fetch_add(&(place), value, __ATOMIC_SEQ_CST)

enum { WALL_CLOCK = 0, PATIENCE = 20 * 1000 /* nanoseconds */, SLICE = 50 * 1000 * 1000 };
enum kind { RUN, COPY, CALL, TEST };

#define NOBODY 0x7fffffffffffffffll
#define NEVER 0x7fffffffffffffffll

/* RUN: a job of the pool, and where it reports a failed check, if it has any. COPY: `total` bytes from `args` to `code`.
   CALL: a function, which says whether it failed. TEST: fails unless all of `total` words are 0, each `chunk` words after
   the one before, the first at `args`. */
struct step { i64 kind; void *code, *args; i64 total, chunk, arena_bytes; i64 *record; };

struct arena { void *memory; i64 bytes; };

struct queue;
/* Steps, or another queue to wait for. */
struct entry { const struct step *steps; i64 count; struct queue *other; i64 turn; };
/* Entries by number, taken modulo the room. One that is outgrown is kept: the thread may be reading it. */
struct ring { i64 room; struct entry entry[]; };

struct queue {
    _Alignas(128) i64 done;
    i64 failures;  /* steps that failed, ever */
    i64 abandoned; /* whether the process ends: what is not begun is left */
    i64 ended;
    _Alignas(128) i64 given; /* the number of the last entry */
    _Alignas(128) i64 asleep;
    i64 waiting; /* threads that need a signal when an entry is done */
    run_code *run;
    void *pool;
    struct arena arena; /* scratch of whoever runs steps */
    struct ring *ring;
    struct lock bell_lock, door_lock;
    struct bell bell, door;
};

/* Waiting. */

static i64 now(void) {
    struct instant instant;
    clock_gettime(WALL_CLOCK, &instant);
    return instant.seconds * 1000000000 + instant.nanoseconds;
}

/* Whether a counter gets that far within our patience; the clock may have been set back meanwhile. */
static i32 comes_to(i64 *counter, i64 number) {
    i64 start, passed;
    if (LOAD(*counter) >= number) return 1;
    start = now();
    do {
        for (i32 i = 0; i < 16; i++) {
            if (LOAD(*counter) >= number) return 1;
            tileproof_relax();
        }
        passed = now() - start;
    } while (0 <= passed && passed < PATIENCE);
    return 0;
}

/* Waits until an entry is done, at most so long; whether it is. */
i32 tileproof_queue_until(struct queue *queue, i64 turn, i64 nanoseconds) {
    struct instant end;
    i64 last;
    i32 is_late = 0;
    if (comes_to(&queue->done, turn)) return 1;
    last = now() + nanoseconds;
    end.seconds = last / 1000000000;
    end.nanoseconds = last % 1000000000;
    pthread_mutex_lock(&queue->door_lock);
    ADD(queue->waiting, 1);
    while (LOAD(queue->done) < turn && !is_late && !LOAD(queue->ended))
        is_late = pthread_cond_timedwait(&queue->door, &queue->door_lock, &end) != 0;
    ADD(queue->waiting, -1);
    pthread_mutex_unlock(&queue->door_lock);
    return LOAD(queue->done) >= turn;
}

/* Moves the counter on and tells those who wait. */
void tileproof_queue_reach(struct queue *queue, i64 turn) {
    STORE(queue->done, turn);
    if (LOAD(queue->waiting)) {
        pthread_mutex_lock(&queue->door_lock);
        pthread_cond_broadcast(&queue->door);
        pthread_mutex_unlock(&queue->door_lock);
    }
}

/* Working. */

static i32 grow(struct arena *arena, i64 bytes) {
    if (bytes <= arena->bytes) return 1;
    free(arena->memory);
    arena->bytes = posix_memalign(&arena->memory, 64, bytes) == 0 ? bytes : 0;
    if (arena->bytes == 0) arena->memory = 0;
    return arena->bytes != 0;
}

/* Whether a step failed. */
static i32 do_step(struct queue *queue, const struct step *step) {
    struct arena *arena = &queue->arena;
    i64 sum = 0;
    switch (step->kind) {
    case RUN:
        if (!grow(arena, step->arena_bytes)) return 1;
        queue->run(queue->pool, step->code, step->args, step->total, step->chunk, step->arena_bytes, arena->memory);
        return step->record && step->record[1] != NOBODY;
    case COPY: memcpy(step->code, step->args, step->total); return 0;
    case CALL: return ((call_code *)step->code)(step->args);
    case TEST:
        for (i64 i = 0; i < step->total; i++) sum |= ((const i64 *)step->args)[i * step->chunk];
        return sum != 0;
    }
    return 1;
}

static void do_entry(struct queue *queue, const struct entry *entry) {
    if (entry->other)
        while (!LOAD(queue->abandoned) && !tileproof_queue_until(entry->other, entry->turn, SLICE)) {}
    for (i64 i = 0; i < entry->count && !LOAD(queue->abandoned); i++)
        if (do_step(queue, &entry->steps[i])) ADD(queue->failures, 1);
}

/* Runs steps on the thread of the caller, who owns a queue without a thread; how many failed. If none did, the counter
   moves here: a signal that comes after the last step does not undo it. */
i64 tileproof_queue_run(struct queue *queue, run_code *run, void *pool, const struct step *steps, i64 count, i64 turn) {
    i64 failures = 0;
    queue->run = run;
    queue->pool = pool;
    for (i64 i = 0; i < count; i++) failures += do_step(queue, &steps[i]);
    if (!failures) tileproof_queue_reach(queue, turn);
    return failures;
}

/* Sleeps until there is such an entry, or nobody wants it done. */
static void rest(struct queue *queue, i64 turn) {
    pthread_mutex_lock(&queue->bell_lock);
    while (LOAD(queue->given) < turn && !LOAD(queue->abandoned)) {
        STORE(queue->asleep, 1);
        pthread_cond_wait(&queue->bell, &queue->bell_lock);
    }
    STORE(queue->asleep, 0);
    pthread_mutex_unlock(&queue->bell_lock);
}

static void *worker(void *argument) {
    struct queue *queue = argument;
    for (i64 turn = LOAD(queue->done) + 1;; turn++) {
        if (!comes_to(&queue->given, turn)) rest(queue, turn);
        if (LOAD(queue->abandoned)) break;
        /* The ring is asked for behind the number: it holds the entry, or is a larger one that it was copied to. */
        struct ring *ring = LOAD(queue->ring);
        struct entry entry = ring->entry[turn % ring->room];
        do_entry(queue, &entry);
        if (LOAD(queue->abandoned)) break;
        tileproof_queue_reach(queue, turn);
    }
    free(queue->arena.memory);
    pthread_mutex_lock(&queue->door_lock);
    STORE(queue->ended, 1);
    pthread_cond_broadcast(&queue->door);
    pthread_mutex_unlock(&queue->door_lock);
    return 0;
}

/* Giving. */

static struct ring *new_ring(i64 room) {
    void *memory;
    if (posix_memalign(&memory, 64, sizeof(struct ring) + room * sizeof(struct entry)) != 0) return 0;
    struct ring *ring = memory;
    ring->room = room;
    return ring;
}

/* Takes an entry; its number, or 0 if there is no memory. */
static i64 give(struct queue *queue, struct entry entry) {
    i64 turn = 0, asleep = 0;
    pthread_mutex_lock(&queue->bell_lock);
    struct ring *ring = queue->ring;
    i64 done = LOAD(queue->done);
    if (queue->given - done + 1 >= ring->room) {
        struct ring *larger = new_ring(ring->room * 2);
        if (!larger) goto out;
        for (i64 i = done; i <= queue->given; i++) larger->entry[i % larger->room] = ring->entry[i % ring->room];
        STORE(queue->ring, larger);
        ring = larger;
    }
    turn = queue->given + 1;
    ring->entry[turn % ring->room] = entry;
    STORE(queue->given, turn);
    asleep = LOAD(queue->asleep);
out:
    pthread_mutex_unlock(&queue->bell_lock);
    if (asleep) pthread_cond_signal(&queue->bell); /* behind the lock, or who wakes would wait for that */
    return turn;
}

/* Has the steps done after all that was given before. */
i64 tileproof_queue_push(struct queue *queue, const struct step *steps, i64 count) {
    return give(queue, (struct entry){steps, count, 0, 0});
}

/* Has all that is given later wait for an entry of another queue. */
i64 tileproof_queue_wait(struct queue *queue, struct queue *other, i64 turn) {
    return give(queue, (struct entry){0, 0, other, turn});
}

/* Leaves what is not begun, and returns when the thread has ended. */
void tileproof_queue_abandon(struct queue *queue) {
    pthread_mutex_lock(&queue->bell_lock);
    STORE(queue->abandoned, 1);
    pthread_cond_signal(&queue->bell);
    pthread_mutex_unlock(&queue->bell_lock);
    while (!LOAD(queue->ended)) tileproof_queue_until(queue, NEVER, SLICE);
}

/* A queue without a thread. Null if there is no memory. It lives until the process ends. */
struct queue *tileproof_queue_new(void) {
    struct queue *queue;
    if (posix_memalign((void **)&queue, 128, sizeof *queue) != 0) return 0;
    queue->ring = new_ring(256);
    if (!queue->ring) {
        free(queue);
        return 0;
    }
    queue->arena.memory = 0;
    queue->arena.bytes = 0;
    queue->done = queue->failures = queue->abandoned = queue->ended = queue->given = queue->asleep = queue->waiting = 0;
    pthread_mutex_init(&queue->bell_lock, 0);
    pthread_mutex_init(&queue->door_lock, 0);
    pthread_cond_init(&queue->bell, 0);
    pthread_cond_init(&queue->door, 0);
    return queue;
}

/* Gives a queue its thread, whose jobs `run` does with the pool; whether there is one. */
i32 tileproof_queue_start(struct queue *queue, run_code *run, void *pool) {
    i64 thread;
    queue->run = run;
    queue->pool = pool;
    if (pthread_create(&thread, 0, worker, queue) != 0) return 0;
    pthread_detach(thread);
    return 1;
}
