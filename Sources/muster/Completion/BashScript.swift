/// What bash needs besides ArgumentParser's script.
enum BashScript {
    /// Its own way hands words to `compgen -W`, which expands them as the shell would: a job called `$(…)` would be run, and a name
    /// with a blank would be two; and readline quotes names only as far as files need it. Words that bash has broken at a colon or an
    /// equals sign are put together again before it counts them.
    static let amendment = #"""

        __muster_custom_complete() {
            MUSTER_COMPLETION_LINE="${COMP_LINE:0:${COMP_POINT}}" MUSTER_COMPLETION_WORD="${cur}" \
                "${COMP_WORDS[0]}" "${@}" "${COMP_WORDS[@]}" 2>/dev/null
        }

        __muster_add_completions() {
            local completion
            if [[ "${1}" != -W ]]; then
                compopt -o filenames
                while IFS='' read -r completion; do
                    COMPREPLY+=("${completion}")
                done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
                return
            fi
            while IFS='' read -r completion; do
                if [[ -n "${completion}" && "${completion//\\/}" == "${cur//\\/}"* ]]; then COMPREPLY+=("${completion}"); fi
            done <<< "${2}"
            if [[ "${COMPREPLY[0]}" == *= ]]; then compopt -o nospace; fi
        }

        __muster_complete() {
            local -a words=()
            local line="${COMP_LINE}" word
            local -i index current=0
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                if [[ ${#words[@]} -gt 0 && -n "${word}" && "${line}" == "${word}"* ]]; then
                    words[-1]+="${word}"
                else
                    line="${line#"${line%%[![:space:]]*}"}"
                    words+=("${word}")
                fi
                line="${line#"${word}"}"
                if [[ ${index} -eq ${COMP_CWORD} ]]; then current=$((${#words[@]} - 1)); fi
            done
            COMP_WORDS=("${words[@]}")
            COMP_CWORD=${current}
            _muster "${1}" "${2}" "${3}"
        }

        complete -F __muster_complete muster

        """#
}
