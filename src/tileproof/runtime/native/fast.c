/* Launches that are like an earlier one, recognised and started without Python.

   A plan is what an earlier launch found out: for each argument what it must be, and all that the driver is given but
   addresses and scalars. Arguments are read once, compared with every plan of the kernel, and handed to the driver.
   Whatever is unusual ends in False, and the full launch judges it; nothing here decides that something is wrong.

   From the first look at a tensor to the call of the driver no Python code can run, so none can change a tensor that
   was looked at: only objects of exact known types are read, and of those only what is read without calling anything
   of theirs. The two questions that torch answers by code of its own are asked before, and then the plans are looked
   up anew, because that code may have thrown them away.

   This file is compiled to fast.ll, which is what users get: see tools/build_native.py. It includes no headers and calls
   nothing by name: `struct runtime` brings every function of Python and every place inside Python's objects.
   structures.py describes the same structures. */

typedef int i32;
typedef long long i64;
typedef unsigned long long u64;
typedef struct object object;

enum { MOST_ARGUMENTS = 32, MOST_WORDS = 160, MOST_AXES = 8, MOST_TYPES = 12, MOST_VARIABLES = 4, LANE_ROOM = 16384,
       MOST_DIMENSIONS = 32, MOST_SEEN = 64 };

/* What an argument was seen to be, and what a plan wants it to be. */
enum { UNKNOWN, WHOLE, REAL, TRUTH, TENSOR };

/* In which unit a tensor counts its strides, which also tells how it names its element type: numpy by the address of
   a descriptor, DLPack by a code. */
enum { BYTES, ELEMENTS, UNITS };

/* No system has memory below this; a torch tensor whose memory was given back may say it is there. */
enum { LOWEST = 1 << 16 };

/* Every dimension is shorter. */
#define FAR (1ll << 48)

/* The most bytes of the tensors of a launch that is done at once, with Python's lock. */
enum { SMALL = 1 << 16 };

/* How a scalar is stored. */
enum { AS_WHOLE, AS_F32, AS_F64 };

/* How tensors of a type are read. */
enum { BY_ARRAY, BY_EXCHANGE, BY_RECORD, BY_PYTHON };

/* Answers besides no and yes: the ledger must be asked first; another thread is giving a launch to the same stream; or
   a launch broke off, and Python has raised why. */
enum { FOR_LEDGER = 2, AGAIN = 3, RAISED = 4 };

/* How often it is tried again, and how often it is looked each time whether that launch was given: the driver answers
   within some microseconds, unless its queue is full. */
enum { MOST_TRIES = 8, MOST_LOOKS = 20000 };

/* An axis of an argument. In a plan for one shape: its extent and stride. In an open plan: which dimension it is, or -1
   for the extent that stands here, and whether neighbours along it are neighbours in memory. */
struct axis { i64 extent, stride[UNITS]; i32 dimension, is_unit; };

struct argument {
    i32 form, word; /* word: which of the driver's parameters it is, -1 for none */
    i32 rank, is_written, is_stored_as, is_empty;
    i32 fills, is_read; /* fills: every byte between the first and the last is written, and none is read */
    i32 is_large, padding; /* of an open plan: whether it is written and has at least `cache` bytes */
    i64 itemsize;
    u64 element[UNITS];
    u64 misaligned;     /* bits of an address that must be 0 */
    u64 before, behind; /* bytes from the first element down to the lowest, and up to the end */
    i64 least, most;
    double greatest;
    struct axis axis[MOST_AXES];
};

typedef i32 launch_code(
    void *function, i32 grid_x, i32 grid_y, i32 grid_z, i32 block_x, i32 block_y, i32 block_z, i32 shared_bytes,
    void *stream, void **parameters, void **extra
);
typedef i32 context_code(void **context);

/* The driver's own structures. */
struct attribute { i32 id, padding, value, rest[15]; };
struct config {
    i32 grid[3], block[3], shared_bytes;
    void *stream;
    const struct attribute *attributes;
    i32 count;
};
enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

typedef i32 early_code(const struct config *config, void *function, void **parameters, void **extra);
typedef i32 allocate_code(u64 *address, u64 bytes, void *stream);
typedef i32 release_code(u64 address, void *stream);
typedef i32 recording_code(void *stream, i32 *state);

/* The leases of a stream: the bytes that its work uses. `noted` is twice the turn of the work, and one more if it writes
   them. Places count on for ever, and the ring is taken modulo its room; launches here may fill it up to `stop`. One is
   being given to the stream while `given` is one more than `turn`. `seen` has, by slot, how far the stream has waited
   for others. lease_lanes.py says who may do what. */
struct entry { u64 low, high; i64 noted; };
struct lane {
    void *handle;
    i64 given, turn, head, tail, stop, slot;
    i64 seen[MOST_SEEN];
    struct entry entry[LANE_ROOM];
};

/* The lanes of all streams of a device that have work under way, by slot; a slot may be empty. While they are closed,
   Python gives work to a stream, or something is poisoned. */
struct lanes { i64 closed, poisoned, count; struct lane **lane; };

/* What is true of a piece of memory of our own, for all tensors there: how often it was written, its bytes, whether
   some of them never were, the list of those it is lent to, and whether another library made it. */
struct state { i64 version; u64 low, high; i32 unwritten, is_foreign; object *lent; };

/* What comes behind the first call of the driver where pieces are joined: a second one with the same words. One of
   these is the address of memory that the first fills and the second reads. It is taken and given back in the order of
   the stream, as the full launch does: whatever else there is then never meets it. */
struct join {
    void *function;
    i32 grid[3], word;
    u64 bytes;
    allocate_code *allocate;
    release_code *release;
    recording_code *recording; /* a stream that records a graph is left to the full launch */
    early_code *early; /* the second may come to the GPU while the first runs; null: it may not */
    object *broke; /* is told what the driver said if it took the first call only; raises */
};

/* A word of an open plan that follows from extents and strides: of an argument (first) and an axis (second); a
   dimension (first); the places of a walker of some size, at least one for a walker of pieces (second); or what follows
   from all places: how many programs there are, and how many a thread claims at a time. */
enum { FROM_EXTENT, FROM_STRIDE, FROM_DIMENSION, FROM_PLACES, FROM_PROGRAMS, FROM_CHUNK };
struct source { i32 word, kind, first, second; i64 size; };

