"""The flags of vLLM that Ray Serve LLM takes as keyword arguments of its engine, by the kind of their values.

A keyword is the flag with "_" for "-". Ray refuses an unknown keyword only when the engine starts.
Source: vLLM 0.29.0, which Ray 2.60.0 ships (engine/arg_utils.py: AsyncEngineArgs and get_kwargs;
entrypoints/launchers/cli_args.py: BaseFrontendArgs), and Ray 2.60.0 (llm/_internal/serve/engines/vllm/vllm_models.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Kind(StrEnum):
    """The kind of a flag's value."""

    SWITCH = "nothing"
    COUNT = "a whole number"
    SIZE = "a whole number, which may end in k, m, g or t"
    NUMBER = "a number"
    TEXT = "a text"
    TEXTS = "one or more texts"
    COUNTS = "one or more whole numbers"
    OBJECT = "a JSON object"
    EITHER = "a text or a JSON object"


_FLAGS: Mapping[Kind, str] = {
    Kind.SWITCH: """
        allow_deprecated_quantization async_scheduling cohere_is_reasoning_model cudagraph_metrics dcp_q_replicate
        disable_cascade_attn disable_chunked_mm_input disable_custom_all_reduce disable_hybrid_kv_cache_manager
        disable_nccl_for_dp_synchronization disable_sliding_window enable_auto_tool_choice
        enable_batch_sharded_sampling enable_bf16x3_router_gemm enable_chunked_prefill enable_cumem_allocator
        enable_dbo enable_elastic_ep enable_ep_weight_filter enable_eplb enable_expert_parallel
        enable_fault_tolerance enable_flashinfer_autotune enable_force_include_usage enable_layerwise_nvtx_tracing
        enable_log_deltas enable_log_outputs enable_log_requests enable_logging_iteration_details enable_lora
        enable_mamba_cache_stochastic_rounding enable_mfu_metrics enable_mixed_moe_lora_format enable_mm_embeds
        enable_moe_shared_loras enable_per_request_metrics enable_prefix_caching enable_prompt_embeds
        enable_prompt_tokens_details enable_return_routed_experts enable_server_load_tracking enable_sleep_mode
        enable_tokenizer_info_endpoint enable_tower_connector_lora enable_trace_replay enforce_eager
        exclude_tools_when_tool_choice_none fully_sharded_loras interleave_mm_strings jit_monitor_verbose
        kv_cache_metrics kv_sharing_fast_prefill language_model_only log_error_stack mm_device_do_normalize
        mm_encoder_only numa_bind return_sampling_mask return_tokens_as_token_ids scheduler_reserve_full_isl
        skip_mm_profiling skip_tokenizer_init specialize_active_lora trust_remote_code trust_request_chat_template
        use_fp64_gumbel use_replayssm use_tqdm_on_load
    """,
    Kind.COUNT: """
        block_size cp_kv_cache_interleave_size cpu_distributed_timeout_seconds data_parallel_size
        dbo_decode_token_threshold dbo_prefill_token_threshold dcp_kv_cache_interleave_size
        decode_context_parallel_size distributed_timeout_seconds long_prefill_token_threshold mamba_block_size
        mamba_cache_philox_rounds max_cpu_loras max_cudagraph_capture_size max_log_len max_logprobs max_lora_rank
        max_loras max_num_queued_reqs max_num_seqs max_parallel_loading_workers mm_shm_cache_max_object_size_mb
        num_gpu_blocks_override offload_group_size offload_num_in_group offload_prefetch_step optimization_level
        pipeline_parallel_size prefill_schedule_interval prefix_cache_retention_interval prefix_match_unit
        renderer_num_workers replayssm_buffer_len safetensors_prefetch_num_threads seed spec_tokens
        sse_keep_alive_interval stream_interval tensor_parallel_size ubatch_size
    """,
    Kind.SIZE: """
        kv_cache_memory_bytes max_model_len max_num_batched_tokens max_num_queued_tokens max_num_scheduled_tokens
        safetensors_prefetch_block_size
    """,
    Kind.NUMBER: """
        cpu_offload_gb gpu_memory_utilization kv_cache_metrics_sample kv_offloading_size
        mm_encoder_fp8_scale_save_margin mm_ipc_gpu_memory_gb mm_processor_cache_gb video_pruning_rate watermark
    """,
    Kind.TEXT: """
        all2all_backend allowed_local_media_path attention_backend chat_template chat_template_content_format
        code_revision cohere_format config_format convert dcp_comm_backend download_dir dtype
        expert_placement_strategy fingerprint_mode fingerprint_value gdn_prefill_backend generation_config
        hf_config_path io_processor_plugin jit_monitor_mode kda_prefill_backend kv_cache_dtype kv_offloading_backend
        linear_backend load_format logprobs_mode lora_dtype mamba_backend mamba_cache_dtype mamba_cache_mode
        mamba_ssm_cache_dtype mamba_ssu_algorithm mm_encoder_attn_backend mm_encoder_attn_dtype
        mm_encoder_fp8_scale_path mm_encoder_fp8_scale_save_path mm_encoder_tp_mode mm_hasher_algorithm
        mm_processor_cache_type mm_processor_device mm_tensor_ipc model model_impl moe_backend offload_backend
        otlp_traces_endpoint per_request_spec_decode_metrics performance_mode prefix_caching_hash_algo quantization
        reasoning_parser reasoning_parser_plugin response_role revision runner safetensors_load_strategy
        scheduler_cls scheduling_policy show_hidden_metrics_for_version spec_method spec_model tokenizer
        tokenizer_mode tokenizer_revision tool_call_parser tool_parser_plugin tool_server video_pruning_method
        worker_cls worker_extension_cls
    """,
    Kind.TEXTS: """
        allowed_media_domains collect_detailed_traces cpu_offload_params ignore_patterns kv_cache_dtype_skip_layers
        logits_processors lora_target_modules offload_params served_model_name
    """,
    Kind.COUNTS: "cudagraph_capture_sizes",
    Kind.OBJECT: """
        additional_config attention_config compilation_config default_chat_template_kwargs default_mm_loras
        diffusion_config ec_manager_config ec_transfer_config eplb_config fault_tolerance_config ir_op_priority
        kernel_config kv_events_config kv_transfer_config limit_mm_per_prompt media_io_kwargs mm_processor_kwargs
        model_class_overrides model_loader_extra_config override_generation_config pooler_config profiler_config
        quantization_config reasoning_config speculative_config structured_outputs_config weight_transfer_config
    """,
    Kind.EITHER: "hf_overrides pt_load_map_location",
}
KINDS: Mapping[str, Kind] = {name: kind for kind, names in _FLAGS.items() for name in names.split()}
"""The kind of every keyword that is passed on."""

