"""The flags of llama.cpp (`llama-server`).

Source: common_params_parser_init of llama.cpp b11434 (common/arg.cpp) for the server.
"""

from __future__ import annotations

from modelplane.render.flags import table
from modelplane.render.flags.table import Form, Reading

TABLE = table.of(
    "llama.cpp",
    ("b11434", "b11434"),
    Reading.EXACT,
    {
        Form.SWITCH: """
            agent,-ag,!no-agent,!-no-ag backend-sampling,-bs cache-idle-slots,!no-cache-idle-slots cache-list,-cl
            cache-prompt,!no-cache-prompt check-tensors completion-bash cont-batching,-cb,!no-cont-batching,!-nocb
            context-shift,!no-context-shift cors-credentials,!no-cors-credentials cpu-moe,-cmoe embd-gemma-default
            embedding,embeddings escape,-e,!no-escape fim-qwen-1.5b-default fim-qwen-14b-spec fim-qwen-30b-default
            fim-qwen-3b-default fim-qwen-7b-default fim-qwen-7b-spec gpt-oss-120b-default gpt-oss-20b-default
            help,usage,-h ignore-eos jinja,!no-jinja kv-offload,-kvo,!no-kv-offload,!-nkvo
            kv-unified,-kvu,!no-kv-unified,!-no-kvu list-devices log-disable log-jsonl,!no-log-jsonl
            log-prefix,!no-log-prefix log-timestamps,!no-log-timestamps lora-init-without-apply metrics
            mmproj-auto,!no-mmproj,!no-mmproj-auto mmproj-offload,!no-mmproj-offload
            models-autoload,!no-models-autoload no-host offline op-offload,!no-op-offload perf,!no-perf
            prefill-assistant,!no-prefill-assistant props reasoning-preserve,!no-reasoning-preserve
            repack,!no-repack,!-nr rerank,reranking reuse-port skip-chat-parsing,!no-skip-chat-parsing
            slots,!no-slots spec-default spec-draft-backend-sampling,!no-spec-draft-backend-sampling
            spec-draft-cpu-moe,cpu-moe-draft,-cmoed special,-sp spm-infill swa-full ui,webui,!no-ui,!no-webui
            ui-mcp-proxy,webui-mcp-proxy,!no-ui-mcp-proxy,!no-webui-mcp-proxy verbose,log-verbose,-v version
            vision-gemma-12b-default vision-gemma-4b-default warmup,!no-warmup
        """,
        Form.ONE: """
            adaptive-decay adaptive-target api-prefix batch-size,-b cache-ram,-cram cache-reuse cache-type-k,-ctk
            cache-type-v,-ctv chat-template chat-template-file chat-template-kwargs checkpoint-min-step,-cms
            cors-headers cors-methods cors-origins cpu-mask,-C cpu-mask-batch,-Cb cpu-range,-Cr cpu-range-batch,-Crb
            cpu-strict cpu-strict-batch ctx-checkpoints,swa-checkpoints,-ctxcp ctx-size,-c defrag-thold,-dt
            device,-dev docker-repo,-dr draft,draft-n,draft-max draft-min,draft-n-min dry-allowed-length dry-base
            dry-multiplier dry-penalty-last-n dynatemp-exp dynatemp-range embd-normalize fit,-fit fit-ctx,-fitc
            fit-target,-fitt flash-attn,-fa frequency-penalty gpu-layers,n-gpu-layers,-ngl grammar grammar-file
            hf-file,-hff hf-repo,-hf,-hfr hf-token,-hft host image-max-tokens image-min-tokens json-schema,-j
            json-schema-file,-jf keep kv-unified-per-slot lazy-mode,-lzm load-mode,-lm log-colors log-file
            log-prompts-dir lookup-cache-dynamic,-lcd lookup-cache-static,-lcs main-gpu,-mg mcp-servers-config
            mcp-servers-json media-path min-p mirostat mirostat-ent mirostat-lr mmproj,-mm mmproj-device,-mmdev
            mmproj-url,-mmu model,-m model-url,-mu models-dir models-max models-preset mtmd-batch-max-tokens
            n-cpu-ffn,-ncffn n-cpu-moe,-ncmoe numa parallel,-np path poll poll-batch pooling port
            predict,n-predict,-n presence-penalty prio prio-batch reasoning,-rea reasoning-budget
            reasoning-budget-message reasoning-effort reasoning-format repeat-last-n repeat-penalty rope-freq-base
            rope-freq-scale rope-scale rope-scaling rpc sampler-seq,sampling-seq samplers seed,-s sleep-idle-seconds
            slot-prompt-similarity,-sps slot-save-path spec-draft-cpu-mask,cpu-mask-draft,-Cd
            spec-draft-cpu-mask-batch,cpu-mask-batch-draft,-Cbd spec-draft-cpu-range,cpu-range-draft,-Crd
            spec-draft-cpu-strict,cpu-strict-draft spec-draft-cpu-strict-batch,cpu-strict-batch-draft
            spec-draft-device,device-draft,-devd spec-draft-hf,hf-repo-draft,-hfd,-hfrd
            spec-draft-model,model-draft,-md spec-draft-n-cpu-moe,spec-draft-ncmoe,n-cpu-moe-draft,-ncmoed
            spec-draft-n-max spec-draft-n-min spec-draft-ngl,gpu-layers-draft,n-gpu-layers-draft,-ngld
            spec-draft-p-min,draft-p-min spec-draft-p-split,draft-p-split spec-draft-poll,poll-draft
            spec-draft-poll-batch,poll-batch-draft spec-draft-prio,prio-draft spec-draft-prio-batch,prio-batch-draft
            spec-draft-sampling spec-draft-threads,threads-draft,-td
            spec-draft-threads-batch,threads-batch-draft,-tbd spec-draft-type-k,cache-type-k-draft,-ctkd
            spec-draft-type-v,cache-type-v-draft,-ctvd spec-ngram-map-k-min-hits spec-ngram-map-k-size-m
            spec-ngram-map-k-size-n spec-ngram-map-k4v-min-hits spec-ngram-map-k4v-size-m spec-ngram-map-k4v-size-n
            spec-ngram-min-hits spec-ngram-mod-n-match spec-ngram-mod-n-max spec-ngram-mod-n-min
            spec-ngram-simple-min-hits spec-ngram-simple-size-m spec-ngram-simple-size-n spec-ngram-size-m
            spec-ngram-size-n spec-synth-len spec-synth-rates split-mode,-sm sse-ping-interval ssl-cert-file
            ssl-key-file temp,temperature tensor-split,-ts threads,-t threads-batch,-tb threads-http timeout,-to
            tools tools-runtime top-k top-nsigma,top-n-sigma top-p typical,typical-p ubatch-size,-ub
            ui-config,webui-config ui-config-file,webui-config-file verbosity,log-verbosity,-lv video-ffmpeg-dir
            video-fps video-timestamp-interval xtc-probability xtc-threshold yarn-attn-factor yarn-beta-fast
            yarn-beta-slow yarn-ext-factor yarn-orig-ctx
        """,
        Form.REPEATED: """
            alias,-a api-key api-key-file control-vector control-vector-scaled dry-sequence-breaker logit-bias,-l
            lora lora-scaled override-kv override-tensor,-ot reverse-prompt,-r
            spec-draft-override-tensor,override-tensor-draft,-otd spec-type tags
        """,
        Form.TWO: """
            control-vector-layer-range
        """,
    },
)
