-- Plans that stay good. A small workspace that was analysed made append_1 read its tables whole, a row a key, so a move of
-- many messages went as the square of their number. close_1 uses what is STABLE, and was planned anew at each send.
ALTER FUNCTION roger.append_1 SET enable_seqscan = off;
ALTER FUNCTION roger.close_1 STABLE;
