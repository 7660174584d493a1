"""Execution providers as people call them: one table of short names, packages, devices and options, and how it is read.

Checks what a user asks for against the table and the installed build; opens no session.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    MissingDependencyError,
    MissingProviderError,
    RuntimeOptionError,
)
from onnxsmith.runtime import onnxruntime_api, plug_ins

#: What a user writes for a provider: a name, or a pair of a name and options.
Provider: TypeAlias = str | tuple[str, Mapping[str, Any]]
#: A provider's own name and its options, as a part of a key.
ChosenProvider: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """The facts of a provider of ONNX Runtime's own."""

    #: The provider's own name.
    name: str
    #: What people call it, in lower case.
    short: tuple[str, ...]
    #: How a build that has it is come by.
    install: str
    options: frozenset[str] = frozenset()
    #: Whether values can lie in memory of its own.
    is_device: bool = False
    #: The option that captures a graph of kernels once and replays it.
    capture: str | None = None
    #: The option that chooses among several devices.
    device_id: str | None = None


def _names(paragraph: str) -> frozenset[str]:
    return frozenset(paragraph.split())


#: What people call devices elsewhere -> what to write here.
_OF_A_MAKER = {
    "gpu": "a GPU is 'cuda', 'rocm' or 'migraphx', 'dml' or 'coreml', by its maker and the system",
    "mps": "a GPU of Apple's is providers='coreml'",
    "metal": "a GPU of Apple's is providers='coreml'",
}
_PIP = "pip uninstall onnxruntime, then pip install"
_ARENA = "device_id gpu_mem_limit arena_extend_strategy gpu_external_alloc gpu_external_free gpu_external_empty_cache"
_STREAM = "do_copy_in_default_stream has_user_compute_stream user_compute_stream"
_TUNING = "tunable_op_enable tunable_op_tuning_enable tunable_op_max_tuning_duration_ms"

