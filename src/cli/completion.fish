function __roger_complete
	set -l words (string replace -r '^~/' "$HOME/" -- (commandline -opc) (commandline -ct))
	set -l found ($words[1] __complete -- $words[2..-1] 2>/dev/null)
	if count $found >/dev/null
		printf '%s\n' $found
	else
		__fish_complete_path (commandline -ct)
	end
end
complete -c roger -f -a '(__roger_complete)'
