/* One builder a network; see the table in zoo.c. */
#ifndef MODELS_ZOO_NETS_H
#define MODELS_ZOO_NETS_H

#include "models/zoo/build.h"

ig_zoo_build_fn zoo_mlp, zoo_squeezenet1_1, zoo_mobilenet_v1, zoo_mobilenet_v1_025, zoo_mobilenet_v2,
    zoo_efficientnet_b0, zoo_alexnet, zoo_googlenet, zoo_inception_v2, zoo_inception_v3, zoo_resnet18,
    zoo_resnet50, zoo_resnet101, zoo_resnext50, zoo_densenet121, zoo_convnext_tiny, zoo_vgg16, zoo_vgg19, zoo_yolov3, zoo_fcn;

#endif