/* How the extent of a dimension relates to a size, which the code of an open plan relies on. */
enum { RAGGED, EXACT, AT_MOST };
struct divided { i32 dimension, kind; i64 size; };

/* A job of the CPU's pool. */
typedef void job_code(void *words, void *arena, i64 first, i64 last);

struct plan {
    i32 arguments, words;
    i32 device_type, device;
    i32 grid[3], block[3], shared_bytes;
    i32 follows, releases_gil, has_programs; /* follows: the stream is the current one at each launch */
    void *function, *stream, *context;
    launch_code *launch; /* null in a plan of the CPU */
    context_code *current_context; /* null: whatever context is current is the right one */
    const u64 *word;
    const struct argument *argument;
    const struct lanes *lanes; /* of the device; null: no leases are taken */
    const struct join *join; /* null: there is one call of the driver */
    /* Of the CPU. An open plan holds for all shapes of which `divided`, `is_unit` and `is_large` are true. */
    i32 is_open, is_quick, sources, divisions; /* quick: a small launch may be done here and now */
    i32 record, first; /* the words that a failed check reports in, and the first of the arguments of the code */
    i32 dimensions, padding;
    u64 cache;
    i64 chunks, programs; /* how many chunks a job is cut into; programs: of a plan for one shape */
    const struct source *source;
    const struct divided *divided;
    void *arena;
};

/* The plans of a kernel. */
struct table {
    i64 count;
    i64 *latest; /* which plan was used last */
    u64 grad, negated; /* bits of arguments about which torch is asked */
    i64 on_cpu; /* whether all plans are of the CPU; else none is */
    const struct plan *plan[];
};

/* Memory that a type of our own keeps in a `bytes` object; extents, then strides in elements, come behind it. */
struct record {
    u64 address;
    i32 device_type, device, dtype, rank, is_writable, padding;
    struct state *state;
    i64 numbers[];
};

/* DLPack's own structures. */
struct dlpack_tensor {
    void *data;
    i32 device_type, device, rank, dtype;
    i64 *shape, *strides;
    u64 byte_offset;
};
typedef i32 exchange_code(object *tensor, struct dlpack_tensor *result);
typedef i32 stream_code(i32 device_type, i32 device, void **stream);

struct reader { object *type; i64 how; exchange_code *exchange; i64 slot; };

/* Whether work of the CPU is under way: the counters of all queues, the last entry that is done in front and the last
   that was given at `GIVEN`. No launch goes without leases while something is to be looked at closely, while there are more
   queues than there is room for, or while a thread that has the lock of the ledger holds the door. */
enum { DOORS = 64, GIVEN = 16 };
struct door { i64 closed, full, held, queues; const i64 *queue[DOORS]; };

struct runtime {
    /* Where things are in Python's objects. */
    i64 header, tuple_items, bytes_data, plans_slot;
    object *tuple_type, *bytes_type, *int_type, *float_type, *dict_type, *plans_type;
    object *true_object, *false_object;
    /* What Python does. */
    i64 (*long_value)(object *, i32 *overflow);
    double (*float_value)(object *);
    object *(*truth)(i64);
    object *(*call)(object *code, object *const *args, u64 count, object *names);
    object *(*attribute)(object *, object *name);
    void (*hold)(object *);
    void (*drop)(object *);
    object *(*number)(i64);
    void (*forget_error)(void);
    void *(*release_gil)(void);
    void (*take_gil)(void *);
    /* What others do. */
    object *is_grad_enabled, *requires_grad, *is_negated;
    stream_code *torch_stream;
    /* What is asked before a plan is followed: variables that must be None, a dict that must not have a key, nor
       another one for launches on the CPU, the modules that are loaded, the one that is torch with its streams in use, and where streams of `with` blocks are. */
    object *none, *missing;
    i32 (*variable)(object *, object *otherwise, object **value);
    object *(*look_up)(object *dict, object *key);
    i32 (*next)(object *dict, i64 *place, object **key, object **value);
    object *quiet[MOST_VARIABLES];
    object *environment, *key, *cpu_key, *modules, *torch_name, *cupy_name, *device_name, *handle_name, *torch, *streams;
    /* Bytes that Python keeps, and how tensors of torch on the CPU are kept from changing: `detach` gives another tensor
       over the same storage, which must not be given other memory either. */
    object *(*bytes)(const char *, i64);
    object *detach, *storage, *storage_address, *storage_bytes, *is_resizable;
    const struct door *door;
    i64 readers;
    struct reader reader[MOST_TYPES];
};


static struct runtime *runtime;

#define AT(type, base, offset) (*(type *)((char *)(base) + (offset)))
#define TYPE_OF(thing) AT(object *, thing, runtime->header - 8)
#define COUNT_OF(sequence) AT(i64, sequence, runtime->header)
#define ITEM_OF(tuple, place) AT(object *, tuple, runtime->tuple_items + 8 * (place))

/* An argument as it is now; shape and strides are its owner's and hold until Python code runs. */
struct seen {
    i32 form, how;
    i32 device_type, device, rank, unit, is_writable, padding;
    u64 element, address;
    const i64 *shape, *strides;
    i64 whole;
    double real;
    struct state *state; /* null: nothing is known of the memory */
    i64 is_lent; /* whether others can reach memory of our own */
};

struct span { u64 low, high; i64 is_written; };

/* The current stream, of one device, or of any if that is negative. With torch it must be torch's, which is the current
   one by default. */
struct chosen { i64 device; void *stream; i32 has_torch, is_default; };

/* A launch that a plan fits: what the driver is to be given, and what is used. */
struct launch {
    u64 word[MOST_WORDS];
    struct span span[MOST_ARGUMENTS];
    struct state *written[MOST_ARGUMENTS];
    i32 spans, states;
    i64 dimension[MOST_DIMENSIONS]; /* -1: not known yet */
    i64 programs;
    u64 amount; /* of all tensors, in bytes */
};

/* Looking. */

static const struct reader *reader_of(object *given) {
    object *type = TYPE_OF(given);
    for (i64 i = 0; i < runtime->readers; i++)
        if (runtime->reader[i].type == type) return &runtime->reader[i];
    return 0;
}

