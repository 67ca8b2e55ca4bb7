/** Larger structured data is not part of a result: there are clients that show all of it to their model. */
export const maxDataBytes = 256 * 1024
