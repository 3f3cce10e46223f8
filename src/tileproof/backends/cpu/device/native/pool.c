/* Threads that share the items of a job with the thread that asks for it.

   Items are claimed in chunks from a counter. The caller works too, and in the end waits only for workers that entered
   its job: one that the system has not woken yet finds the gate closed and is not waited for. A caller that finds
   another job under way does its own alone, so nobody ever waits for a stranger's job.

   `gate` is OPEN or not, plus the number of workers inside. The caller writes the job while the gate is closed and
   empty, and opens it; a worker enters by adding one while it is open. What a worker read or wrote comes before it
   leaves, and the caller returns after the last one left.

   This file is compiled to pool.ll, which is what users get: see tools/build_native.py. It includes no headers and relies on
   nothing that differs between Linux and macOS. Locks are opaque and have more room than any system wants. */

typedef int i32;
typedef long long i64;
typedef void job_code(void *args, void *arena, i64 first, i64 last);

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
extern int pthread_cond_signal(struct bell *);
extern int posix_memalign(void **memory, unsigned long alignment, unsigned long size);
extern void free(void *memory);
extern int clock_gettime(int clock, struct instant *);

/* Tells the processor that this is a wait; its code depends on the processor and is added to pool.ll when it is used. */
extern void tileproof_relax(void);

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_SEQ_CST)
#define ADD(place, value) __atomic_fetch_add(&(place), value, __ATOMIC_SEQ_CST)
#define SWAP(place, old, new) __atomic_compare_exchange_n(&(place), old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)

enum { WALL_CLOCK = 0, OPEN = 1 << 30, PATIENCE = 40 * 1000 /* nanoseconds */ };

/* What different threads write often is 128 bytes apart: no two of them share a line of any cache. */
struct pool {
    _Alignas(128) i32 gate;
    _Alignas(128) i64 next;   /* the first item nobody has claimed */
    _Alignas(128) i32 turn;   /* counts the jobs; workers wait for it to change */
    _Alignas(128) i32 taken;  /* whether a caller has the pool */
    _Alignas(128) i32 asleep; /* workers that need a signal to wake */
    i32 caller_asleep;
    i32 workers;
    _Alignas(128) job_code *code;
    void *args;
    i64 total, chunk, arena_bytes;
    struct lock bell_lock, exit_lock;
    struct bell bell, exit;
};

struct arena { void *memory; i64 bytes; };

/* Waiting. */

static i64 now(void) {
    struct instant instant;
    clock_gettime(WALL_CLOCK, &instant);
    return instant.seconds * 1000000000 + instant.nanoseconds;
}

/* Whether the value changes within our patience; the clock may have been set back meanwhile. */
static i32 changes(i32 *place, i32 value) {
    i64 start = now(), passed;
    do {
        for (i32 i = 0; i < 16; i++) {
            if (LOAD(*place) != value) return 1;
            tileproof_relax();
        }
        passed = now() - start;
    } while (0 <= passed && passed < PATIENCE);
    return 0;
}

/* Wakes up to two sleeping workers, if there are chunks for more than the caller and those awake. Each of them does
   the same, so all are awake soon and the caller is not held up by a crowd. */
static void wake(struct pool *pool) {
    i32 asleep = LOAD(pool->asleep);
    if (asleep == 0) return;
    i64 left = pool->total - LOAD(pool->next);
    i64 wanted = (left + pool->chunk - 1) / pool->chunk - (pool->workers - asleep) - 1;
    if (wanted <= 0) return;
    pthread_mutex_lock(&pool->bell_lock);
    pthread_cond_signal(&pool->bell);
    if (wanted > 1) pthread_cond_signal(&pool->bell);
    pthread_mutex_unlock(&pool->bell_lock);
}

/* Sleeps until there is a job after that of this turn. */
static void rest(struct pool *pool, i32 turn) {
    pthread_mutex_lock(&pool->bell_lock);
    ADD(pool->asleep, 1);
    while (LOAD(pool->turn) == turn) pthread_cond_wait(&pool->bell, &pool->bell_lock);
    ADD(pool->asleep, -1);
    pthread_mutex_unlock(&pool->bell_lock);
}

/* Working. */

