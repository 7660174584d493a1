"""Models of the timm package with random weights, for images of a fixed size."""

from __future__ import annotations

import timm
import torch

from tests.torch.models.catalogue import BATCH, ModelCase, add

_NAMES = {
    "resnet18": {},
    "resnext26ts": {},
    "mobilenetv3_small_050": {},
    "efficientnet_lite0": {},
    "convnext_atto": {},
    "regnety_002": {},
    "vit_tiny_patch16_224": {"img_size": 64},
    "deit_tiny_patch16_224": {"img_size": 64},
    "mixer_s32_224": {"img_size": 64},
    "poolformer_s12": {},
    "ghostnet_050": {},
    "edgenext_xx_small": {},
}

for _name, _options in _NAMES.items():
    add(
        ModelCase(
            f"timm_{_name}",
            "timm",
            lambda name=_name, options=_options: timm.create_model(name, num_classes=10, **options),
            lambda batch, length: (torch.randn(batch, 3, 64, 64),),
            BATCH,
            is_fast=False,
        )
    )
