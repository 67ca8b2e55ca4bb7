/** The version of the tables this program writes. Stands apart from the tables so that opening a store need not load them. */
export const schemaVersion = 10

/** From this version of the tables on, rows that count are sealed. */
export const sealedSince = 4

/** From this version of the tables on, idempotency keys have digests for names. */
export const keysNamedSince = 3
