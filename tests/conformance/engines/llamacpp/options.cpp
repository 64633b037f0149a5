// Program that prints the options of llama-server as llama.cpp's own parser holds them: the values that one takes, its names,
// and behind "!" the names that deny it.
#include "arg.h"

#include <cstdio>

int main() {
    common_params params;
    const auto context = common_params_parser_init(params, LLAMA_EXAMPLE_SERVER, nullptr);
    for (const auto & option : context.options) {
        if (option.is_preset_only) {
            continue;
        }
        printf("%d", option.handler_void || option.handler_bool ? 0 : option.handler_str_str ? 2 : 1);
        for (const auto * name : option.args) {
            printf(" %s", name);
        }
        for (const auto * name : option.args_neg) {
            printf(" !%s", name);
        }
        printf("\n");
    }
}
