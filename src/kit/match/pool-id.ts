/** Ids of pools of workers. */
export const poolId = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/

/** The same in words. */
export const poolIdForm = 'The id of a pool is 1 to 64 letters, digits, "_" and "-", not "-" first.'
