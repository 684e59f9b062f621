-- Was about functions that 003.sql takes away.
SELECT 1;
