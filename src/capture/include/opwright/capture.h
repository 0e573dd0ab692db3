/* Opwright's recorder for C and C++ programs: every operator call of a run, in a file that `opwright import` reads.
 *
 *     opwright_options options = OPWRIGHT_OPTIONS;
 *     options.folder = "trace";
 *     char message[256];
 *     if (opwright_open(&options, message, sizeof message) != 0) puts(message);
 *
 *     opwright_call* call = opwright_begin("mylib.matmul");   // NULL when off or not wanted: pass it on all the same
 *     opwright_arg(call, NULL);                               // a positional argument: its value follows
 *     opwright_put_tensor(call, &a);
 *     opwright_arg(call, "transpose_b");                      // a keyword argument
 *     opwright_put_bool(call, 1);
 *     opwright_run(call);                                     // written down now: a crash inside the call shows
 *     ... the operation ...
 *     opwright_put_tensor(call, &c);                          // after opwright_run, values are the result
 *     opwright_end(call);
 *
 * No function here throws, aborts, or fails the program. Calls may come from any thread and nest. When no trace is open
 * a call costs one load and one branch. Link with libopwright_capture (which needs nothing else of Opwright).
 */
/* NOLINTBEGIN: C, with the names of C */
#ifndef OPWRIGHT_CAPTURE_H
#define OPWRIGHT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPWRIGHT_CAPTURE_VERSION 1

typedef struct opwright_options {
  size_t size;         /* sizeof(opwright_options): later versions add fields at the end */
  const char* folder;  /* made when it is missing; one file per process goes there */
  const char* stem;    /* beginning of the file's name; NULL: "trace" */
  const char* only;    /* operations to record: globs, comma separated; NULL: all */
  const char* phase;   /* phases to record, comma separated; NULL: all */
  uint64_t first;      /* record only the first N calls, count the others; 0: all */
  double max_overhead; /* share of the run that recording may cost, e.g. 0.05; less is recorded beyond; 0: no limit */
  uint64_t max_bytes;  /* of the trace file; recording stops there; 0: no limit */
} opwright_options;

#define OPWRIGHT_OPTIONS {sizeof(opwright_options), NULL, NULL, NULL, NULL, 0, 0.0, 0}

/* Opens the process's trace. 0, or -1 with a text in `message` that says what is wrong and what to do. */
int opwright_open(const opwright_options* options, char* message, size_t message_size);
/* Ends it. Also called at exit. Without it nothing is lost but the mark that the program ended by itself. */
void opwright_close(void);
/* Path of the open trace, "" when there is none. Valid until opwright_close. */
const char* opwright_path(void);

/* Is a trace open? Looks at one variable, so that a hook costs nothing when off. */
extern int opwright_is_recording_;
static inline int opwright_recording(void) { return __atomic_load_n(&opwright_is_recording_, __ATOMIC_RELAXED); }

/* ---- a call ---- */

typedef struct opwright_call opwright_call;

typedef struct opwright_tensor {
  uint64_t id;      /* unique among the tensors of the run */
  uint64_t version; /* grows with each write into it */
  uint64_t storage; /* tensors with the same number share memory; 0 unknown */
  uint64_t address; /* 0 unknown */
  uint64_t view_of; /* id of the tensor it is a view of; 0 none */
  uint32_t spec;    /* value id of its description (opwright_keep); 0 unknown */
} opwright_tensor;

opwright_call* opwright_begin_slow_(const char* operation);
static inline opwright_call* opwright_begin(const char* operation) {
  return __builtin_expect(opwright_recording() != 0, 0) ? opwright_begin_slow_(operation) : NULL;
}
void opwright_arg(opwright_call* call, const char* keyword); /* keyword NULL: positional; positional ones come first */
void opwright_run(opwright_call* call);
void opwright_wrote(opwright_call* call, const opwright_tensor* after); /* an argument's state after the call */
void opwright_freed(opwright_call* call, uint64_t tensor);              /* the call freed this argument */
void opwright_failed(opwright_call* call, const char* type, const char* message);
void opwright_end(opwright_call* call);

/* ---- values: into a call (its next argument, or its result), or into a value that is kept ---- */

void opwright_put_null(opwright_call*);
void opwright_put_bool(opwright_call*, int);
void opwright_put_int(opwright_call*, int64_t);
void opwright_put_float(opwright_call*, double);
void opwright_put_string(opwright_call*, const char*);
void opwright_put_enum(opwright_call*, const char* type, const char* member);
void opwright_put_list(opwright_call*, uint32_t count);                      /* count values follow */
void opwright_put_dict(opwright_call*, uint32_t count);                      /* count pairs of values follow */
void opwright_put_struct(opwright_call*, const char* type, uint32_t fields); /* fields times: field, value */
void opwright_put_field(opwright_call*, const char* name);
void opwright_put_opaque(opwright_call*, const char* type, const char* text); /* could not be read; counted */
void opwright_put_kept(opwright_call*, uint32_t value);
void opwright_put_tensor(opwright_call*, const opwright_tensor*);

/* A value used often (the description of a tensor, a configuration), written once: begin, put…, keep -> its id. */
opwright_call* opwright_value(void);
uint32_t opwright_keep(opwright_call*);

/* ---- content of tensors (opt-in): numbers of elements of one of "float32", "float64", "float16", "bfloat16",
 *      "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool" ---- */

enum { OPWRIGHT_SKETCH = 1, OPWRIGHT_HASH = 2, OPWRIGHT_CONTENT = 4 };
/* After opwright_run: of the `slot`-th tensor of the arguments (result = 0) or of the result (result = 1). */
void opwright_data(opwright_call*, uint32_t slot, int result, const char* dtype, const int64_t* shape, uint32_t rank,
                   const void* elements, unsigned what);

/* ---- the run ---- */

void opwright_phase(const char* name); /* of this thread from here on: "prefill", "decode"; NULL or "" none */
void opwright_label(const char* name); /* of this thread: "layer0/attention" */
void opwright_test(const char* name);  /* of the process */
void opwright_test_result(const char* name, const char* outcome, double seconds);
void opwright_fact(const char* name, const char* text);
void opwright_note(const char* kind, const char* text);

#ifdef __cplusplus
}
#endif

#endif /* OPWRIGHT_CAPTURE_H */
/* NOLINTEND */
