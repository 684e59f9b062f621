_roger() {
	local IFS=$'\n'
	local line="${COMP_LINE:0:COMP_POINT}" words
	IFS=$' \t\n' read -r -a words <<<"$line"
	[[ $line == *' ' ]] && words+=('')
	words=("${words[@]/#\~\//$HOME/}")
	local last="${words[${#words[@]}-1]}" cut=''
	# readline breaks words at :, = and @, too: give back only what follows the last break, but with its @.
	local breaks="${COMP_WORDBREAKS//[^:=@]/}"
	[[ $breaks ]] && cut="${last%"${last##*[$breaks]}"}"
	cut="${cut%@}"
	COMPREPLY=()
	local one
	while IFS= read -r one; do COMPREPLY+=("${one#"$cut"}"); done < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
	# Descriptions are for a list that is only shown: ? is a second tabulator.
	local i
	for i in "${!COMPREPLY[@]}"; do
		if [[ ${COMP_TYPE-} == 63 && ${#COMPREPLY[@]} -gt 1 && ${COMPREPLY[i]} == *$'\t'* ]]; then
			printf -v one '%-20s  (%s)' "${COMPREPLY[i]%%$'\t'*}" "${COMPREPLY[i]#*$'\t'}"
			COMPREPLY[i]=${one:0:${COLUMNS:-80}-1}
		else
			COMPREPLY[i]=${COMPREPLY[i]%%$'\t'*}
		fi
	done
}
complete -o default -F _roger roger
