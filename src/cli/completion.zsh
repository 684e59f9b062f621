#compdef roger
_roger() {
	local -a found shown
	found=("${(@f)$("${words[1]}" __complete -- "${(@)${(@Q)words[2,CURRENT]}/#\~\//$HOME/}" 2>/dev/null)}")
	found=("${(@)found:#}")
	shown=("${(@)found//$'\t'/  -- }")
	found=("${(@)found%%$'\t'*}")
	if (( $#found )); then
		compadd -Q -l -d shown -- "${(@)found}"
	else
		compset -P '--*='
		_files
	fi
}
if [ "$funcstack[1]" = "_roger" ]; then _roger "$@"; else compdef _roger roger; fi