static i32 read_array(object *array, struct seen *seen) {
    i64 header = runtime->header;
    seen->device_type = 1;
    seen->device = 0;
    seen->address = AT(u64, array, header);
    seen->rank = AT(i32, array, header + 8);
    seen->shape = AT(const i64 *, array, header + 16);
    seen->strides = AT(const i64 *, array, header + 24);
    seen->element = AT(u64, array, header + 40);
    seen->is_writable = (AT(i32, array, header + 48) & 0x400) != 0;
    seen->unit = BYTES;
    seen->state = 0;
    seen->is_lent = 0;
    return 1;
}

static i32 read_exchange(const struct reader *reader, object *tensor, struct seen *seen) {
    struct dlpack_tensor told;
    told.rank = 0;
    if (reader->exchange(tensor, &told) != 0) {
        runtime->forget_error();
        return 0;
    }
    if (told.rank > 0 && (!told.shape || !told.strides)) return 0;
    seen->device_type = told.device_type;
    seen->device = told.device;
    seen->address = (u64)told.data + told.byte_offset;
    seen->rank = told.rank;
    seen->shape = told.shape;
    seen->strides = told.strides;
    seen->element = (u64)(unsigned)told.dtype;
    seen->is_writable = 1;
    seen->unit = ELEMENTS;
    seen->state = 0;
    seen->is_lent = 0;
    return told.data || !told.byte_offset;
}

static i32 read_record(const struct reader *reader, object *owner, struct seen *seen) {
    object *bytes = AT(object *, owner, reader->slot);
    if (!bytes || TYPE_OF(bytes) != runtime->bytes_type) return 0;
    const struct record *record = (const struct record *)((char *)bytes + runtime->bytes_data);
    seen->device_type = record->device_type;
    seen->device = record->device;
    seen->address = record->address;
    seen->rank = record->rank;
    seen->shape = record->numbers;
    seen->strides = record->numbers + record->rank;
    seen->element = (u64)(unsigned)record->dtype;
    seen->is_writable = record->is_writable;
    seen->unit = ELEMENTS;
    seen->state = record->state;
    seen->is_lent = record->state && COUNT_OF(record->state->lent) != 0;
    return 1;
}

/* Whether an argument is something that plans know. */
static i32 read(object *given, struct seen *seen) {
    object *type = TYPE_OF(given);
    i32 overflow = 0;
    seen->how = -1;
    if (type == runtime->int_type) {
        seen->form = WHOLE;
        seen->whole = runtime->long_value(given, &overflow);
        return overflow == 0;
    }
    if (type == runtime->float_type) {
        seen->form = REAL;
        seen->real = runtime->float_value(given);
        return 1;
    }
    if (given == runtime->true_object || given == runtime->false_object) {
        seen->form = TRUTH;
        seen->whole = given == runtime->true_object;
        return 1;
    }
    const struct reader *reader = reader_of(given);
    if (!reader) return 0;
    seen->form = TENSOR;
    seen->how = (i32)reader->how;
    switch (reader->how) {
    case BY_ARRAY: return read_array(given, seen);
    case BY_EXCHANGE: return read_exchange(reader, given, seen);
    case BY_RECORD: return read_record(reader, given, seen);
    default: return 0;
    }
}

/* Comparing. */

/* Whether memory of our own was written, or is now. */
static i32 is_ready(const struct argument *argument, const struct seen *seen, const struct span *span) {
    const struct state *state = seen->state;
    if (!state || !state->unwritten) return 1;
    return argument->fills && span->low == state->low && span->high == state->high;
}

static i32 fits_tensor(
    const struct plan *plan, const struct argument *argument, const struct seen *seen, struct span *span
) {
    i32 unit = seen->unit;
    if (seen->element != argument->element[unit] || seen->rank != argument->rank) return 0;
    if (seen->device_type != plan->device_type || seen->device != plan->device) return 0;
    if (plan->launch && ((seen->how == BY_EXCHANGE && !plan->follows) || seen->is_lent)) return 0;
    if (argument->is_written && !seen->is_writable) return 0;
    for (i32 i = 0; i < argument->rank; i++)
        if (seen->shape[i] != argument->axis[i].extent) return 0;
    if (seen->address & argument->misaligned) return 0;
    span->low = span->high = seen->address;
    span->is_written = argument->is_written;
    if (argument->is_empty) return 1;
    /* A stride counts where an axis has a second element; the driver is given the plan's strides anyway. */
    for (i32 i = 0; i < argument->rank; i++)
        if (argument->axis[i].extent > 1 && seen->strides[i] != argument->axis[i].stride[unit]) return 0;
    span->low = seen->address - argument->before;
    span->high = seen->address + argument->behind;
    if (span->low < LOWEST || span->low > seen->address || span->high < seen->address) return 0;
    return is_ready(argument, seen, span);
}

/* Products and sums below 2 to the 62nd; what is larger is left to the full launch. */
enum { HALF = 31 };
#define LARGEST (1ll << 62)

static i32 multiply(i64 one, i64 other, i64 *made) {
    i64 size = one < 0 ? -one : one, times = other < 0 ? -other : other;
    if (size < 0 || times < 0) return 0; /* the least number has no opposite */
    if ((size | times) >> HALF && times && size > LARGEST / times) return 0;
    *made = one * other;
    return 1;
}

static i32 add(i64 one, i64 other, i64 *made) {
    *made = one + other; /* both are below 2 to the 62nd, or this is not asked */
    return *made < LARGEST && *made > -LARGEST;
}

/* The same for an open plan. Written tensors must be arrays whose strides, from the last axis to the first, each pass
   over all that is inside: other ones are left to the full launch. */
