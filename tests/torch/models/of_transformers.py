"""Models of the transformers package, in tiny configurations with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import DynamicCache

from onnxsmith.torch.caches import register_caches
from tests.torch.models.catalogue import DYNAMIC, ModelCase, add

register_caches()

_VOCABULARY = 99
_BOTH = {0: DYNAMIC, 1: DYNAMIC}
_MOE = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}

_SIZES = {
    "vocab_size": _VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
_GROUPED = {**_SIZES, "num_key_value_heads": 2, "head_dim": 8}


class Part(nn.Module):
    """A model whose first output counts; without a cache, which is a class of its own."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], **fixed: Any) -> None:
        super().__init__()
        self.model = model
        self.names = names
        self.fixed = fixed

    def forward(self, *values: Tensor) -> Tensor:
        return self.model(**dict(zip(self.names, values, strict=True)), **self.fixed)[0]


class Generation(nn.Module):
    """One step of generation: the cache goes in and comes out as tensors."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, mask: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        cache = DynamicCache()
        for layer in range(len(tensors) // 2):
            cache.update(tensors[2 * layer], tensors[2 * layer + 1], layer)
        result = self.model(input_ids=words, attention_mask=mask, past_key_values=cache, use_cache=True)
        grown = [part for layer in result.past_key_values.layers for part in (layer.keys, layer.values)]
        return result.logits, *grown


def _configured(architecture: str, config: str, sizes: dict[str, Any]) -> nn.Module:
    return getattr(transformers, architecture)(getattr(transformers, config)(**sizes))


def _words(batch: int, length: int) -> Tensor:
    return torch.randint(3, _VOCABULARY, (batch, length))


def _mask(batch: int, length: int) -> Tensor:
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[0, length - 2 :] = 0
    return mask


def _add(
    name: str,
    make: Callable[[], nn.Module],
    example: Callable[[int, int], Any],
    dynamic: tuple[Any, ...],
    names: tuple[str, ...],
    **fixed: Any,
) -> None:
    shapes = (dynamic,)  # of the one parameter *values
    add(ModelCase(name, "transformers", lambda: Part(make(), names, **fixed), example, shapes, is_fast=False))


def _text(name: str, architecture: str, config: str, **sizes: Any) -> None:
    """An encoder: words and mask."""
    _add(
        name,
        lambda: _configured(architecture, config, sizes),
        lambda batch, length: (_words(batch, length), _mask(batch, length)),
        (_BOTH, _BOTH),
        ("input_ids", "attention_mask"),
    )


def _causal(name: str, architecture: str, config: str, **sizes: Any) -> None:
    """A decoder: words and mask, no cache."""
    _add(
        name,
        lambda: _configured(architecture, config, sizes),
        lambda batch, length: (_words(batch, length), torch.ones(batch, length, dtype=torch.int64)),
        (_BOTH, _BOTH),
        ("input_ids", "attention_mask"),
        use_cache=False,
    )


def _translator(name: str, architecture: str, config: str, **sizes: Any) -> None:
    """Encoder and decoder: words of both."""
    _add(
        name,
        lambda: _configured(architecture, config, sizes),
        lambda batch, length: (_words(batch, length), _words(batch, length + 2)),
        (_BOTH, _BOTH),
        ("input_ids", "decoder_input_ids"),
        use_cache=False,
    )


def _picture(name: str, architecture: str, config: str, side: int = 32, **sizes: Any) -> None:
    """Images of a fixed size."""
    _add(
        name,
        lambda: _configured(architecture, config, sizes),
        lambda batch, length: (torch.randn(batch, 3, side, side),),
        ({0: DYNAMIC},),
        ("pixel_values",),
    )


_text("bert", "BertForSequenceClassification", "BertConfig", **_SIZES)
_text("bert_masked_words", "BertForMaskedLM", "BertConfig", **_SIZES)
_text(
    "roberta", "RobertaForTokenClassification", "RobertaConfig", **{**_SIZES, "max_position_embeddings": 70}
)
_text(
    "distilbert",
    "DistilBertForMaskedLM",
    "DistilBertConfig",
    vocab_size=_VOCABULARY,
    dim=32,
    n_layers=2,
    n_heads=4,
    hidden_dim=48,
)
_text("albert", "AlbertModel", "AlbertConfig", **_SIZES, embedding_size=16)
_text("electra", "ElectraForSequenceClassification", "ElectraConfig", **_SIZES, embedding_size=16)
_text(
    "mobilebert",
    "MobileBertModel",
    "MobileBertConfig",
    **{**_SIZES, "hidden_size": 32},
    embedding_size=16,
    intra_bottleneck_size=16,
    true_hidden_size=16,
)
_text("mpnet", "MPNetModel", "MPNetConfig", **_SIZES)
_text("modernbert", "ModernBertForMaskedLM", "ModernBertConfig", **_SIZES, pad_token_id=0)
_text(
    "deberta_v2",
    "DebertaV2ForSequenceClassification",
    "DebertaV2Config",
    **_SIZES,
    relative_attention=True,
    pos_att_type=["p2c", "c2p"],
    position_buckets=16,
)
_text("esm", "EsmModel", "EsmConfig", **_SIZES, pad_token_id=0, position_embedding_type="rotary")

_causal(
    "gpt2",
    "GPT2LMHeadModel",
    "GPT2Config",
    vocab_size=_VOCABULARY,
    n_embd=32,
    n_layer=2,
    n_head=4,
    n_positions=64,
)
_causal("gpt_neox", "GPTNeoXForCausalLM", "GPTNeoXConfig", **_SIZES)
_causal("llama", "LlamaForCausalLM", "LlamaConfig", **_GROUPED)
_causal("mistral", "MistralForCausalLM", "MistralConfig", **_GROUPED, sliding_window=5)
_causal(
    "mixtral", "MixtralForCausalLM", "MixtralConfig", **_GROUPED, num_local_experts=4, num_experts_per_tok=2
)
_causal("qwen2", "Qwen2ForCausalLM", "Qwen2Config", **_SIZES, num_key_value_heads=2)
_causal("qwen3", "Qwen3ForCausalLM", "Qwen3Config", **_GROUPED)
_causal("qwen3_moe", "Qwen3MoeForCausalLM", "Qwen3MoeConfig", **_GROUPED, **_MOE)
_causal("gemma", "GemmaForCausalLM", "GemmaConfig", **_GROUPED)
_causal("gemma2", "Gemma2ForCausalLM", "Gemma2Config", **_GROUPED, sliding_window=5)
_causal("gemma3", "Gemma3ForCausalLM", "Gemma3TextConfig", **_GROUPED, sliding_window=5)
_causal("phi", "PhiForCausalLM", "PhiConfig", **_SIZES)
_causal("phi3", "Phi3ForCausalLM", "Phi3Config", **_SIZES, num_key_value_heads=2, pad_token_id=0)
_causal("opt", "OPTForCausalLM", "OPTConfig", **_SIZES, ffn_dim=48, word_embed_proj_dim=32)
_causal(
    "bloom", "BloomForCausalLM", "BloomConfig", vocab_size=_VOCABULARY, hidden_size=32, n_layer=2, n_head=4
)
_causal(
    "falcon",
    "FalconForCausalLM",
    "FalconConfig",
    vocab_size=_VOCABULARY,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
)
_causal("stablelm", "StableLmForCausalLM", "StableLmConfig", **_SIZES, num_key_value_heads=2)
_causal("olmo2", "Olmo2ForCausalLM", "Olmo2Config", **_SIZES, num_key_value_heads=2)
_causal("granite", "GraniteForCausalLM", "GraniteConfig", **_SIZES, num_key_value_heads=2)
_causal("cohere", "CohereForCausalLM", "CohereConfig", **_SIZES, num_key_value_heads=2)
_causal("smollm3", "SmolLM3ForCausalLM", "SmolLM3Config", **_SIZES, num_key_value_heads=2, pad_token_id=0)
_causal(
    "deepseek_v3",
    "DeepseekV3ForCausalLM",
    "DeepseekV3Config",
    **_SIZES,
    num_key_value_heads=4,
    moe_intermediate_size=16,
    n_routed_experts=4,
    n_shared_experts=1,
    num_experts_per_tok=2,
    n_group=2,
    topk_group=1,
    q_lora_rank=16,
    kv_lora_rank=16,
    qk_rope_head_dim=8,
    qk_nope_head_dim=8,
    v_head_dim=8,
    first_k_dense_replace=1,
)
_causal(
    "gpt_oss",
    "GptOssForCausalLM",
    "GptOssConfig",
    **_GROUPED,
    num_local_experts=4,
    num_experts_per_tok=2,
    sliding_window=5,
)
_causal(
    "mamba2",
    "Mamba2ForCausalLM",
    "Mamba2Config",
    vocab_size=_VOCABULARY,
    hidden_size=32,
    num_hidden_layers=2,
    state_size=8,
    num_heads=8,
    head_dim=8,
    n_groups=2,
    chunk_size=4,
)

_translator(
    "t5",
    "T5ForConditionalGeneration",
    "T5Config",
    vocab_size=_VOCABULARY,
    d_model=32,
    d_kv=8,
    d_ff=48,
    num_layers=2,
    num_heads=4,
)
_SEQUENCES = {
    "vocab_size": _VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
}
_translator("bart", "BartForConditionalGeneration", "BartConfig", **_SEQUENCES)
_translator("marian", "MarianMTModel", "MarianConfig", **_SEQUENCES, pad_token_id=1, decoder_start_token_id=1)

_PATCHES = {
    "image_size": 32,
    "patch_size": 8,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
_picture("vit", "ViTForImageClassification", "ViTConfig", **_PATCHES)
_picture("deit", "DeiTForImageClassification", "DeiTConfig", **_PATCHES)
_picture("beit", "BeitForImageClassification", "BeitConfig", **_PATCHES, use_relative_position_bias=True)
_picture("dinov2", "Dinov2Model", "Dinov2Config", **_PATCHES)
_picture("siglip_vision", "SiglipVisionModel", "SiglipVisionConfig", **_PATCHES)
_picture(
    "swin",
    "SwinForImageClassification",
    "SwinConfig",
    image_size=32,
    patch_size=4,
    embed_dim=16,
    depths=[1, 2],
    num_heads=[2, 4],
    window_size=4,
)
_picture(
    "convnext",
    "ConvNextForImageClassification",
    "ConvNextConfig",
    hidden_sizes=[8, 16],
    depths=[1, 1],
    num_stages=2,
)
_picture(
    "resnet",
    "ResNetForImageClassification",
    "ResNetConfig",
    embedding_size=8,
    hidden_sizes=[8, 16],
    depths=[1, 2],
    layer_type="bottleneck",
)
_picture(
    "mobilenet_v2",
    "MobileNetV2ForImageClassification",
    "MobileNetV2Config",
    image_size=32,
    depth_multiplier=0.25,
)
_picture(
    "efficientnet",
    "EfficientNetForImageClassification",
    "EfficientNetConfig",
    image_size=32,
    width_coefficient=0.25,
    depth_coefficient=0.3,
    hidden_dim=320,
)
_picture(
    "mobilevit",
    "MobileViTForImageClassification",
    "MobileViTConfig",
    image_size=32,
    hidden_sizes=[16, 24, 32],
    neck_hidden_sizes=[8, 8, 12, 16, 20, 24, 32],
)
_picture(
    "segformer",
    "SegformerForSemanticSegmentation",
    "SegformerConfig",
    side=64,
    hidden_sizes=[8, 8, 16, 16],
    depths=[1, 1, 1, 1],
    decoder_hidden_size=16,
)

_TOWER = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
_add(
    "clip",
    lambda: transformers.CLIPModel(
        transformers.CLIPConfig(
            text_config={
                **_TOWER,
                "vocab_size": _VOCABULARY,
                "eos_token_id": 2,
                "max_position_embeddings": 64,
            },
            vision_config={**_TOWER, "image_size": 32, "patch_size": 8},
            projection_dim=16,
        )
    ),
    lambda batch, length: (_words(batch, length), torch.randn(batch, 3, 32, 32)),
    (_BOTH, {0: DYNAMIC}),
    ("input_ids", "pixel_values"),
)
_add(
    "whisper",
    lambda: _configured(
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        {
            **{key: value for key, value in _SEQUENCES.items() if key != "max_position_embeddings"},
            "num_mel_bins": 8,
            "max_source_positions": 20,
            "max_target_positions": 32,
            "pad_token_id": 0,
            "decoder_start_token_id": 1,
        },
    ),
    lambda batch, length: (torch.randn(batch, 8, 40), _words(batch, length)),
    ({0: DYNAMIC}, _BOTH),
    ("input_features", "decoder_input_ids"),
    use_cache=False,
)
_add(
    "wav2vec2",
    lambda: _configured(
        "Wav2Vec2Model",
        "Wav2Vec2Config",
        {
            **_TOWER,
            "conv_dim": (16, 16),
            "conv_stride": (4, 2),
            "conv_kernel": (8, 4),
            "num_conv_pos_embeddings": 8,
            "num_conv_pos_embedding_groups": 2,
        },
    ),
    lambda batch, length: (torch.randn(batch, 40 * length),),
    (_BOTH,),
    ("input_values",),
)

add(
    ModelCase(
        "llama_generation",
        "transformers",
        lambda: Generation(_configured("LlamaForCausalLM", "LlamaConfig", _GROUPED)),
        lambda batch, length: (
            _words(batch, 1),
            torch.ones(batch, length + 1, dtype=torch.int64),
            *(torch.randn(batch, 2, length, 8) for _ in range(4)),
        ),
        ({0: DYNAMIC}, _BOTH, ({0: DYNAMIC, 2: DYNAMIC},) * 4),
        is_fast=False,
    )
)


def _with_cache(batch: int, length: int) -> dict[str, Any]:
    cache = DynamicCache()
    for layer in range(2):
        cache.update(*torch.randn(2, batch, 2, length, 8), layer)
    mask = torch.ones(batch, length + 1, dtype=torch.int64)
    return {"input_ids": _words(batch, 1), "attention_mask": mask, "past_key_values": cache}


_CACHED = [{0: DYNAMIC, 2: DYNAMIC}] * 2
for _name, _architecture, _config in (
    ("llama", "LlamaForCausalLM", "LlamaConfig"),
    ("qwen3", "Qwen3ForCausalLM", "Qwen3Config"),
):
    add(
        ModelCase(
            f"{_name}_cache",
            "transformers",
            lambda names=(_architecture, _config): _configured(*names, _GROUPED),
            _with_cache,
            {"input_ids": {0: DYNAMIC}, "attention_mask": _BOTH, "past_key_values": [_CACHED, _CACHED]},
            is_fast=False,
        )
    )
