/*
 * decoder - read the lines of a journal as messages, in order.
 */
#ifndef RG_DECODER_H
#define RG_DECODER_H

#include "store/damages.h"
#include "store/lines.h"

struct rg_decoder;

struct rg_decoded {
	struct rg_line line;
	bool is_message;
	bool torn; /* a writer left it unfinished, and the next one closed it off */
	/* It is known to be altered, so its message is as sent: its state does not count. */
	bool altered;
	struct roger_message message;
};

/* Read the lines from byte from to byte end.  altered is borrowed. */
RG_CHECKED int rg_decoder_open(const struct rg_bytes *bytes, uint64_t from, uint64_t end,
			       const struct rg_altered *altered, struct rg_decoder **ret_decoder,
			       struct roger_err *err);
struct rg_decoder *rg_decoder_close(struct rg_decoder *decoder);

/* The next whole line, valid until the next call; NULL at the end. */
RG_CHECKED int rg_decoder_next(struct rg_decoder *decoder, const struct rg_decoded **ret_decoded,
			       struct roger_err *err);

#endif
