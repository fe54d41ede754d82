/*
 * The part of jansson's interface that reading graph.json needs (boards have no jansson to link with): values
 * are read once, looked at, and freed together with their root. json.c says what it takes.
 */
#ifndef CLI_BOARDS_JANSSON_H
#define CLI_BOARDS_JANSSON_H

#include <stddef.h>

typedef long long json_int_t;
typedef struct json_t json_t;

enum { JSON_REJECT_DUPLICATES = 1 }; /* always: two members of one name are an error */

typedef struct {
    int line; /* from 1 */
    char text[160];
} json_error_t;

/* The value that a file, or a text of `bytes` bytes, consists of; NULL with the reason in e. */
json_t *json_load_file(const char *path, size_t flags, json_error_t *e);
json_t *json_loadb(const char *text, size_t bytes, size_t flags, json_error_t *e);
/* Frees a root, or an object made here; NULL is nothing. */
void json_decref(json_t *root);

json_t *json_object(void); /* empty, to be freed by json_decref */
json_t *json_integer(json_int_t n); /* to be put into an object */
/* Adds a member, whose name is not in the object yet, and owns it: 0, or -1 without memory. */
int json_object_set_new(json_t *object, const char *name, json_t *value);

int json_is_object(const json_t *v); /* 0 for NULL, as all of these */
int json_is_array(const json_t *v);
int json_is_string(const json_t *v);
int json_is_integer(const json_t *v);
int json_is_number(const json_t *v);
int json_is_null(const json_t *v);
int json_is_boolean(const json_t *v);
int json_is_true(const json_t *v);

size_t json_object_size(const json_t *v); /* 0 for what is no object */
json_t *json_object_get(const json_t *v, const char *name); /* NULL if there is none */
size_t json_array_size(const json_t *v); /* 0 for what is no array */
json_t *json_array_get(const json_t *v, size_t i); /* NULL beyond the end */
json_t *json_first(const json_t *v); /* of an object's members; NULL if there is none */
json_t *json_next(const json_t *v); /* the member behind this one */
const char *json_name(const json_t *v); /* of a member */
const char *json_string_value(const json_t *v); /* NULL for what is no string */
json_int_t json_integer_value(const json_t *v); /* 0 for what is no integer */
double json_number_value(const json_t *v); /* 0 for what is no number */

#define json_object_foreach(object, name, v) \
    for (v = json_first(object); v && (name = json_name(v)) != NULL; v = json_next(v))
#define json_array_foreach(array, i, v) for (i = 0; (v = json_array_get(array, i)) != NULL; i++)

#endif