#: The options are those that ONNX Runtime documents. `has_name` finds younger ones in the installed build.
PROVIDERS: tuple[ProviderEntry, ...] = (
    ProviderEntry(
        CPU, ("cpu",), "pip install onnxruntime", _names("arena_extend_strategy use_arena"), is_device=True
    ),
    ProviderEntry(
        CUDA,
        ("cuda",),
        f"{_PIP} onnxruntime-gpu",
        _names(
            f"{_ARENA} {_STREAM} {_TUNING} cudnn_conv_algo_search cudnn_conv_use_max_workspace "
            "cudnn_conv1d_pad_to_nc1d enable_cuda_graph enable_skip_layer_norm_strict_mode prefer_nhwc use_tf32 "
            "fuse_conv_bias sdpa_kernel use_ep_level_unified_stream"
        ),
        is_device=True,
        capture="enable_cuda_graph",
        device_id="device_id",
    ),
    ProviderEntry(
        "TensorrtExecutionProvider",
        ("tensorrt", "trt"),
        f"{_PIP} onnxruntime-gpu, and pip install tensorrt",
        _names(
            "device_id has_user_compute_stream user_compute_stream trt_auxiliary_streams trt_bf16_enable "
            "trt_build_heuristics_enable trt_builder_optimization_level trt_context_memory_sharing_enable "
            "trt_cuda_graph_enable trt_detailed_build_log trt_dla_core trt_dla_enable trt_dump_ep_context_model "
            "trt_dump_subgraphs trt_engine_cache_enable trt_engine_cache_path trt_engine_cache_prefix "
            "trt_engine_decryption_enable trt_engine_decryption_lib_path trt_engine_hw_compatible "
            "trt_ep_context_embed_mode trt_ep_context_file_path trt_extra_plugin_lib_paths "
            "trt_force_sequential_engine_build trt_force_timing_cache trt_fp16_enable trt_int8_calibration_table_name "
            "trt_int8_enable trt_int8_use_native_calibration_table trt_layer_norm_fp32_fallback "
            "trt_max_partition_iterations trt_max_workspace_size trt_min_subgraph_size trt_onnx_bytestream "
            "trt_onnx_bytestream_size trt_onnx_model_folder_path trt_op_types_to_exclude trt_preview_features "
            "trt_profile_max_shapes trt_profile_min_shapes trt_profile_opt_shapes trt_sparsity_enable "
            "trt_tactic_sources trt_timing_cache_enable trt_timing_cache_path trt_weight_stripped_engine_enable"
        ),
        capture="trt_cuda_graph_enable",
        device_id="device_id",
    ),
    ProviderEntry(
        "NvTensorRTRTXExecutionProvider",
        ("nvtensorrtrtx", "tensorrt-rtx"),
        "build ONNX Runtime with --use_nv_tensorrt_rtx",
        _names(
            "device_id has_user_compute_stream user_compute_stream enable_cuda_graph nv_max_shared_mem_size "
            "nv_max_workspace_size nv_multi_profile_enable nv_profile_max_shapes nv_profile_min_shapes "
            "nv_profile_opt_shapes nv_runtime_cache_path"
        ),
        capture="enable_cuda_graph",
        device_id="device_id",
    ),
    ProviderEntry(
        "OpenVINOExecutionProvider",
        ("openvino",),
        f"{_PIP} onnxruntime-openvino",
        _names(
            "device_type device_id precision num_of_threads num_streams cache_dir context load_config model_priority "
            "disable_dynamic_shapes enable_opencl_throttling enable_qdq_optimizer enable_causallm reshape_input layout"
        ),
    ),
    ProviderEntry(
        "CoreMLExecutionProvider",
        ("coreml",),
        "pip install onnxruntime on macOS",
        _names(
            "MLComputeUnits ModelFormat RequireStaticInputShapes EnableOnSubgraphs SpecializationStrategy "
            "ProfileComputePlan AllowLowPrecisionAccumulationOnGPU ModelCacheDirectory"
        ),
    ),
    ProviderEntry(
        "DmlExecutionProvider",
        ("dml", "directml"),
        f"{_PIP} onnxruntime-directml, on Windows",
        _names(
            "device_id device_filter performance_preference disable_metacommands enable_graph_capture "
            "enable_graph_serialization"
        ),
        is_device=True,
        device_id="device_id",
    ),
    ProviderEntry(
        "ROCMExecutionProvider",
        ("rocm",),
        f"{_PIP} onnxruntime-rocm (until 1.22; later 'migraphx')",
        _names(
            f"{_ARENA} {_STREAM} {_TUNING} miopen_conv_exhaustive_search miopen_conv_use_max_workspace enable_hip_graph"
        ),
        is_device=True,
        capture="enable_hip_graph",
        device_id="device_id",
    ),
    ProviderEntry(
        "MIGraphXExecutionProvider",
        ("migraphx",),
        f"{_PIP} onnxruntime-migraphx",
        _names(
            "device_id migraphx_fp16_enable migraphx_bf16_enable migraphx_fp8_enable migraphx_int8_enable "
            "migraphx_int8_calibration_table_name migraphx_int8_use_native_calibration_table migraphx_exhaustive_tune "
            "migraphx_mem_limit migraphx_arena_extend_strategy migraphx_external_alloc migraphx_external_free "
            "migraphx_external_empty_cache migraphx_model_cache_dir migraphx_max_dynamic_batch "
            "migraphx_max_compiled_models"
        ),
        is_device=True,
        device_id="device_id",
    ),
    ProviderEntry(
        "QNNExecutionProvider",
        ("qnn",),
        f"{_PIP} onnxruntime-qnn",
        _names(
            "backend_type backend_path device_id profiling_level profiling_file_path rpc_control_latency vtcm_mb "
            "htp_performance_mode qnn_saver_path qnn_context_priority htp_graph_finalization_optimization_mode "
            "soc_model htp_arch enable_htp_fp16_precision enable_htp_weight_sharing offload_graph_io_quantization "
            "enable_htp_spill_fill_buffer enable_htp_shared_memory_allocator dump_json_qnn_graph json_qnn_graph_dir"
        ),
    ),
    ProviderEntry(
        "WebGpuExecutionProvider",
        ("webgpu",),
        "build ONNX Runtime with --use_webgpu",
        _names(
            "preferredLayout enableGraphCapture enableInt64 dawnBackendType dawnProcTable powerPreference deviceId "
            "adapterIndex webgpuInstance webgpuDevice storageBufferCacheMode uniformBufferCacheMode "
            "queryResolveBufferCacheMode defaultBufferCacheMode validationMode enableRobustness forceCpuNodeNames "
            "enablePIXCapture preserveDevice maxStorageBufferBindingSize maxNumPendingDispatches weightLoadAcceleration"
        )
        | frozenset({"ep.webgpuexecutionprovider.enableGraphCapture"}),
        is_device=True,
        capture="enableGraphCapture",
        device_id="deviceId",
    ),
    ProviderEntry(
        "CANNExecutionProvider",
        ("cann",),
        f"{_PIP} onnxruntime-cann",
        _names(
            "device_id npu_mem_limit arena_extend_strategy do_copy_in_default_stream enable_cann_graph "
            "enable_cann_subgraph dump_graphs dump_om_model precision_mode precision_mode_v2 op_select_impl_mode "
            "optypelist_for_implmode input_format dynamic_batch_size dynamic_image_size dynamic_dims"
        ),
        is_device=True,
        device_id="device_id",
    ),
    ProviderEntry(
        "XnnpackExecutionProvider",
        ("xnnpack",),
        "build ONNX Runtime with --use_xnnpack",
        _names("intra_op_num_threads"),
    ),
    ProviderEntry(
        "DnnlExecutionProvider",
        ("dnnl", "onednn"),
        "build ONNX Runtime with --use_dnnl",
        _names("use_arena threadpool_args"),
    ),
    ProviderEntry(
        "ACLExecutionProvider",
        ("acl",),
        "build ONNX Runtime with --use_acl",
        _names("enable_fast_math use_arena"),
    ),
    ProviderEntry(
        "ArmNNExecutionProvider",
        ("armnn",),
        "build ONNX Runtime before 1.23 with --use_armnn",
        _names("use_arena"),
    ),
    ProviderEntry(
        "VitisAIExecutionProvider",
        ("vitisai",),
        "pip install onnxruntime-vitisai, of AMD's Ryzen AI software",
        _names(
            "config_file cache_dir cache_key cacheDir cacheKey xclbin target xlnx_enable_py3_round log_level"
        ),
    ),
    ProviderEntry(
        "SNPEExecutionProvider",
        ("snpe",),
        "build ONNX Runtime with --use_snpe",
        _names("runtime priority buffer_type enable_init_cache"),
    ),
    ProviderEntry("AzureExecutionProvider", ("azure",), "pip install onnxruntime"),
    ProviderEntry(
        "NnapiExecutionProvider", ("nnapi",), "use ONNX Runtime's package for Android", _names("flags")
    ),
    ProviderEntry("RknpuExecutionProvider", ("rknpu",), "build ONNX Runtime with --use_rknpu"),
    ProviderEntry("VSINPUExecutionProvider", ("vsinpu",), "build ONNX Runtime with --use_vsinpu"),
)

