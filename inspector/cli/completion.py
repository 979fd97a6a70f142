"""`completion`: print a script that completes command lines in a shell."""

from __future__ import annotations

from inspector.cli.arguments import Invocation
from inspector.cli.errors import OK
from inspector.cli.output import Output

_BASH = r"""# Completion of a2a-inspect for bash. Load it with: source <(a2a-inspect completion bash)
_a2a_inspect() {
    local line typed="${COMP_LINE:0:COMP_POINT}" head files= IFS=$' \t\n'
    local -a words
    read -r -a words <<<"$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    typed="${words[-1]}"
    # bash completes only what follows the last : or = of a word.
    head="${typed%"${typed##*[:=]}"}"
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            files=1
        else
            line="${line%%$'\t'*}"
            COMPREPLY+=("${line#"$head"}")
        fi
    done < <(a2a-inspect complete -- "${words[@]:1}" 2>/dev/null)
    if [[ -n $files ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${typed#"$head"}")
    fi
}
complete -F _a2a_inspect a2a-inspect
"""

_ZSH = r"""#compdef a2a-inspect
# Completion of a2a-inspect for zsh. Load it with: source <(a2a-inspect completion zsh)
_a2a_inspect() {
    local line files
    local -a names texts
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            files=1
        else
            names+=("${line%%$'\t'*}")
            texts+=("${line/$'\t'/  }")
        fi
    done < <(a2a-inspect complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( $#names )) && compadd -l -d texts -a names
    [[ -n $files ]] && _files
}
compdef _a2a_inspect a2a-inspect
"""

_FISH = r"""# Completion of a2a-inspect for fish. Load it with: a2a-inspect completion fish | source
function __a2a_inspect_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (a2a-inspect complete -- $words[2..-1] 2>/dev/null)
    string match -v -- ':files' $lines
    if contains -- ':files' $lines
        __fish_complete_path (commandline -ct)
    end
end
complete -c a2a-inspect -f -a '(__a2a_inspect_complete)'
"""

_POWERSHELL = r"""# Completion of a2a-inspect for PowerShell. Load it with:
# a2a-inspect completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName a2a-inspect -ScriptBlock {
    param($word, $line, $position)
    $words = @($line.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $position } | ForEach-Object { "$_" })
    if ($word -eq '') { $words += '""' }
    a2a-inspect complete '--' @words 2>$null | ForEach-Object {
        if ($_ -eq ':files') {
            Get-ChildItem -Path "$word*" -ErrorAction SilentlyContinue | ForEach-Object { $_.Name }
        } else {
            $value, $text = $_ -split "`t", 2
            $tip = if ($text) { $text } else { $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $tip)
        }
    }
}
"""

SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH, "powershell": _POWERSHELL}
"""The script of each shell."""


def completion(invocation: Invocation, out: Output) -> int:
    """Print the script of a shell."""
    out.write(SCRIPTS[invocation.given.shell])
    return OK
