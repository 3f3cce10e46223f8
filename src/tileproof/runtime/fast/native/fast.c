/* Launches that are like an earlier one, recognised and started without Python.

   A plan is what an earlier launch found out: for each argument what it must be, and all that the driver is given but
   addresses and scalars. Arguments are read once, compared with every plan of the kernel, and handed to the driver.
   Whatever is unusual ends in False, and the full launch judges it; nothing here decides that something is wrong.

   From the first look at a tensor to the call of the driver no Python code can run, so none can change a tensor that
   was looked at: only objects of exact known types are read, and of those only what is read without calling anything
   of theirs. The two questions that torch answers by code of its own are asked before, and then the plans are looked
   up anew, because that code may have thrown them away.

   This file is compiled to fast.ll, which is what users get: see tools/build_fast.py. It includes no headers and calls
   nothing by name: `struct runtime` brings every function of Python and every place inside Python's objects.
   layout.py describes the same structures. */

typedef int i32;
typedef long long i64;
typedef unsigned long long u64;
typedef struct object object;

enum { MOST_ARGUMENTS = 32, MOST_WORDS = 160, MOST_AXES = 8, MOST_TYPES = 8 };

/* What an argument was seen to be, and what a plan wants it to be. */
enum { UNKNOWN, WHOLE, REAL, TRUTH, TENSOR };

/* In which unit a tensor counts its strides, which also tells how it names its element type: numpy by the address of
   a descriptor, DLPack by a code. */
enum { BYTES, ELEMENTS, UNITS };

/* No system has memory below this; a torch tensor whose memory was given back may say it is there. */
enum { LOWEST = 1 << 16 };

/* How a scalar is stored. */
enum { AS_WHOLE, AS_F32, AS_F64 };

/* How tensors of a type are read. */
enum { BY_ARRAY, BY_EXCHANGE, BY_RECORD, BY_PYTHON };

/* An answer besides no and yes: Python must look, at a tensor that only it can read or for a stream. */
enum { FOR_PYTHON = 2 };

struct axis { i64 extent, stride[UNITS]; };

