import { createRedactor, type Redactor } from './redact.ts'

/** A redactor that learns of secrets while it is used. */
export interface GrowingRedactor extends Redactor {
  /**
   * Hides these from now on in the place of what was said of the same thing; what was said last stays hidden beside them. At most
   * `longestLearnt` letters each.
   */
  hide(about: string, secrets: readonly string[]): void
  /** What was said of this thing is a secret no longer. */
  forget(about: string): void
}

/** A longer secret could not be looked for. */
export const longestLearnt = 8_192

/** A redactor for these secrets, and for those that come. */
export function createGrowingRedactor(fixed: readonly string[]): GrowingRedactor {
  let current: Redactor | undefined
  const learnt = new Map<string, { now: readonly string[]; before: readonly string[] }>()
  /** Many may come in a row, and each costs milliseconds. */
  const redactor = (): Redactor => {
    const all = [...learnt.values()].flatMap(({ now, before }) => [...now, ...before])
    return (current ??= createRedactor([...fixed, ...all]))
  }
  return {
    hide(about, given) {
      const secrets = given.filter(({ length }) => length <= longestLearnt)
      const known = learnt.get(about)?.now ?? []
      if (secrets.length === known.length && secrets.every((each, index) => each === known[index])) return
      // Results on their way may still hold what was good a moment ago.
      learnt.set(about, { now: secrets, before: known })
      current = undefined
    },
    forget(about) {
      if (learnt.delete(about)) current = undefined
    },
    text: (value) => (current ?? redactor()).text(value),
    json: (value) => (current ?? redactor()).json(value),
    mayHold: (json) => (current ?? redactor()).mayHold(json),
    binary: (base64) => (current ?? redactor()).binary(base64),
    lineEnd: (text) => (current ?? redactor()).lineEnd(text),
    cut: (text, end) => (current ?? redactor()).cut(text, end),
    get longestSecret() {
      return (current ?? redactor()).longestSecret
    },
  }
}