static i32 fits_open(
    const struct plan *plan, const struct argument *argument, const struct seen *seen, struct launch *launch,
    struct span *span
) {
    i32 unit = seen->unit;
    i64 size = argument->itemsize, amount = size, before = 0, behind = size, reach = size;
    if (seen->element != argument->element[unit] || seen->rank != argument->rank) return 0;
    if (seen->device_type != plan->device_type || seen->device != plan->device) return 0;
    if (argument->is_written && !seen->is_writable) return 0;
    if (seen->address & argument->misaligned) return 0;
    for (i32 i = argument->rank - 1; i >= 0; i--) {
        const struct axis *axis = &argument->axis[i];
        i64 extent = seen->shape[i], stride = seen->strides[i], length;
        if (axis->dimension < 0) {
            if (extent != axis->extent) return 0;
        } else if (launch->dimension[axis->dimension] < 0) {
            if (extent >= FAR) return 0;
            launch->dimension[axis->dimension] = extent;
        } else if (launch->dimension[axis->dimension] != extent) return 0;
        if (!multiply(amount, extent, &amount)) return 0;
        if (extent <= 1) continue;
        if (unit == BYTES) {
            if (stride % size) return 0;
        } else if (!multiply(stride, size, &stride)) return 0;
        if ((stride == size) != axis->is_unit) return 0;
        if (!multiply(stride, extent - 1, &length)) return 0;
        if (length < 0) {
            if (argument->is_written && -stride < reach) return 0;
            if (!add(before, -length, &before)) return 0;
        } else {
            if (argument->is_written && stride < reach) return 0;
            if (!add(behind, length, &behind)) return 0;
        }
        if (!add(before, behind, &reach)) return 0;
    }
    if (argument->is_large >= 0 && argument->is_large != ((u64)amount >= plan->cache)) return 0;
    launch->amount += (u64)amount;
    span->low = span->high = seen->address;
    span->is_written = argument->is_written;
    if (!amount) return 1;
    span->low = seen->address - (u64)before;
    span->high = seen->address + (u64)behind;
    if (span->low < LOWEST || span->low > seen->address || span->high < seen->address) return 0;
    if (!seen->state || !seen->state->unwritten) return 1;
    return argument->is_written && !argument->is_read && (u64)amount == span->high - span->low
        && span->low == seen->state->low && span->high == seen->state->high;
}

/* The words of an open plan that follow from extents and strides; whether the code is right for them. */
static i32 fills_in(const struct plan *plan, const struct seen *seen, struct launch *launch) {
    for (i32 i = 0; i < plan->divisions; i++) {
        const struct divided *each = &plan->divided[i];
        i64 extent = launch->dimension[each->dimension];
        if (each->kind == AT_MOST ? extent > each->size : (extent && extent % each->size == 0) != each->kind) return 0;
    }
    launch->programs = 1;
    for (i32 i = 0; i < plan->sources; i++) {
        const struct source *each = &plan->source[i];
        i64 made = 0;
        switch (each->kind) {
        case FROM_EXTENT: made = seen[each->first].shape[each->second]; break;
        case FROM_STRIDE:
            made = seen[each->first].strides[each->second];
            if (seen[each->first].unit == BYTES) made /= plan->argument[each->first].itemsize;
            break;
        case FROM_DIMENSION: made = launch->dimension[each->first]; break;
        case FROM_PLACES:
            made = launch->dimension[each->first] / each->size + (launch->dimension[each->first] % each->size != 0);
            if (each->second && made < 1) made = 1;
            if (!multiply(launch->programs, made, &launch->programs)) return 0;
            break;
        case FROM_PROGRAMS:
            if (!multiply(launch->programs, each->size, &made)) return 0;
            launch->programs = made;
            break;
        case FROM_CHUNK: made = launch->programs / plan->chunks; made = made < 1 ? 1 : made; break;
        }
        if (each->word >= 0) launch->word[each->word] = (u64)made;
    }
    return 1;
}

static i32 fits_scalar(const struct argument *argument, const struct seen *seen, u64 *word) {
    union { double real; float single; u64 bits; } made;
    made.bits = 0;
    if (seen->form != REAL && (seen->whole < argument->least || seen->whole > argument->most)) return 0;
    if (argument->is_stored_as == AS_WHOLE) {
        made.bits = (u64)seen->whole;
    } else {
        double real = seen->form == REAL ? seen->real : (double)seen->whole;
        double size = real < 0 ? -real : real;
        if (!(size <= argument->greatest || size == __builtin_inf())) return 0; /* NaN is not recognised either */
        if (argument->is_stored_as == AS_F32) made.single = (float)real;
        else made.real = real;
    }
    *word = made.bits;
    return 1;
}

/* Whether no written argument has bytes between the first and last byte of another. */
static i32 are_apart(const struct span *spans, i32 count) {
    for (i32 i = 1; i < count; i++)
        for (i32 j = 0; j < i; j++) {
            if (!(spans[i].is_written | spans[j].is_written)) continue;
            if (spans[i].low < spans[j].high && spans[j].low < spans[i].high
                && spans[i].low != spans[i].high && spans[j].low != spans[j].high) return 0;
        }
    return 1;
}

/* Whether the arguments are like those of the plan; if so, `launch` is what is to be done. */
static i32 fits(const struct plan *plan, const struct seen *seen, i64 count, struct launch *launch) {
    u64 scalars[MOST_ARGUMENTS];
    if (plan->arguments != count) return 0;
    launch->spans = launch->states = 0;
    launch->amount = 0;
    launch->programs = plan->programs;
    for (i32 i = 0; i < plan->dimensions; i++) launch->dimension[i] = -1;
    for (i64 i = 0; i < count; i++) {
        const struct argument *argument = &plan->argument[i];
        if (argument->form != seen[i].form) return 0;
        if (argument->form == TENSOR) {
            struct span *span = &launch->span[launch->spans++];
            if (!(plan->is_open ? fits_open(plan, argument, &seen[i], launch, span)
                                : fits_tensor(plan, argument, &seen[i], span))) return 0;
            if (!plan->is_open) launch->amount += span->high - span->low;
            if (argument->is_written && seen[i].state) launch->written[launch->states++] = seen[i].state;
        } else if (!fits_scalar(argument, &seen[i], &scalars[i])) return 0;
    }
    if (!are_apart(launch->span, launch->spans)) return 0;
    for (i32 i = 0; i < plan->words; i++) launch->word[i] = plan->word[i];
    if (plan->is_open && !fills_in(plan, seen, launch)) return 0;
    for (i64 i = 0; i < count; i++) {
        const struct argument *argument = &plan->argument[i];
        if (argument->word >= 0) launch->word[argument->word] = argument->form == TENSOR ? seen[i].address : scalars[i];
    }
    return 1;
}

/* Asking torch, which may run Python code. */

/* Whether the answer is False. */
static i32 denies(object *answer) {
    if (!answer) runtime->forget_error();
    else runtime->drop(answer);
    return answer == runtime->false_object;
}

static i32 is_of_torch(object *args, i64 place) {
    const struct reader *reader = reader_of(ITEM_OF(args, place));
    return reader && reader->how == BY_EXCHANGE;
}