_WIRED = "Ray wires the ranks of an engine itself; remove it"
_ANSWERED = "Ray Serve answers the requests, not vLLM's own server; remove it"
REFUSED: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("data_parallel_address", "data_parallel_backend", "data_parallel_external_lb", "data_parallel_hybrid_lb"),
            *("data_parallel_multi_port_external_lb", "data_parallel_rank", "data_parallel_rpc_port", "device_ids"),
            *("data_parallel_start_rank", "distributed_executor_backend", "headless", "master_addr", "master_port"),
            *("aggregate_engine_logging", "data_parallel_supervisor_port", "dp_supervisor_probe_failure_threshold"),
            *("dp_supervisor_probe_interval_s", "dp_supervisor_probe_timeout_s"),
            *("nnodes", "node_rank", "numa_bind_cpus", "numa_bind_nodes", "ray_workers_use_nsight"),
        ),
        _WIRED,
    ),
    **dict.fromkeys(
        (
            *("allow_credentials", "allowed_headers", "allowed_methods", "allowed_origins", "api_key", "grpc"),
            *("api_server_count", "disable_access_log_for_endpoints", "disable_fastapi_docs", "root_path", "uds"),
            *("disable_uvicorn_access_log", "enable_offline_docs", "enable_request_id_headers", "enable_ssl_refresh"),
            *("h11_max_header_count", "h11_max_incomplete_event_size", "middleware", "ssl_ca_certs", "ssl_cert_reqs"),
            *("enable_flash_late_interaction", "fail_on_environ_validation", "log_config_file", "shutdown_timeout"),
            *("ssl_certfile", "ssl_ciphers", "ssl_keyfile", "tokens_only", "uvicorn_log_level"),
        ),
        _ANSWERED,
    ),
    "config": "Modelplane does not read files of flags; write the flags",
    "disable_log_stats": "Ray Serve LLM publishes the engine's metrics and needs them; remove it",
    "hf_token": "everybody who can read the object can read its arguments; use HF_TOKEN in env, from a Secret",
    "lora_modules": "Ray Serve LLM loads adapters in its own way, which Modelplane does not support; remove it",
    "prefill_context_parallel_size": "Ray Serve LLM reserves tensor x pipeline devices for an engine; remove it",
}
"""Flags of vLLM that are not passed on, each with the reason."""
