/*
 * The importer's private vocabulary.
 *
 * Stages, each in the file of its name: wire (bytes -> protobuf-c messages), flatten (functions and branches of
 * Ifs inlined, one list of nodes), order (what the outputs need), inputs, then one forward pass, producers
 * first: each ONNX node's handler (op_*.c, found through table.c) emits graph nodes; emit.c infers their shapes
 * and folds those whose inputs are constant. Of an If the pass meets its condition first, and then what the
 * branch that is taken needs; what only the other needs it never meets.
 *
 * Tensors are handles: a value of the graph (>= 0), IM_ABSENT, or (<= IM_EMPTY) a constant without elements,
 * which the graph cannot hold and which only means "not given" or "no dimensions" in ONNX.
 *
 * im_fail and im_refuse do not return (longjmp): all memory is the arena's or the graph's.
 */
#ifndef GRAPH_ONNX_IMPORT_H
#define GRAPH_ONNX_IMPORT_H

#include <setjmp.h>

#include "graph/graph.h"
#include "graph/onnx.pb-c.h"

enum {
    IM_ABSENT = -1,     /* an optional input that is not given */
    IM_UNSET = -2,      /* a name whose tensor has not been made yet */
    IM_POISON = -3,     /* output of a node that was refused */
    IM_EMPTY = -16,     /* this and below: constant number IM_EMPTY - handle of m->empties */
    IM_OPSET = 27,      /* the newest opset that is understood: of onnx 1.22 */
    IM_MICROSOFT = 1,   /* the same of onnxruntime's domain, com.microsoft */
    IM_DEPTH = 64,      /* nesting of messages */
    IM_NODES = 1 << 15, /* nodes after inlining */
    IM_NAMES = 1 << 20, /* tensors that branches of Ifs make */
    IM_LARGE = 1 << 12  /* bytes from which a piece of the arena belongs to the graph */
};

/* In a thin copy of a file, in the place of elements of IM_LEFT_OUT bytes and more. */
struct im_ticket {
    uint64_t magic, offset, bytes; /* IM_TICKET; in the file */
};
#define IM_TICKET UINT64_C(0x3174656b63697469)
enum { IM_LEFT_OUT = 1 << 16 };

struct im_block;

struct im_arena { /* memory of one import, freed at its end */
    struct im_block *blocks;
    char *at;
    size_t left;
    struct ig_graph *g; /* large pieces come from here: they may become constants as they are */
};

struct im_scope { /* the call that a function's body was inlined from: where ref_attr_name is looked up */
    const struct im_scope *up;
    const Onnx__NodeProto *call;
    const Onnx__FunctionProto *function;
};

struct im_fork {         /* the branches of an If: then, else */
    const char **out[2]; /* [n_out] what each has for the node's outputs */
    const char **taken;  /* one of them; NULL: not known yet */
};

enum im_state {
    IM_DEAD = 0, /* no output needs it */
    IM_LIVE,     /* one does */
    IM_MAYBE,    /* one does where a branch is taken */
    IM_OPEN,     /* its inputs are being made */
    IM_READY,    /* they are there */
    IM_DONE
};

struct im_node {                    /* an ONNX node after inlining */
    const char *name, *op, *domain; /* never NULL; the domain "ai.onnx" has become "" */
    int64_t opset;                  /* of its domain; 0: not imported */
    int32_t n_in, n_out;
    const char **in, **out; /* tensor names, "" where absent */
    const Onnx__NodeProto *pb;
    const struct im_scope *scope;
    struct im_fork *fork; /* of an If; then `in` is the condition, and once that is known what the taken branch has */
    int32_t state;        /* enum im_state */
    int32_t next;         /* input to look at next */
};

struct im_name {                   /* a tensor name of the model */
    const char *name;              /* NULL: free slot */
    int32_t value;                 /* handle or IM_UNSET */
    int32_t node;                  /* producer, or -1 */
    const Onnx__TensorProto *init; /* initializer, or NULL */
    int32_t is_input;              /* of the graph */
    int32_t read;                  /* by a live node, or a graph output */
};

struct im_names { /* hash table, open addressing */
    struct im_name *slots;
    uint32_t n, room; /* room is a power of two */
};

struct im_report { /* nodes that cannot be compiled */
    char *text;    /* lines, from malloc */
    size_t used, room;
    int32_t n;
};

struct im_narrow { /* a constant of 4 bits, whose elements have a byte each here */
    int32_t value;
    const struct im_narrow *next;
};

