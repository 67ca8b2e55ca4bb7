/** The version of the tables this program writes. Stands apart from the tables so that opening a store need not load them. */
export const schemaVersion = 2
