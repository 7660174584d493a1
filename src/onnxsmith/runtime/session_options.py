"""Options of ONNX Runtime's sessions by name: attributes of `SessionOptions`, and configuration entries.

Checks names and values, and brings them into a form that is part of a key. It makes no session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, MissingDependencyError, RuntimeOptionError
from onnxsmith.runtime import onnxruntime_api

OptionValue: TypeAlias = str | int | float | bool
#: Name and text of an option, as a part of a key.
ChosenOption: TypeAlias = tuple[str, str]

#: Attributes that take a word: the word -> the member of ONNX Runtime's enum.
_WORDS: dict[str, dict[str, str]] = {
    "graph_optimization_level": {
        "disable_all": "ORT_DISABLE_ALL",
        "basic": "ORT_ENABLE_BASIC",
        "extended": "ORT_ENABLE_EXTENDED",
        "layout": "ORT_ENABLE_LAYOUT",
        "all": "ORT_ENABLE_ALL",
    },
    "execution_mode": {"sequential": "ORT_SEQUENTIAL", "parallel": "ORT_PARALLEL"},
    "execution_order": {
        "default": "DEFAULT",
        "priority_based": "PRIORITY_BASED",
        "memory_efficient": "MEMORY_EFFICIENT",
    },
}
_NUMBERS = frozenset(
    """
    enable_cpu_mem_arena enable_mem_pattern enable_mem_reuse inter_op_num_threads log_severity_level
    log_verbosity_level use_deterministic_compute use_per_session_threads
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)
_TEXTS = frozenset({"logid", "optimized_model_filepath"})
#: Chosen in another way here, so that the two cannot contradict each other.
_ELSEWHERE = {
    "intra_op_num_threads": "using(intra_op_threads=…)",
    "enable_profiling": "model.profile(…)",
    "profile_file_prefix": "model.profile(…)",
}

#: Configuration entries that ONNX Runtime 1.31 reads.
_ENTRIES = frozenset(
    """
    ep.context_embed_mode ep.context_enable ep.context_file_path ep.context_model_external_initializers_file_name
    ep.context_node_name_prefix ep.dynamic.workload_type ep.share_ep_contexts ep.stop_share_ep_contexts
    mlas.enable_gemm_fastmath_arm64_bfloat16 mlas.use_lut_gemm mlas.disable_kleidiai
    optimization.constant_folding_max_output_size_in_bytes optimization.disable_specified_optimizers
    optimization.enable_cast_chain_elimination optimization.enable_gelu_approximation
    optimization.enable_memory_optimizer optimization.enable_memory_probe_recompute_config
    optimization.minimal_build_optimizations session.allow_released_opsets_only
    session.collect_node_memory_stats_to_file session.debug_layout_transformation
    session.disable_aot_function_inlining session.disable_cpu_ep_fallback session.disable_double_qdq_remover
    session.disable_model_compile session.disable_prepacking session.disable_qdq_constant_folding
    session.disable_quant_qdq session.dynamic_block_base session.enable_dq_matmulnbits_fusion
    session.enable_quant_qdq_cleanup session.fail_on_suboptimal_compiled_model session.force_spinning_stop
    session.graph_optimizations_loop_level session.inter_op.allow_spinning session.intra_op.allow_spinning
    session.intra_op_thread_affinities session.load_model_format
    session.model_external_initializers_file_folder_path
    session.optimized_model_external_initializers_file_name
    session.optimized_model_external_initializers_min_size_in_bytes session.qdq_matmulnbits_accuracy_level
    session.qdq_matmulnbits_block_size session.qdqisint8allowed session.record_ep_graph_assignment_info
    session.resource_cuda_partitioning_settings session.save_external_prepacked_constant_initializers
    session.save_model_format session.set_denormal_as_zero session.strict_shape_type_inference
    session.use_device_allocator_for_initializers session.use_env_allocators
    session.use_ort_model_bytes_directly session.use_ort_model_bytes_for_initializers
    """.split()  # noqa: SIM905  # a paragraph of names is read at a glance
)


def checked_session_options(given: Mapping[str, OptionValue]) -> tuple[ChosenOption, ...]:
    """Options as sorted pairs of text; raises RuntimeOptionError for a name or value that there is not."""
    if not isinstance(cast(object, given), Mapping):
        raise AttributeTypeError(
            f"session_options is a mapping of names and values, not {described_type(type(given))}"
        )
    if not onnxruntime_api.is_available():
        raise MissingDependencyError(
            "session_options are ONNX Runtime's, and onnxruntime is not installed",
            help="pip install onnxruntime",
        )
    return tuple(sorted((name, _text(name, value)) for name, value in given.items()))


def _text(name: str, value: OptionValue) -> str:
    if not isinstance(cast(object, value), str | int | float):
        raise AttributeTypeError(
            f"the session option {name!r} is text or a number, not {described_type(type(value))}"
        )
    if name in _WORDS:
        return _member(name, value)
    if name in _NUMBERS:
        if not isinstance(value, int):
            raise AttributeTypeError(f"the session option {name!r} is an int or a bool, not {value!r}")
        return str(int(value))
    if name in _TEXTS or name in _ENTRIES or _is_young_entry(name):
        return str(int(value)) if isinstance(value, bool) else str(value)
    if name in _ELSEWHERE:
        raise RuntimeOptionError(f"{name!r} is no session option here", help=_ELSEWHERE[name])
    known = [*_WORDS, *_NUMBERS, *_TEXTS, *_ENTRIES]
    attributes = ", ".join(sorted([*_WORDS, *_NUMBERS, *_TEXTS]))
    raise RuntimeOptionError(
        f"ONNX Runtime's sessions have no option {name!r}",
        help=did_you_mean(name, known)
        or f"attributes: {attributes}; and entries such as 'session.use_env_allocators'",
    )


def _is_young_entry(name: str) -> bool:
    return "." in name and onnxruntime_api.has_name(name)


def _member(name: str, value: OptionValue) -> str:
    words = _WORDS[name]
    found = words.get(str(value).lower()) or next((each for each in words.values() if each == value), None)
    if found is None:
        raise RuntimeOptionError(
            f"the session option {name!r} cannot be {value!r}",
            help="it is one of " + ", ".join(map(repr, words)),
        )
    return found