_BY_NAME = {each.name: each for each in PROVIDERS}
_BY_SHORT = {short: each for each in PROVIDERS for short in each.short}


def entry_of(name: str) -> ProviderEntry | None:
    """The entry of a provider by its own name; None for one that only a plug-in brings."""
    return _BY_NAME.get(name)


def checked_providers(given: object) -> tuple[ChosenProvider, ...]:
    """The providers that a user names, by their own names, with checked options; refuses what is none."""
    each_given = _listed(given)
    if not onnxruntime_api.is_available():
        raise MissingDependencyError(
            "providers are ONNX Runtime's, and onnxruntime is not installed", help="pip install onnxruntime"
        )
    checked: list[ChosenProvider] = []
    for provider in each_given:
        name, options = (provider, dict[str, Any]()) if isinstance(provider, str) else provider
        own = provider_name(name)
        checked.append((own, _checked_options(own, options)))
    return tuple(checked)


def _listed(given: object) -> list[Provider]:
    """One provider or several as a list."""
    if isinstance(given, str) or _is_pair(given):
        return [cast("Provider", given)]
    if not isinstance(given, Sequence):
        raise AttributeTypeError(f"providers is a name or a list of names, not {described_type(type(given))}")
    for each in cast("Sequence[object]", given):
        if not isinstance(each, str) and not _is_pair(each):
            raise AttributeTypeError(
                f"a provider is a name, or a pair of a name and its options, not {described_type(type(each))}"
            )
    return list(cast("Sequence[Provider]", given))


def _is_pair(given: object) -> bool:
    pair = cast("tuple[object, ...]", given) if isinstance(given, tuple) else ()
    return len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], Mapping)


def provider_name(given: str) -> str:
    """The own name of a provider that is here; says what to install for one that is not."""
    registered = plug_ins.registered(given)
    if registered is not None:
        return registered
    available = onnxruntime_api.available_providers()
    if given in available:
        return given
    entry = _BY_SHORT.get(given.lower()) or _BY_NAME.get(given)
    here = "available here: " + ", ".join(available)
    if entry is None:
        known = [*_BY_SHORT, *plug_ins.names(), *_BY_NAME, *available]
        maker = _OF_A_MAKER.get(given.lower())
        suggestion = f"{maker};" if maker else did_you_mean(given, known)
        raise AttributeValueError(
            f"there is no execution provider {given!r}", help=f"{suggestion} {here}" if suggestion else here
        )
    if entry.name in available:
        return entry.name
    raise MissingProviderError(
        f"this build of ONNX Runtime has no {entry.name}", help=f"{entry.install}; {here}"
    )


