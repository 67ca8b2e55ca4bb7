/** Whether a text can be the id of a tenant or an actor. */
export function isId(text: unknown): boolean {
  return typeof text === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/.test(text)
}

/** What an id looks like, in words. */
export const idForm =
  'letters, digits, "_", ".", "@" and "-", at most 128, the first a letter, a digit or "_"'