/* Whether no tensor that is written takes part in gradients, and none is stored negated. */
static i32 is_plain(const struct table *table, object *args, i64 count) {
    i32 has_grad = 0;
    for (i64 i = 0; i < count; i++) {
        i32 is_written = table->grad >> i & 1, may_be_negated = table->negated >> i & 1;
        if (!(is_written | may_be_negated) || !is_of_torch(args, i)) continue;
        object *tensor = ITEM_OF(args, i);
        if (may_be_negated && !denies(runtime->call(runtime->is_negated, &tensor, 1, 0))) return 0;
        if (is_written && !has_grad) has_grad = !denies(runtime->attribute(tensor, runtime->requires_grad));
    }
    return !has_grad || denies(runtime->call(runtime->is_grad_enabled, 0, 0, 0));
}

/* Starting. */

static i32 is_busy(const struct lane *lane) {
    return __atomic_load_n(&lane->turn, __ATOMIC_ACQUIRE) != lane->given;
}

static i32 meet(const struct entry *entry, const struct span *spans, i64 count) {
    for (i64 i = 0; i < count; i++)
        if ((entry->noted & 1) | spans[i].is_written && entry->low < spans[i].high && spans[i].low < entry->high
            && spans[i].low != spans[i].high) return 1;
    return 0;
}

/* The last work of a stream that some bytes have to wait for, and that `seen` does not cover; 0 if there is none. */
static i64 last_before(const struct lane *lane, const struct span *spans, i64 count, i64 seen) {
    for (i64 place = lane->head - 1; place >= lane->tail; place--) {
        const struct entry *entry = &lane->entry[place & (LANE_ROOM - 1)];
        if (entry->noted >> 1 <= seen) return 0;
        if (meet(entry, spans, count)) return entry->noted >> 1;
    }
    return 0;
}

static i64 seen_by(const struct lane *lane, i64 slot) {
    return lane && slot < MOST_SEEN ? lane->seen[slot] : 0;
}

static struct lane *lane_of(const struct lanes *lanes, void *stream) {
    for (i64 i = 0; i < lanes->count; i++)
        if (lanes->lane[i] && lanes->lane[i]->handle == stream) return lanes->lane[i];
    return 0;
}

/* Whether a launch may go to a stream without asking the ledger; if so, its leases are taken.

   From here to the end of `start` the lane is this launch's: whoever comes meanwhile finds it busy and tries again, or
   asks the ledger, which waits. So the order of turns is the order in which the driver was called. */
static i32 takes_turn(const struct lanes *lanes, struct lane *lane, const struct launch *launch) {
    if (lanes->closed | lanes->poisoned || !lane || lane->stop - lane->head < launch->spans) return FOR_LEDGER;
    if (is_busy(lane)) return AGAIN;
    for (i64 i = 0; i < lanes->count; i++) {
        const struct lane *other = lanes->lane[i];
        if (other && other != lane && last_before(other, launch->span, launch->spans, seen_by(lane, i)))
            return FOR_LEDGER;
    }
    i64 head = lane->head, noted = (lane->given + 1) << 1;
    for (i32 i = 0; i < launch->spans; i++) {
        const struct span *span = &launch->span[i];
        struct entry *entry = &lane->entry[head & (LANE_ROOM - 1)];
        entry->low = span->low;
        entry->high = span->high;
        entry->noted = noted | span->is_written;
        head += span->low != span->high;
    }
    lane->head = head;
    lane->given++;
    return 1;
}

/* Called by Python: of each lane but `mine` the last turn that some bytes have to wait for. */
void tileproof_fast_conflicts(
    const struct lanes *lanes, const struct lane *mine, const struct span *spans, i64 count, i64 *turns
) {
    for (i64 i = 0; i < lanes->count; i++) {
        const struct lane *other = lanes->lane[i];
        turns[i] = other && other != mine ? last_before(other, spans, count, seen_by(mine, i)) : 0;
    }
}

static i32 is_recording(const struct join *join, void *stream) {
    i32 state = 1;
    return join->recording(stream, &state) != 0 || state != 0;
}

static i32 give_first(const struct plan *plan, void *stream, void **parameters) {
    return plan->launch(
        plan->function, plan->grid[0], plan->grid[1], plan->grid[2], plan->block[0], plan->block[1], plan->block[2],
        plan->shared_bytes, stream, parameters, 0
    );
}

static i32 give_second(const struct plan *plan, void *stream, void **parameters) {
    const struct join *join = plan->join;
    if (!join->early) return plan->launch(
        join->function, join->grid[0], join->grid[1], join->grid[2], plan->block[0], plan->block[1], plan->block[2],
        plan->shared_bytes, stream, parameters, 0
    );
    struct attribute attribute;
    attribute.id = PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value = 1;
    struct config config = {
        {join->grid[0], join->grid[1], join->grid[2]}, {plan->block[0], plan->block[1], plan->block[2]},
        plan->shared_bytes, stream, &attribute, 1
    };
    return join->early(&config, join->function, parameters, 0);
}

/* Both calls of a launch that joins pieces; `is_begun` says whether the driver took the first. */
static i32 give_both(
    const struct plan *plan, struct launch *launch, void *stream, void **parameters, i32 *is_begun
) {
    const struct join *join = plan->join;
    i32 failure = join->allocate(&launch->word[join->word], join->bytes, stream);
    if (failure) return failure;
    u64 address = launch->word[join->word];
    failure = give_first(plan, stream, parameters);
    if (!failure) {
        *is_begun = 1;
        failure = give_second(plan, stream, parameters);
    }
    join->release(address, stream); /* what goes wrong here the next launch meets too */
    return failure;
}

/* Tells Python that a launch broke off. */
static i32 broke(const struct plan *plan, object *held, object *args, void *stream, i32 failure) {
    object *told[3] = {args, runtime->number((i64)stream), runtime->number(failure)}, *answer = 0;
    runtime->hold(held);
    if (told[1] && told[2]) answer = runtime->call(plan->join->broke, told, 3, 0);
    if (told[1]) runtime->drop(told[1]);
    if (told[2]) runtime->drop(told[2]);
    runtime->drop(held);
    if (!answer) return RAISED;
    runtime->drop(answer);
    return 1;
}

