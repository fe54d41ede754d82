/* The table of networks. */
#include "models/zoo/zoo.h"

#include <errno.h>
#include <string.h>

#include "models/zoo/nets.h"

static const struct ig_zoo_net nets[] = {
    {"mlp", 2, 841, 0, 0, "Ciresan 2010, Table 1, network 5: 29x29 digits, 2500-2000-1500-1000-500-10",
     zoo_mlp},
    {"squeezenet1.1", 4, 3, 224, 224, "torchvision squeezenet1_1 (Iandola 2016)", zoo_squeezenet1_1},
    {"mobilenet_v1", 4, 3, 224, 224, "Keras MobileNet, alpha 1 (Howard 2017)", zoo_mobilenet_v1},
    {"mobilenet_v1_025", 4, 3, 224, 224, "Keras MobileNet, alpha 0.25 (Howard 2017)", zoo_mobilenet_v1_025},
    {"mobilenet_v2", 4, 3, 224, 224, "torchvision mobilenet_v2 (Sandler 2018)", zoo_mobilenet_v2},
    {"efficientnet_b0", 4, 3, 224, 224, "torchvision efficientnet_b0 (Tan 2019)", zoo_efficientnet_b0},
    {"alexnet", 4, 3, 224, 224, "torchvision alexnet (Krizhevsky 2014)", zoo_alexnet},
    {"googlenet", 4, 3, 224, 224, "torchvision googlenet, no auxiliary heads (Szegedy 2014)", zoo_googlenet},
    {"inception_v2", 4, 3, 224, 224, "TF-Slim inception_v2, 1001 classes (Ioffe 2015)", zoo_inception_v2},
    {"inception_v3", 4, 3, 299, 299, "torchvision inception_v3, no auxiliary head (Szegedy 2015)",
     zoo_inception_v3},
    {"resnet18", 4, 3, 224, 224, "torchvision resnet18 (He 2015)", zoo_resnet18},
    {"resnet50", 4, 3, 224, 224, "torchvision resnet50 (He 2015), stride in the 3x3", zoo_resnet50},
    {"resnet101", 4, 3, 224, 224, "torchvision resnet101 (He 2015), stride in the 3x3", zoo_resnet101},
    {"resnext50", 4, 3, 224, 224, "torchvision resnext50_32x4d (Xie 2016)", zoo_resnext50},
    {"densenet121", 4, 3, 224, 224, "torchvision densenet121 (Huang 2016)", zoo_densenet121},
    {"convnext_tiny", 4, 3, 224, 224, "torchvision convnext_tiny (Liu 2022)", zoo_convnext_tiny},
    {"vgg16", 4, 3, 224, 224, "torchvision vgg16 (Simonyan 2014, D)", zoo_vgg16},
    {"vgg19", 4, 3, 224, 224, "torchvision vgg19 (Simonyan 2014, E)", zoo_vgg19},
    {"yolov3", 4, 3, 416, 416, "darknet yolov3.cfg (Redmon 2018), the three raw maps", zoo_yolov3},
    {"fcn", 4, 3, 224, 224, "voc-fcn8s, 21 classes, VGG-16 body (Shelhamer 2016)", zoo_fcn},
};

const struct ig_zoo_net *ig_zoo_net(int32_t i)
{
    return i >= 0 && i < (int32_t)(sizeof nets / sizeof *nets) ? &nets[i] : NULL;
}

const struct ig_zoo_net *ig_zoo_find(const char *name)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        if (!strcmp(nets[i].name, name)) return &nets[i];
    return NULL;
}

static void build(struct zoo *z, const struct ig_zoo_net *net)
{
    zoo_begin(z, net);
    net->build(z, zoo_input(z, net));
}

void ig_zoo_count(const struct ig_zoo_net *net, struct ig_zoo_counts *counts)
{
    struct zoo z;
    build(&z, net);
    *counts = z.counts;
    counts->bytes = zoo_bytes(&z);
    zoo_end(&z);
}

int ig_zoo_write(const struct ig_zoo_net *net, FILE *f, char *err, size_t err_bytes)
{
    struct zoo z;
    build(&z, net);
    errno = 0;
    int failed = zoo_write(&z, f);
    if (failed) snprintf(err, err_bytes, "%s: cannot write: %s", net->name, strerror(errno));
    zoo_end(&z);
    return failed;
}