struct argument {
    i32 form, word; /* word: which of the driver's parameters it is, -1 for none */
    i32 rank, is_written, is_stored_as, is_empty;
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

struct plan {
    i32 arguments, words;
    i32 device_type, device;
    i32 grid[3], block[3], shared_bytes;
    i32 follows_torch, releases_gil, has_programs;
    void *function, *stream, *context;
    launch_code *launch;
    context_code *current_context; /* null: whatever context is current is the right one */
    const u64 *word;
    const struct argument *argument;
};

/* The plans of a kernel. */
struct table {
    i64 count;
    i64 *latest; /* which plan was used last */
    u64 grad, negated; /* bits of arguments about which torch is asked */
    const struct plan *plan[];
};

/* Memory that a type of our own keeps in a `bytes` object; extents, then strides in elements, come behind it. */
struct record { u64 address; i32 device_type, device, dtype, rank, is_writable, padding; i64 numbers[]; };

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

struct runtime {
    /* Where things are in Python's objects. */
    i64 header, tuple_items, bytes_data, plans_slot;
    object *tuple_type, *bytes_type, *int_type, *float_type, *plans_type;
    object *true_object, *false_object;
    /* What Python does. */
    i64 (*long_value)(object *, i32 *overflow);
    double (*float_value)(object *);
    object *(*truth)(i64);
    object *(*call)(object *code, object *const *args, u64 count, object *names);
    object *(*attribute)(object *, object *name);
    void (*hold)(object *);
    void (*drop)(object *);
    void (*forget_error)(void);
    void *(*release_gil)(void);
    void (*take_gil)(void *);
    /* What others do. */
    object *in_python; /* the same launch, for what is only read in Python */
    object *is_grad_enabled, *requires_grad, *is_negated;
    stream_code *torch_stream;
    i64 readers;
    struct reader reader[MOST_TYPES];
};

static struct runtime *runtime;

#define AT(type, base, offset) (*(type *)((char *)(base) + (offset)))
#define TYPE_OF(thing) AT(object *, thing, runtime->header - 8)
#define COUNT_OF(tuple) AT(i64, tuple, runtime->header)
#define ITEM_OF(tuple, place) AT(object *, tuple, runtime->tuple_items + 8 * (place))

/* An argument as it is now; shape and strides are its owner's and hold until Python code runs. */
struct seen {
    i32 form, how;
    i32 device_type, device, rank, unit, is_writable, padding;
    u64 element, address;
    const i64 *shape, *strides;
    i64 whole;
    double real;
};

struct span { u64 low, high; i64 is_written; };

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

static i32 fits_tensor(
    const struct plan *plan, const struct argument *argument, const struct seen *seen, struct span *span
) {
    i32 unit = seen->unit;
    if (seen->element != argument->element[unit] || seen->rank != argument->rank) return 0;
    if (seen->device_type != plan->device_type || seen->device != plan->device) return 0;
    if (seen->how == BY_EXCHANGE && !plan->follows_torch) return 0;
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
    return span->low >= LOWEST && span->low <= seen->address && span->high >= seen->address;
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

/* Whether the arguments are like those of the plan; if so, `words` is what the driver is to be given. */
static i32 fits(const struct plan *plan, const struct seen *seen, i64 count, u64 *words) {
    struct span spans[MOST_ARGUMENTS];
    u64 scalars[MOST_ARGUMENTS];
    i32 tensors = 0;
    if (plan->arguments != count) return 0;
    for (i64 i = 0; i < count; i++) {
        const struct argument *argument = &plan->argument[i];
        if (argument->form != seen[i].form) return 0;
        if (argument->form == TENSOR) {
            if (!fits_tensor(plan, argument, &seen[i], &spans[tensors++])) return 0;
        } else if (!fits_scalar(argument, &seen[i], &scalars[i])) return 0;
    }
    if (!are_apart(spans, tensors)) return 0;
    for (i32 i = 0; i < plan->words; i++) words[i] = plan->word[i];
    for (i64 i = 0; i < count; i++) {
        const struct argument *argument = &plan->argument[i];
        if (argument->word >= 0) words[argument->word] = argument->form == TENSOR ? seen[i].address : scalars[i];
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

/* `held` keeps the plan. */
static i32 start(const struct plan *plan, object *held, u64 *words) {
    void *parameters[MOST_WORDS];
    void *stream = plan->stream, *context = 0, *thread = 0;
    if (!plan->has_programs) return 1;
    if (plan->follows_torch && !runtime->torch_stream) return FOR_PYTHON;
    if (plan->follows_torch && runtime->torch_stream(plan->device_type, plan->device, &stream) != 0) {
        runtime->forget_error();
        return 0;
    }
    if (plan->current_context && (plan->current_context(&context) != 0 || context != plan->context)) return 0;
    for (i32 i = 0; i < plan->words; i++) parameters[i] = &words[i];
    if (plan->releases_gil) {
        runtime->hold(held); /* other threads may clear the plans meanwhile */
        thread = runtime->release_gil();
    }
    i32 failure = plan->launch(
        plan->function, plan->grid[0], plan->grid[1], plan->grid[2], plan->block[0], plan->block[1], plan->block[2],
        plan->shared_bytes, stream, parameters, 0
    );
    if (thread) {
        runtime->take_gil(thread);
        runtime->drop(held);
    }
    return failure == 0;
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

static i32 go(object *plans, object *args) {
    struct seen seen[MOST_ARGUMENTS];
    u64 words[MOST_WORDS];
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
        if (!read(ITEM_OF(args, i), &seen[i])) return seen[i].how == BY_PYTHON ? FOR_PYTHON : 0;
    i64 latest = *table->latest;
    if (fits(table->plan[latest], seen, count, words)) return start(table->plan[latest], held, words);
    for (i64 i = 0; i < table->count; i++)
        if (i != latest && fits(table->plan[i], seen, count, words)) {
            *table->latest = i;
            return start(table->plan[i], held, words);
        }
    return 0;
}

/* Called by Python as launch(plans, args); True if it launched. */
object *tileproof_fast_launch(object *self, object *const *given, i64 count) {
    (void)self;
    if (count != 2 || TYPE_OF(given[0]) != runtime->plans_type || TYPE_OF(given[1]) != runtime->tuple_type)
        return runtime->truth(0);
    i32 answer = go(given[0], given[1]);
    if (answer != FOR_PYTHON) return runtime->truth(answer);
    object *told = runtime->call(runtime->in_python, given, 2, 0);
    if (told) return told;
    runtime->forget_error();
    return runtime->truth(0);
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
}