struct im {
    struct ig_graph *g;
    const struct ig_import_options *options;
    const char *path; /* in messages, and where external data lies */
    char *err;
    size_t err_bytes;
    jmp_buf *stop; /* innermost catcher */
    int refused;   /* the longjmp was im_refuse's */
    struct im_arena arena;
    const Onnx__ModelProto *model;
    struct im_names names;     /* of tensors */
    struct im_names functions; /* value: index in the model */
    struct im_names symbols;   /* dim_param; value: its size */
    struct im_node *nodes;
    int32_t n_nodes, room_nodes;
    int32_t n_calls; /* of functions, and branches, inlined so far */
    int32_t n_names; /* of tensors that branches make */
    int32_t *stack, depth, root; /* of im_next: nodes on the way to producers, and which live node to begin with next */
    struct ig_shape *empties;
    int32_t n_empties;
    const struct im_node *node;    /* being handled, or NULL */
    int32_t emitted;               /* graph nodes that it has made */
    int32_t first_value;           /* values from here on are its own */
    int file;                      /* of a thin copy: the descriptor of the whole, + 1; else 0 */
    const struct im_narrow *narrow;
    int keep_half;                 /* f16 tensors stay f16: test data, not a model */
    int64_t bytes_left, work_left; /* budgets: bytes of constants, elements read and written by folding */
    struct im_report report;
};

typedef void im_op_fn(struct im *m, const struct im_node *n);

struct im_op { /* a row of the operator table */
    const char *name;
    im_op_fn *run; /* NULL: known, and refused with `why` */
    const char *why;
    int32_t kind; /* what `run` makes of it: enum ig_unary, ig_binary, ... */
};

/* --- arena.c, names.c --- */
void *im_alloc(struct im *m, size_t bytes);           /* zeroed */
void *im_array(struct im *m, size_t n, size_t bytes); /* the same for n elements */
const char *im_strdup(struct im *m, const char *s);
__attribute__((format(printf, 2, 3))) const char *im_format(struct im *m, const char *format, ...);
ProtobufCAllocator im_allocator(struct im_arena *arena);
void im_arena_free(struct im_arena *arena);
/*
 * The entry of `name`, made (unset, no producer) if `make`; NULL if it is not there. Good until the next
 * make.
 */
struct im_name *im_find(struct im *m, struct im_names *names, const char *name, int make);

/* --- report.c --- */
__attribute__((format(printf, 2, 3), noreturn)) void im_fail(struct im *m, const char *format, ...);
__attribute__((format(printf, 2, 3), noreturn)) void im_misfit(struct im *m, const char *format, ...); /* With im_doubt's question. */
__attribute__((format(printf, 2, 3), noreturn)) void im_refuse(struct im *m, const char *format, ...);
void im_report_node(struct im *m, const struct im_node *n, const char *why);
/* "Conv-17", "com.microsoft.Gelu-1" */
const char *im_op_text(struct im *m, const struct im_node *n);

/* --- stages --- */
/* Maps a regular file; NULL with a line in err. */
void *im_map_file(const char *path, size_t *n, char *err, size_t err_bytes);
/* What else than an ONNX model those bytes look like, and what helps, such as "it is a web page: ..."; NULL: nothing that is known. */
const char *im_kind(const void *bytes, size_t n);
/* 0 if `n` bytes are well-formed as message `type`, of 2 GiB at most; else -1 with a line in err. */
int im_check(const ProtobufCMessageDescriptor *type, const void *bytes, size_t n, char *err, size_t err_bytes);
/* Copy of a well-formed ModelProto without tensors' elements and nodes' attributes but graphs, from malloc; NULL: out of memory. */
void *im_slim(const void *bytes, size_t n, size_t *slim_bytes);
/* The same with all but large elements of tensors, which are read when they are needed, into their place. */
void *im_thin(const void *bytes, size_t n, size_t *thin_bytes);
/* Parses `n` bytes as message `type`; NULL with a line in err. */
void *im_unpack(const ProtobufCMessageDescriptor *type, ProtobufCAllocator *a, const void *bytes, size_t n,
                char *err, size_t err_bytes);
/* m->model of the file's bytes; im_fail where they are no model with a graph. */
void im_parse(struct im *m, const void *bytes, size_t n);
void im_flatten(struct im *m);
/* Enters the initializers of the graph, or of a branch, whose names get a prefix. */
void im_add_initializers(struct im *m, const Onnx__GraphProto *graph, const char *prefix);
void im_order(struct im *m);
/*
 * The next live node, producers first; NULL: there is none. An If comes when its condition has been made, and again, where
 * that has set fork->taken, when the outputs of the branch have been.
 */