/* `held` keeps the plan. */
static i32 start(
    const struct plan *plan, object *held, object *args, struct launch *launch, const struct chosen *chosen,
    struct lane **used
) {
    void *parameters[MOST_WORDS];
    void *stream = plan->stream, *context = 0, *thread = 0;
    struct lane *lane = 0;
    i64 head = 0;
    i32 is_begun = 0;
    if (!plan->has_programs) return 1;
    if (plan->follows) {
        if (chosen->device >= 0 && chosen->device != plan->device) return 0;
        stream = chosen->stream;
        if (chosen->has_torch) {
            if (!runtime->torch_stream) return 0;
            if (runtime->torch_stream(plan->device_type, plan->device, &stream) != 0) {
                runtime->forget_error();
                return 0;
            }
            if (!chosen->is_default && stream != chosen->stream) return 0;
        }
    }
    if (plan->current_context && (plan->current_context(&context) != 0 || context != plan->context)) return 0;
    if (plan->join && is_recording(plan->join, stream)) return 0;
    if (plan->lanes) {
        *used = lane = lane_of(plan->lanes, stream);
        head = lane ? lane->head : 0;
        i32 answer = takes_turn(plan->lanes, lane, launch);
        if (answer != 1) return answer;
    }
    for (i32 i = 0; i < launch->states; i++) launch->written[i]->version++;
    for (i32 i = 0; i < plan->words; i++) parameters[i] = &launch->word[i];
    if (plan->releases_gil) {
        runtime->hold(held); /* other threads may clear the plans meanwhile */
        thread = runtime->release_gil();
    }
    i32 failure = plan->join ? give_both(plan, launch, stream, parameters, &is_begun)
                             : give_first(plan, stream, parameters);
    if (lane) {
        /* Others may wait for this with the GIL or without. The turn is spent in any case: they may know of it. */
        if (failure && !is_begun) lane->head = head;
        __atomic_store_n(&lane->turn, lane->given, __ATOMIC_RELEASE);
    }
    if (thread) runtime->take_gil(thread);
    if (!failure) for (i32 i = 0; i < launch->states; i++) launch->written[i]->unwritten = 0;
    i32 answer = failure && is_begun ? broke(plan, held, args, stream, failure) : failure == 0;
    if (thread) runtime->drop(held);
    return answer;
}

/* The CPU: small launches are done at once, by this thread and with Python's lock, if nothing else is under way. Nobody can
   ask for the same bytes meanwhile, so no leases are taken. */

static i32 is_quiet_here(void) {
    const struct door *door = runtime->door;
    if (!door || door->closed | door->full | door->held) return 0; /* they change with Python's lock */
    for (i64 i = 0; i < door->queues; i++)
        if (__atomic_load_n(&door->queue[i][0], __ATOMIC_ACQUIRE) < __atomic_load_n(&door->queue[i][GIVEN], __ATOMIC_ACQUIRE))
            return 0;
    return 1;
}

static i32 run_here(const struct plan *plan, struct launch *launch) {
    if (!plan->is_quick || launch->amount > SMALL || !is_quiet_here()) return 0;
    for (i32 i = 0; i < launch->states; i++) launch->written[i]->version++;
    launch->word[plan->first] = (u64)&launch->word[plan->record];
    if (launch->programs > 0)
        ((job_code *)plan->function)(&launch->word[plan->first], plan->arena, 0, launch->programs);
    for (i32 i = 0; i < launch->states; i++) launch->written[i]->unwritten = 0;
    return 1;
}

/* A tensor of torch as another one that nobody else has, over the same storage, which must not be given other memory
   either; and the bytes of that storage. The calls may give Python's lock away, so all tensors of torch are treated so
   before any argument is read. */
struct kept { object *tensor; u64 begin, end; };

static i32 number_of(object *code, object *of, i64 *number) {
    object *told = runtime->call(code, &of, 1, 0);
    i32 overflow = 1;
    if (!told) {
        runtime->forget_error();
        return 0;
    }
    if (TYPE_OF(told) == runtime->int_type) *number = runtime->long_value(told, &overflow);
    runtime->drop(told);
    return !overflow;
}

static i32 keep(object *tensor, struct kept *kept) {
    object *storage = 0;
    i64 begin = 0, bytes = 0;
    i32 is_kept = 0;
    kept->tensor = runtime->call(runtime->detach, &tensor, 1, 0);
    if (kept->tensor) storage = runtime->call(runtime->storage, &kept->tensor, 1, 0);
    if (!storage) {
        runtime->forget_error();
        return 0;
    }
    object *is_resizable = runtime->call(runtime->is_resizable, &storage, 1, 0);
    if (denies(is_resizable))
        is_kept = number_of(runtime->storage_address, storage, &begin)
            && number_of(runtime->storage_bytes, storage, &bytes);
    runtime->drop(storage);
    kept->begin = (u64)begin;
    kept->end = (u64)begin + (u64)bytes;
    return is_kept;
}

static i32 lies_within(const struct seen *seen, const struct kept *kept) {
    i64 size = (i64)(seen->element >> 8 & 255) / 8, reach = size;
    for (i32 i = 0; i < seen->rank; i++) {
        i64 length;
        if (seen->shape[i] == 0) return 1;
        if (!multiply(seen->strides[i], size, &length) || !multiply(length, seen->shape[i] - 1, &length) || length < 0
            || !add(reach, length, &reach)) return 0;
    }
    return seen->address >= kept->begin && (u64)reach <= kept->end - seen->address && seen->address <= kept->end;
}

/* What keeps the plans of a kernel, a tuple that begins with their table; null if there are none. */
static object *held_by(object *plans) {
    object *held = AT(object *, plans, runtime->plans_slot);
    if (!held || TYPE_OF(held) != runtime->tuple_type || COUNT_OF(held) == 0) return 0;
    return TYPE_OF(ITEM_OF(held, 0)) == runtime->bytes_type ? held : 0;
}

static const struct table *table_in(object *held) {
    return (const struct table *)((char *)ITEM_OF(held, 0) + runtime->bytes_data);
}

/* The plan that arguments fit; null if there is none. `kept` holds tensors of torch on the CPU, or is null if that is
   the caller's affair. */
