/** Words that stores of version 0.1 hold, and what they are called now. */
const renamed: ReadonlyMap<unknown, string> = new Map([
  ['definition_held', 'definition_pending'],
  ['supply_missing', 'service_missing'],
  ['grant', 'session-approval'],
])

/** Replaces the word in this field of an object that a store returned, if the word was renamed. */
export function renameWord(object: object, field: string): void {
  const word = renamed.get(Reflect.get(object, field))
  if (word !== undefined) Reflect.set(object, field, word)
}

/** All words for this that a store may hold: itself, and those that it replaced. */
export function wordsFor(word: string): readonly string[] {
  return [
    word,
    ...[...renamed].flatMap(([old, now]) => (now === word && typeof old === 'string' ? [old] : [])),
  ]
}
