"""The scripts that connect a shell with the proposals.

Each hands the line up to the cursor to the command as one argument, and takes a word of the answer from each line.
What is written on the line and in documents stays data: no script evaluates any of it.
"""

from __future__ import annotations

ASKED = "__complete"
"""The word after the program with which a script asks."""

_BASH = """\
# bash completion for modelplane; load it with: source <(modelplane completion bash)
_modelplane() {
    local answer word
    COMPREPLY=()
    while IFS= read -r answer; do
        word="${answer%%$'\\t'*}"
        # Readline takes what follows an equals sign for a word of its own.
        [[ ${COMP_WORDS[COMP_CWORD]} == "=" || ${COMP_WORDS[COMP_CWORD-1]} == "=" ]] && word="${word#*=}"
        COMPREPLY+=("$word")
        [[ $word == *= ]] && compopt -o nospace
    done < <("${COMP_WORDS[0]}" ASKED "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o default -F _modelplane modelplane
"""

_ZSH = """\
#compdef modelplane
# zsh completion for modelplane; load it with: source <(modelplane completion zsh)
_modelplane() {
    local -a words_with_help
    local answer word
    while IFS= read -r answer; do
        word="${answer%%$'\\t'*}"
        words_with_help+=("${word//:/\\\\:}:${answer#*$'\\t'}")
    done < <("${words[1]}" ASKED "${LBUFFER}" 2>/dev/null)
    if (( ${#words_with_help} )); then
        _describe 'modelplane' words_with_help
    else
        _files
    fi
}
compdef _modelplane modelplane
"""

_FISH = """\
# fish completion for modelplane; load it with: modelplane completion fish | source
function __modelplane_complete
    set -l answers (modelplane ASKED (commandline --cut-at-cursor --current-process | string collect) 2>/dev/null)
    if test (count $answers) -gt 0
        printf '%s\\n' $answers
    else
        __fish_complete_path (commandline --current-token)
    end
end
complete --command modelplane --no-files --arguments '(__modelplane_complete)'
"""

SCRIPTS = {shell: text.replace("ASKED", ASKED) for shell, text in (("bash", _BASH), ("zsh", _ZSH), ("fish", _FISH))}
"""The script of each shell."""
