/** A timer runs no longer: its milliseconds are a signed number of 32 bits. Stands for no limit, if something else ends the wait. */
export const longestMs = 2_147_483_647
