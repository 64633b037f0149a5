// Stand-ins for what the parser of llama.cpp asks of the rest of it while it lists its options: texts of defaults, and devices.
#include "arg.h"
#include "common.h"
#include "llama.h"
#include "log.h"
#include "sampling.h"
#include "speculative.h"
#include <cstdarg>
std::string string_format(const char * fmt, ...) {
    char text[65536]; va_list ap; va_start(ap, fmt); vsnprintf(text, sizeof text, fmt, ap); va_end(ap); return text;
}
char common_sampler_type_to_chr(enum common_sampler_type) { return '?'; }
std::string common_sampler_type_to_str(enum common_sampler_type) { return ""; }
const char * common_speculative_all_types_str() { return ""; }
const char * llama_flash_attn_type_name(enum llama_flash_attn_type) { return ""; }
int32_t llama_chat_builtin_templates(const char **, size_t) { return 0; }
size_t llama_max_devices() { return 16; }
size_t llama_max_tensor_buft_overrides() { return 4096; }
bool llama_supports_gpu_offload() { return true; }
bool llama_supports_rpc() { return true; }
const char * ggml_type_name(enum ggml_type) { return ""; }
void ggml_backend_load_all() {}
size_t ggml_backend_dev_count() { return 0; }
void lr_opt::init() {}
bool tty_can_use_colors() { return false; }
void common_log_set_colors(struct common_log *, enum log_colors) {}
struct common_log * common_log_main() { return nullptr; }
std::string common_speculative_type_name_str(const std::vector<enum common_speculative_type> &) { return ""; }