static const struct plan *match_here(
    object *plans, object *args, struct seen *seen, struct launch *launch, struct kept *kept
) {
    i64 count = COUNT_OF(args);
    object *held = held_by(plans);
    if (!held || count > MOST_ARGUMENTS) return 0;
    const struct table *table = table_in(held);
    if (kept) {
        i32 is_known = 1;
        runtime->hold(held);
        if (table->grad | table->negated) is_known = is_plain(table, args, count);
        for (i64 i = 0; i < count && is_known; i++)
            if (is_of_torch(args, i)) is_known = runtime->detach && keep(ITEM_OF(args, i), &kept[i]);
        is_known = is_known && held_by(plans) == held;
        runtime->drop(held);
        if (!is_known) return 0;
    }
    for (i64 i = 0; i < count; i++) {
        i32 is_kept = kept && kept[i].tensor;
        if (!read(is_kept ? kept[i].tensor : ITEM_OF(args, i), &seen[i])) return 0;
        if (is_kept && !lies_within(&seen[i], &kept[i])) return 0;
    }
    i64 latest = *table->latest;
    if (fits(table->plan[latest], seen, count, launch)) return table->plan[latest];
    for (i64 i = 0; i < table->count; i++)
        if (i != latest && fits(table->plan[i], seen, count, launch)) {
            *table->latest = i;
            return table->plan[i];
        }
    return 0;
}

/* Does a small launch on the CPU at once, if it is like an earlier one and nothing else is under way. */
static i32 go_here(object *plans, object *args) {
    struct seen seen[MOST_ARGUMENTS];
    struct kept kept[MOST_ARGUMENTS];
    struct launch launch;
    i64 count = COUNT_OF(args);
    if (count > MOST_ARGUMENTS || !is_quiet_here()) return 0;
    for (i64 i = 0; i < count; i++) kept[i].tensor = 0;
    const struct plan *plan = match_here(plans, args, seen, &launch, kept);
    i32 is_done = plan && run_here(plan, &launch);
    for (i64 i = 0; i < count; i++)
        if (kept[i].tensor) runtime->drop(kept[i].tensor);
    return is_done;
}

/* Called by Python as match(plans, args): what a launch is to be given, as bytes. In words: which plan, how
   many programs; the words of the plan; the bytes that each tensor uses; and the dimensions of an open plan. None if
   no plan fits. Tensors of torch are the caller's to keep. */
object *tileproof_fast_match(object *self, object *const *given, i64 count) {
    struct seen seen[MOST_ARGUMENTS];
    struct launch launch;
    u64 told[2 + MOST_WORDS + 2 * MOST_ARGUMENTS + MOST_DIMENSIONS];
    i64 at = 2;
    (void)self;
    runtime->hold(runtime->none);
    if (count != 2 || TYPE_OF(given[0]) != runtime->plans_type || TYPE_OF(given[1]) != runtime->tuple_type)
        return runtime->none;
    const struct plan *plan = match_here(given[0], given[1], seen, &launch, 0);
    if (!plan) return runtime->none;
    told[0] = (u64)*table_in(held_by(given[0]))->latest;
    told[1] = (u64)launch.programs;
    for (i32 i = 0; i < plan->words; i++) told[at++] = launch.word[i];
    for (i32 i = 0; i < launch.spans; i++) {
        told[at++] = launch.span[i].low;
        told[at++] = launch.span[i].high;
    }
    for (i32 i = 0; i < plan->dimensions; i++) told[at++] = (u64)launch.dimension[i];
    runtime->drop(runtime->none);
    return runtime->bytes((const char *)told, 8 * at);
}

static i32 go_once(object *plans, object *args, const struct chosen *chosen, struct lane **lane) {
    struct seen seen[MOST_ARGUMENTS];
    struct launch launch;
    object *held = held_by(plans);
    i64 count = COUNT_OF(args);
    if (!held || count > MOST_ARGUMENTS) return 0;
    const struct table *table = table_in(held);
    if (table->grad | table->negated) {
        runtime->hold(held);
        i32 is_known = is_plain(table, args, count) && held_by(plans) == held;
        runtime->drop(held); /* if it is still in its place, this is not its end */
        if (!is_known) return 0;
    }
    for (i64 i = 0; i < count; i++)
        if (!read(ITEM_OF(args, i), &seen[i])) return 0;
    /* Another library may have made a tensor on another stream than one of ours, and must be told of that. */
    for (i64 i = 0; i < count && !chosen->is_default; i++)
        if (seen[i].form == TENSOR && (seen[i].how == BY_EXCHANGE || (seen[i].state && seen[i].state->is_foreign)))
            return 0;
    i64 latest = *table->latest;
    if (table->on_cpu) return 0;
    if (fits(table->plan[latest], seen, count, &launch))
        return start(table->plan[latest], held, args, &launch, chosen, lane);
    for (i64 i = 0; i < table->count; i++)
        if (i != latest && fits(table->plan[i], seen, count, &launch)) {
            *table->latest = i;
            return start(table->plan[i], held, args, &launch, chosen, lane);
        }
    return 0;
}

static i32 go(object *plans, object *args, const struct chosen *chosen) {
    for (i32 tries = 0; tries < MOST_TRIES; tries++) {
        struct lane *lane;
        i32 answer = go_once(plans, args, chosen, &lane);
        if (answer != AGAIN) return answer;
        i64 given = lane->given;
        void *thread = runtime->release_gil();
        for (i32 looks = 0; looks < MOST_LOOKS && __atomic_load_n(&lane->turn, __ATOMIC_ACQUIRE) != given; looks++) {}
        runtime->take_gil(thread); /* anything may have changed meanwhile, so all is looked at anew */
    }
    return FOR_LEDGER;
}

static object *told(i32 answer) {
    if (answer == RAISED) return 0;
    if (answer != FOR_LEDGER) return runtime->truth(answer);
    runtime->hold(runtime->none);
    return runtime->none;
}

/* Called by Python as launch(plans, args), or launch(plans, args, device, stream, is_default); True if it launched, False
   if it is like no earlier one, None if the ledger must be asked first. */
object *tileproof_fast_launch(object *self, object *const *given, i64 count) {
    struct chosen chosen = {-1, 0, count == 2, count == 2};
    i32 overflow = 0;
    (void)self;
    if ((count != 2 && count != 5) || TYPE_OF(given[0]) != runtime->plans_type
        || TYPE_OF(given[1]) != runtime->tuple_type) return runtime->truth(0);
    if (count == 5) {
        if (TYPE_OF(given[2]) != runtime->int_type || TYPE_OF(given[3]) != runtime->int_type) return runtime->truth(0);
        chosen.device = runtime->long_value(given[2], &overflow);
        if (overflow) return runtime->truth(0);
        chosen.stream = (void *)runtime->long_value(given[3], &overflow);
        if (overflow) return runtime->truth(0);
        chosen.is_default = given[4] == runtime->true_object;
    }
    return told(go(given[0], given[1], &chosen));
}