def _checked_options(name: str, options: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    entry = entry_of(name)
    for key in options:
        if not isinstance(cast(object, key), str):
            raise AttributeTypeError(f"the options of {name} have names, and {key!r} is none")
        if entry is None or key in entry.options or onnxruntime_api.has_name(key):
            continue
        suggestion = did_you_mean(key, entry.options)
        listed = "its options: " + (", ".join(sorted(entry.options)) or "none")
        raise RuntimeOptionError(f"{name} has no option {key!r}", help=suggestion or listed)
    return tuple(sorted((key, option_text(value)) for key, value in options.items()))


def option_text(value: object) -> str:
    """The value of an option as ONNX Runtime reads it."""
    return str(int(value)) if isinstance(value, bool) else str(value)


# -- devices -----------------------------------------------------------------------------------------------


def device_entry(device: str) -> tuple[ProviderEntry, int | None]:
    """The provider whose memory a device is, and which of several, if that is said: `"cpu"`, `"cuda"`, `"cuda:1"`."""
    if not isinstance(cast(object, device), str):
        raise AttributeTypeError(f"a device is text such as 'cuda', not {described_type(type(device))}")
    name, colon, number = device.partition(":")
    entry = _BY_SHORT.get(name.lower())
    devices = [each.short[0] for each in PROVIDERS if each.is_device]
    if entry is None:
        maker, listed = _OF_A_MAKER.get(name.lower()), "devices are " + ", ".join(map(repr, devices))
        raise AttributeValueError(
            f"there is no device {device!r}",
            help=f"{maker}; {listed}" if maker else did_you_mean(name, devices) or listed,
        )
    if not entry.is_device:
        raise AttributeValueError(
            f"{entry.short[0]!r} is a provider without a memory of its own, and no device",
            help=f"providers={entry.short[0]!r}",
        )
    if colon and not number.isdecimal():
        raise AttributeValueError(f"there is no device {device!r}: behind the colon stands a number")
    if entry.name == CPU and number.strip("0"):
        raise AttributeValueError(f"there is no device {device!r}", help="there is one CPU: 'cpu'")
    return entry, int(number) if colon else None


def provider_of_device(device: str) -> tuple[ChosenProvider, ...]:
    """The provider to choose for a device, with the option that says which of several. Empty for the CPU."""
    entry, number = device_entry(device)
    if entry.name == CPU:
        return ()
    own = provider_name(entry.short[0])
    return ((own, () if number is None else ((entry.device_id or "device_id", str(number)),)),)


def device_of(providers: Iterable[ChosenProvider]) -> str:
    """The device whose memory the first of the providers takes: `"cuda:0"`, or `"cpu"` where it has none of its own."""
    for name, options in providers:
        entry = entry_of(name)
        if entry is None or not entry.is_device or name == CPU:
            break
        return f"{entry.short[0]}:{dict(options).get(entry.device_id or '', '0')}"
    return "cpu"


# -- what is passed to a session ---------------------------------------------------------------------------


def check_capture(providers: Iterable[ChosenProvider]) -> None:
    """Raise RuntimeOptionError where none of the providers can capture a graph of kernels."""
    names = [name for name, _ in providers]
    if any((entry := entry_of(name)) is not None and entry.capture for name in names):
        return
    able = [each.short[0] for each in PROVIDERS if each.capture]
    raise RuntimeOptionError(
        f"{', '.join(names) or CPU} cannot capture a graph of kernels",
        help="graph_capture=True is for the providers " + ", ".join(map(repr, able)),
    )


@functools.lru_cache(maxsize=64)
def session_providers(
    providers: tuple[ChosenProvider, ...], *, allow_tf32: bool, captures: bool
) -> tuple[ChosenProvider, ...]:
    """The providers with the options that follow from other choices; an option that a user gives stays.

    TensorFloat32 keeps 10 bits of a product's factors, and is off unless it is allowed. Convolutions are laid out
    with channels last where it is on: ResNet-50 on an H200 takes 1.70 times torch's time so instead of 1.82, and 1.60
    instead of 1.45 where it is off.
    """
    result: list[ChosenProvider] = []
    for name, options in providers:
        entry = entry_of(name)
        implied: dict[str, str] = {}
        if name == CUDA:
            implied = {"use_tf32": option_text(allow_tf32), "prefer_nhwc": option_text(allow_tf32)}
        if captures and entry is not None and entry.capture is not None:
            implied[entry.capture] = "1"
        result.append((name, tuple(sorted({**implied, **dict(options)}.items()))))
    return tuple(result)