const struct im_node *im_next(struct im *m);
void im_bind_inputs(struct im *m);
const char *im_doubt(struct im *m); /* Where shapes do not fit: asks about one that was given and is not the file's; "" where none is. */
void im_make_outputs(struct im *m);
const struct im_op *im_op_find(const struct im_node *n); /* NULL: not an operator we know */
int im_is_microsoft(const char *domain);                 /* onnxruntime's own */

/* --- tensor.c, external.c: TensorProto -> constants --- */
/* Element type of the graph for ONNX type t (f16 and bf16: IG_F32, ...), or -1; *name is ONNX's name of it.
 */
int32_t im_type(int32_t t, const char **name);
/*
 * The same for tensors that are computed at run time: only the graph's own types; refuses others. `what`:
 * whose it is
 */
int32_t im_runtime_type(struct im *m, int32_t t, const char *what);
/* Makes a constant (or an empty one) of t; `what` says in messages whose it is. */
int32_t im_tensor(struct im *m, const Onnx__TensorProto *t, const char *name, const char *what);
/* Value v is a constant that the file has in 4 bits. */
int im_is_narrow(const struct im *m, int32_t v);
/* Reads n bytes of fd from `offset` on; 0, or -1 with errno (0: end of file). */
int im_read(int fd, char *to, size_t n, int64_t offset);
/* raw bytes of a tensor kept in another file: *n bytes exactly; fails through im_fail */
const void *im_external(struct im *m, const Onnx__TensorProto *t, size_t n, const char *what);

/* --- node.c: what handlers ask of the ONNX node --- */
int32_t im_in(struct im *m, const struct im_node *n, int i);   /* handle of input i, or IM_ABSENT */
int32_t im_need(struct im *m, const struct im_node *n, int i); /* graph value of input i; fails otherwise */
int im_wants(struct im *m, const struct im_node *n, int i);    /* output i is named and read */
void im_set(struct im *m, const struct im_node *n, int i, int32_t handle);      /* output i is this tensor */
const Onnx__AttributeProto *im_attr(const struct im_node *n, const char *name); /* NULL if absent */
int64_t im_int(struct im *m, const struct im_node *n, const char *name, int64_t absent);
int32_t im_int32(struct im *m, const struct im_node *n, const char *name, int32_t absent, int32_t min,
                 int32_t max);
float im_float(struct im *m, const struct im_node *n, const char *name, float absent);
const char *im_string(struct im *m, const struct im_node *n, const char *name, const char *absent);
/* Index of the string attribute's value in the NULL-terminated list; refuses another. */
int im_choice(struct im *m, const struct im_node *n, const char *name, const char *absent,
              const char *const *list);
int im_ints(struct im *m, const struct im_node *n, const char *name, int64_t *dst,
            int max); /* count or -1: absent */
int im_floats(struct im *m, const struct im_node *n, const char *name, float *dst, int max); /* the same */
int im_strings(struct im *m, const struct im_node *n, const char *name, const char **dst, int max); /* the same */
/* Integers of a constant tensor: count, or -1 if absent; refuses runtime tensors. */
int im_const_ints(struct im *m, int32_t handle, const char *what, int64_t *dst, int max);
int im_const_floats(struct im *m, int32_t handle, const char *what, float *dst, int max);
/* From input i if given, else from the attribute; -1: neither. */
int im_ints_from(struct im *m, const struct im_node *n, int i, const char *name, int64_t *dst, int max);
int32_t im_axis(struct im *m, int64_t axis,
                int32_t rank); /* negative ones count from the end; fails outside */
int32_t im_mask(struct im *m, const int64_t *axes, int n,
                int32_t rank); /* bit i: dimension i; fails on repeats */
struct ig_shape im_shape(const struct im *m, int32_t handle);
int im_is_const(const struct im *m, int32_t handle); /* empty ones too */

