/* ingot inspect --layers */
#ifndef CLI_LAYERS_H
#define CLI_LAYERS_H

/* Prints the layers of an ONNX file by the names that a mapping uses: a table, names alone (quiet), or JSON. Fatal on error. */
void ig_inspect_layers(const char *path, const char *out, int json, int quiet);

#endif
