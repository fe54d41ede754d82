/* What a file is that is no ONNX model, by the bytes with which its kind begins, and how to come by a model. */
#include "graph/onnx/import.h"

#include <string.h>

#define TEXT(bytes) bytes, sizeof bytes - 1 /* without the zero */
static const struct kind {
    size_t at; /* where in the file */
    const char *bytes;
    size_t n;
    const char *what;
} kinds[] = {
    {0, TEXT("version https://git-lfs"), "it is a pointer of Git LFS to the file: git lfs pull fetches it"},
    {0, TEXT("PK\3\4"), "it is a ZIP archive, as PyTorch's .pt and .pth are: export it by torch.onnx.export, or unpack it"},
    {0, TEXT("\x80\2"), "it is a pickle of Python, as old .pt and .pth files of PyTorch are: export it by torch.onnx.export"},
    {4, TEXT("TFL3"), "it is a TensorFlow Lite model: tf2onnx converts it"},
    {0, TEXT("\x89HDF\r\n\x1a\n"), "it is an HDF5 file, as Keras writes: tf2onnx converts it"},
    {4, TEXT("ORTM"), "it is in onnxruntime's own format: take the .onnx file that it was made from"},
    {0, TEXT("\x1f\x8b"), "it is compressed: gunzip it"},
    {0, TEXT("\x28\xb5\x2f\xfd"), "it is compressed: unzstd it"},
    {0, TEXT("\177ELF"), "it is a program"},
    {0, TEXT("\x93NUMPY"), "it is a NumPy array"},
    {0, TEXT("\xff\xd8\xff"), "it is a picture"},
    {0, TEXT("\x89PNG"), "it is a picture"},
    {0, TEXT("P5\n"), "it is a picture"},
    {0, TEXT("P6\n"), "it is a picture"},
};
#undef TEXT

/* UTF-8, which may be cut off at the end. */
static int is_text(const char *at, size_t n)
{
    int due = 0; /* bytes of a character that has begun */
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)at[i];
        if (due ? c >> 6 != 2 : c >> 6 == 2 || c > 0xf4) return 0;
        if (c == 0 || c == 127 || (c < ' ' && !strchr("\t\r\n\f", c))) return 0;
        due = due ? due - 1 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    }
    return n > 0;
}

/* One mark-up element, as a server answers with where the file is not. */
static int is_page(const char *at, size_t n)
{
    while (n && strchr(" \t\r\n", *at)) at++, n--;
    return n > 4 && (!memcmp(at, "<!", 2) || !memcmp(at, "<html", 5) || !memcmp(at, "<HTML", 5));
}

const char *im_kind(const void *bytes, size_t n)
{
    enum { LOOKED_AT = 512 };
    const char *at = bytes;
    size_t looked = n < LOOKED_AT ? n : LOOKED_AT;
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++)
        if (k->at + k->n <= n && !memcmp(at + k->at, k->bytes, k->n)) return k->what;
    if (n >= 16 && !memcmp(at + 8, "{\"", 2)) return "it is a safetensors file, which has weights and no network: export the network itself";
    if (!is_text(at, looked)) return n && *at == '\n' ? "it begins as a graph of TensorFlow does (.pb): tf2onnx converts it" : NULL;
    if (is_page(at, looked)) return "it is a web page: download the file itself, not the page about it";
    return "it is a text file, and ONNX's are binary (protobuf): give the .onnx file that was exported";
}
