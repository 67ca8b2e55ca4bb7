/** Marks a SQLite file as a Handrail store: the letters `HRAI`. */
export const applicationId = 0x48524149
