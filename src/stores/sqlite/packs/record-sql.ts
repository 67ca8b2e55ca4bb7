/** The text of a row of `records`, in SQL, wherever it is. Null if it is in a pack that is not there any more. */
export const recordText = 'iif(packed IS NULL, text, packed_text(tenant, sequence))'

/** Its body. A row whose record is packed has an empty one for as long as there is one. */
export const recordBody = 'iif(packed IS NULL OR body IS NULL, body, packed_body(tenant, sequence))'
