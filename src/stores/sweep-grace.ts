/** A window that ended is remembered for so long, should the clock be set back. */
export const sweepGraceMs = 60 * 60 * 1000