/* --- emit.c: what handlers make --- */
struct im_emit { /* one graph node */
    int32_t op;  /* enum ig_op */
    int32_t n_in;
    const int32_t *in; /* values or IM_ABSENT */
    union ig_attrs attrs;
    struct ig_shape given[3]; /* outputs' shape or type where inference needs it */
    int32_t n_out;            /* 0 means 1 */
    int32_t unwanted;         /* bit i: output i is not read */
};
/* Adds the node (or its constant results) and gives its outputs' values. */
void im_emit(struct im *m, const struct im_emit *e, int32_t *out);
int32_t im_emit1(struct im *m, enum ig_op op, int32_t n_in, const int32_t *in, const union ig_attrs *attrs);
int32_t im_unary(struct im *m, int32_t kind, int32_t x, float alpha, float beta);
int32_t im_binary(struct im *m, int32_t kind, int32_t a, int32_t b);
int32_t im_reshape(struct im *m, int32_t x, int32_t rank, const int64_t *dims);
int32_t im_transpose(struct im *m, int32_t x, const int32_t *perm);
int32_t im_cast(struct im *m, int32_t x, int32_t type);
int32_t im_reduce(struct im *m, int32_t kind, int32_t x, int32_t mask);
int32_t im_drop_dims(struct im *m, int32_t x, int32_t mask); /* x without the dims of `mask`, all of which are 1 */
int32_t im_slice(struct im *m, int32_t x, const int32_t *start, const int32_t *step, const int64_t *extent);
int32_t im_expand(struct im *m, int32_t x, const struct ig_shape *to);
/* Takes that many bytes from the budget of constants; fails where it has fewer. */
void im_charge(struct im *m, int64_t bytes);
/* New constant of zeros to be filled through *data, within the byte budget. */
int32_t im_const(struct im *m, const struct ig_shape *shape, void **data);
int32_t im_scalar(struct im *m, int32_t type, double value);
int32_t im_empty(struct im *m, const struct ig_shape *shape); /* a constant one of whose dims is 0 */
/* Shape from dims, checked: each at least 1, fewer than 2^31 elements. */
struct ig_shape im_make_shape(struct im *m, int32_t type, int32_t rank, const int64_t *dims);

/* --- op_*.c --- */
/* What the node's attributes say, of x and the kind of its row in the table. */
void im_pool(struct im *m, const struct im_node *n, int32_t x, int32_t n_out, int32_t *out);
/* Before opset 13 the data is a matrix cut at `axis`, from 13 on one axis; `absent`: where the attribute is. */
int32_t im_softmax(struct im *m, const struct im_node *n, int32_t x, int64_t opset, int64_t absent);
int32_t im_reduce_axes(struct im *m, const struct im_node *n, int32_t x, const int64_t *axes, int count);
im_op_fn im_op_unary, im_op_identity, im_op_alpha, im_op_clip, im_op_gelu, im_op_shrink, im_op_isinf,
    im_op_selu, im_op_hard_sigmoid, im_op_cast, im_op_cast_like, im_op_dropout;
im_op_fn im_op_binary, im_op_variadic, im_op_mean, im_op_pow, im_op_mod, im_op_prelu, im_op_where,
    im_op_shift;
im_op_fn im_op_conv, im_op_conv_transpose, im_op_conv_integer, im_op_qlinear_conv, im_op_deform_conv,
    im_op_col2im;
im_op_fn im_op_pool, im_op_global_pool, im_op_max_unpool, im_op_roi_align, im_op_max_roi_pool, im_op_affine_grid,
    im_op_grid_sample, im_op_lrn;
im_op_fn im_op_gemm, im_op_matmul, im_op_einsum, im_op_matmul_integer, im_op_qlinear_matmul, im_op_quantize,
    im_op_dequantize, im_op_dynamic_quantize;
im_op_fn im_op_batch_norm, im_op_instance_norm, im_op_group_norm, im_op_layer_norm, im_op_lp_norm, im_op_mvn;
im_op_fn im_op_reverse_sequence, im_op_det, im_op_recurrent, im_op_attention, im_op_rotary_embedding, im_op_if;
im_op_fn im_op_softmax, im_op_reduce, im_op_arg, im_op_cumsum, im_op_topk;
im_op_fn im_op_constant, im_op_constant_of_shape, im_op_shape, im_op_size, im_op_range, im_op_eye_like,
    im_op_one_hot;
im_op_fn im_op_qgemm, im_op_qlinear_binary, im_op_qlinear_pool, im_op_qlinear_global_pool, im_op_qlinear_concat,
    im_op_qlinear_unary, im_op_qlinear_reduce, im_op_qlinear_softmax, im_op_qlinear_where;
im_op_fn im_op_reshape, im_op_flatten, im_op_squeeze, im_op_unsqueeze, im_op_transpose, im_op_depth_to_space,
    im_op_space_to_depth, im_op_expand, im_op_tile, im_op_trilu;
im_op_fn im_op_concat, im_op_split, im_op_slice, im_op_pad, im_op_center_crop_pad, im_op_gather,
    im_op_gather_elements, im_op_gather_nd, im_op_scatter_elements, im_op_scatter_nd;
im_op_fn im_op_resize, im_op_upsample;

#endif