/* Following: a launch, if nothing was said that concerns it. What is unusual is left to Python. */

static object *look_up(object *dict, object *key) {
    object *found = runtime->look_up(dict, key);
    if (!found) runtime->forget_error();
    return found;
}

/* Whether nobody chose a backend, records a graph, or wants to know of launches. */
static i32 is_quiet(void) {
    for (i32 i = 0; i < MOST_VARIABLES && runtime->quiet[i]; i++) {
        object *value = 0;
        if (runtime->variable(runtime->quiet[i], 0, &value) != 0) {
            runtime->forget_error();
            return 0;
        }
        runtime->drop(value);
        if (value != runtime->none) return 0;
    }
    return !look_up(runtime->environment, runtime->key);
}

/* A whole number among the attributes of a thing. */
static i32 has_number(object *thing, object *name, i64 *number) {
    object *found = runtime->attribute(thing, name);
    i32 overflow = 1;
    if (!found) runtime->forget_error();
    else {
        if (TYPE_OF(found) == runtime->int_type) *number = runtime->long_value(found, &overflow);
        runtime->drop(found);
    }
    return !overflow;
}

/* Whether it is known at a glance which stream is the current one: that of a `with` block, torch's, or else the default
   one of each device. */
static i32 finds_stream(struct chosen *chosen) {
    object *torch = look_up(runtime->modules, runtime->torch_name), *streams = 0;
    i64 handle = 0;
    i32 is_found = 1;
    chosen->has_torch = torch && torch == runtime->torch;
    if (!chosen->has_torch && (torch || look_up(runtime->modules, runtime->cupy_name))) return 0;
    if (runtime->variable(runtime->streams, 0, &streams) != 0) {
        runtime->forget_error();
        return 0;
    }
    i64 count = TYPE_OF(streams) == runtime->tuple_type ? COUNT_OF(streams) : -1;
    chosen->is_default = count == 0;
    chosen->device = -1;
    if (count != 0) {
        object *last = count > 0 ? ITEM_OF(streams, count - 1) : runtime->none;
        is_found = has_number(last, runtime->device_name, &chosen->device)
            && has_number(last, runtime->handle_name, &handle);
    }
    chosen->stream = (void *)handle;
    runtime->drop(streams);
    return is_found;
}

/* Whether names in dicts still stand for what they stood for: dict, name and value in turn. */
static i32 is_current(object *entries, object *ask) {
    i64 count = COUNT_OF(entries);
    for (i64 i = 0; i + 2 < count; i += 3) {
        object *found = look_up(ITEM_OF(entries, i), ITEM_OF(entries, i + 1)), *value = ITEM_OF(entries, i + 2);
        if (found != (value == runtime->missing ? 0 : value)) return 0;
    }
    if (ask == runtime->none) return 1;
    object *answer = runtime->call(ask, 0, 0, 0);
    if (!answer) runtime->forget_error();
    else runtime->drop(answer);
    return answer == runtime->true_object;
}

/* Whether constants are exactly the expected ones: True and 1.0 are equal to 1, and differ. */
static i32 are_equal(object *constants, object *expected) {
    object *name, *value;
    i64 place = 0;
    i32 left = 0, overflow, none;
    while (runtime->next(expected, &place, &name, &value)) left++;
    place = 0;
    while (runtime->next(constants, &place, &name, &value)) {
        object *wanted = look_up(expected, name);
        if (!wanted || TYPE_OF(value) != runtime->int_type) return 0;
        if (runtime->long_value(value, &overflow) != runtime->long_value(wanted, &none) || overflow) return 0;
        left--;
    }
    return left == 0;
}

static i32 follow(object *ways, object *args, object *constants) {
    struct chosen chosen;
    i64 count = COUNT_OF(ways);
    i32 is_chosen = 0;
    if (!are_equal(constants, ITEM_OF(ways, 0)) || !is_quiet()) return 0;
    for (i64 i = 1; i + 2 < count; i += 3) {
        object *plans = ITEM_OF(ways, i + 2);
        if (!is_current(ITEM_OF(ways, i), ITEM_OF(ways, i + 1))) continue;
        object *held = held_by(plans);
        if (!held) continue;
        if (table_in(held)->on_cpu) {
            if (!look_up(runtime->environment, runtime->cpu_key) && go_here(plans, args)) return 1;
            continue;
        }
        if (!is_chosen && !finds_stream(&chosen)) return 0;
        is_chosen = 1;
        i32 answer = go(plans, args, &chosen);
        if (answer) return answer == FOR_LEDGER ? 0 : answer;
    }
    return 0;
}

/* Called by Python as follow(args, constants). `ways` is a tuple: the constants; then of each form of a kernel the names it
   rests on, what else is asked or None, and its plans. */
object *tileproof_fast_follow(object *ways, object *const *given, i64 count) {
    if (count != 2 || TYPE_OF(given[0]) != runtime->tuple_type || TYPE_OF(given[1]) != runtime->dict_type)
        return runtime->truth(0);
    return told(follow(ways, given[0], given[1]));
}

/* What is seen of an argument, for the comparison with what Python sees. */
i32 tileproof_fast_read(object *given, struct seen *seen) { return read(given, seen); }

/* From here on this runtime is used; the sizes are those the structures have here. */
void tileproof_fast_use(struct runtime *given, i64 *sizes) {
    runtime = given;
    sizes[0] = sizeof(struct runtime);
    sizes[1] = sizeof(struct plan);
    sizes[2] = sizeof(struct argument);
    sizes[3] = sizeof(struct table);
    sizes[4] = sizeof(struct record);
    sizes[5] = sizeof(struct seen);
    sizes[6] = sizeof(struct reader);
    sizes[7] = sizeof(struct lane);
    sizes[8] = sizeof(struct state);
    sizes[9] = sizeof(struct join);
    sizes[10] = sizeof(struct source);
    sizes[11] = sizeof(struct divided);
    sizes[12] = sizeof(struct door);
    sizes[13] = sizeof(struct lanes);
}