static void work(struct pool *pool, void *arena) {
    for (;;) {
        i64 first = ADD(pool->next, pool->chunk);
        if (first >= pool->total) return;
        i64 left = pool->total - first;
        pool->code(pool->args, arena, first, first + (left < pool->chunk ? left : pool->chunk));
    }
}

static i32 enter(struct pool *pool) {
    i32 gate = LOAD(pool->gate);
    while (gate & OPEN)
        if (SWAP(pool->gate, &gate, gate + 1)) return 1;
    return 0;
}

static void leave(struct pool *pool) {
    if (ADD(pool->gate, -1) != 1 || !LOAD(pool->caller_asleep)) return;
    pthread_mutex_lock(&pool->exit_lock);
    pthread_cond_signal(&pool->exit);
    pthread_mutex_unlock(&pool->exit_lock);
}

/* Whether the arena has so many bytes, now that it has grown if it had to. */
static i32 grow(struct arena *arena, i64 bytes) {
    if (bytes <= arena->bytes) return 1;
    free(arena->memory);
    arena->bytes = posix_memalign(&arena->memory, 64, bytes) == 0 ? bytes : 0;
    if (arena->bytes == 0) arena->memory = 0;
    return arena->bytes != 0;
}

static void *worker(void *argument) {
    struct pool *pool = argument;
    struct arena arena = {0, 0};
    i32 turn = 0;
    for (;;) {
        if (!changes(&pool->turn, turn)) rest(pool, turn);
        turn = LOAD(pool->turn);
        if (!enter(pool)) continue;
        if (LOAD(pool->next) < pool->total && grow(&arena, pool->arena_bytes)) {
            wake(pool);
            work(pool, arena.memory);
        }
        leave(pool);
    }
}

/* Asking. */

/* Closes the gate and waits for the workers inside. */
static void finish(struct pool *pool) {
    i32 inside = __atomic_and_fetch(&pool->gate, ~OPEN, __ATOMIC_SEQ_CST);
    while (inside != 0 && changes(&pool->gate, inside)) inside = LOAD(pool->gate);
    if (inside == 0) return;
    pthread_mutex_lock(&pool->exit_lock);
    STORE(pool->caller_asleep, 1);
    while (LOAD(pool->gate) != 0) pthread_cond_wait(&pool->exit, &pool->exit_lock);
    STORE(pool->caller_asleep, 0);
    pthread_mutex_unlock(&pool->exit_lock);
}

/* Does the items 0..total-1 of a job; all is done, and visible to the caller, when this returns. The caller brings its
   own arena; workers have theirs. Without a pool, or with too little to share, or while the pool is another's, the
   caller does all of it. */
void tileproof_pool_run(
    struct pool *pool, job_code *code, void *args, i64 total, i64 chunk, i64 arena_bytes, void *arena
) {
    i32 untaken = 0;
    if (total <= 0) return;
    if (!pool || total <= chunk || LOAD(pool->taken) || !SWAP(pool->taken, &untaken, 1)) {
        code(args, arena, 0, total);
        return;
    }
    pool->code = code;
    pool->args = args;
    pool->total = total;
    pool->chunk = chunk > 0 ? chunk : 1;
    pool->arena_bytes = arena_bytes;
    STORE(pool->next, 0);
    STORE(pool->gate, OPEN);
    ADD(pool->turn, 1);
    wake(pool);
    work(pool, arena);
    finish(pool);
    STORE(pool->taken, 0);
}

/* A pool with so many workers, or as many as the system grants; null if it has no memory. It lives until the process
   ends. */
struct pool *tileproof_pool_new(i32 workers) {
    struct pool *pool;
    if (posix_memalign((void **)&pool, 128, sizeof *pool) != 0) return 0;
    pool->gate = pool->turn = pool->taken = pool->asleep = pool->caller_asleep = pool->workers = 0;
    pool->next = 0;
    pthread_mutex_init(&pool->bell_lock, 0);
    pthread_mutex_init(&pool->exit_lock, 0);
    pthread_cond_init(&pool->bell, 0);
    pthread_cond_init(&pool->exit, 0);
    while (pool->workers < workers) {
        i64 thread;
        if (pthread_create(&thread, 0, worker, pool) != 0) break;
        pthread_detach(thread);
        pool->workers++;
    }
    return pool;
}
