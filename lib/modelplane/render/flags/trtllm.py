"""The flags of TensorRT-LLM (`trtllm-serve serve`).

Source: the options of tensorrt_llm/commands/serve.py in the repository of TensorRT-LLM, commits 00209af and 029e223, of
which the registries carry no package.
"""

from __future__ import annotations

from modelplane.render.flags import table
from modelplane.render.flags.table import Form, Reading

TABLE = table.of(
    "TensorRT-LLM",
    ("1.2", "main"),
    Reading.CLICK,
    {
        Form.SWITCH: """
            allow_request_chat_template enable_attention_dp enable_chunked_prefill enable_visual_gen
            fail_fast_on_attention_window_too_large grpc help telemetry,!no-telemetry trust_remote_code
        """,
        Form.ONE: """
            agent_percentage agent_types backend chat_template config,extra_llm_api_options
            context_parallel_size,cp_size custom_tokenizer disagg_cluster_uri
            free_gpu_memory_fraction,kv_cache_free_gpu_memory_fraction generation-config gpus_per_node host
            kv_cache_dtype log_level max_batch_size max_beam_width max_num_tokens max_seq_len media_io_kwargs
            metadata_server_config_file moe_cluster_parallel_size,cluster_size moe_expert_parallel_size,ep_size
            num_input_processor_workers num_media_load_workers num_postprocess_workers num_serve_frontends
            otlp_traces_endpoint pipeline_parallel_size,pp_size port post_processor_hook reasoning_parser report_addr
            revision,hf_revision served_model_name server_role tensor_parallel_size,tp_size tokenizer tool_parser
            video_pruning_rate visual_gen_args
        """,
        Form.REPEATED: """
            custom_module_dirs middleware
        """,
    },
)
