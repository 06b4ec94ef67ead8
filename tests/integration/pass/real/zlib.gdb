# SPDX-License-Identifier: MIT
# What zlib.yaml declares, told by a debugger on a build that knows nothing of hooks. $call_line: the statement of
# deflate_slow that calls longest_match. Pointers are left out: they differ from run to run.
set pagination off
set confirm off
set width 0
set print address off
break deflate
commands
silent
printf "zlib:deflate: flush=%d avail_in=%u status=%d level=%d\n", flush, strm->avail_in, strm->state->status, strm->state->level
continue
end
break _tr_flush_block
commands
silent
printf "zlib:block: stored_len=%lu last=%d lit_e=%u\n", stored_len, last, s->dyn_ltree[101].fc.freq
continue
end
eval "break deflate.c:%d", $call_line
commands
silent
printf "zlib:match: hash_head=%u strstart=%u prev_length=%u good=%u left=%u\n", hash_head, s->strstart, s->prev_length, s->good_match, s->strm->avail_in
continue
end
eval "break deflate.c:%d", $next_line
commands
silent
printf "zlib:matched: len=%u max_lazy=%u\n", s->match_length, s->max_lazy_match
continue
end
run
quit
