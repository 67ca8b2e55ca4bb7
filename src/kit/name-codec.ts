import { hash } from 'node:crypto'

/** Turns canonical names into names a provider accepts, and back. */
export interface NameCodec {
  encode(name: string): string
  /** Undefined for a name that this codec did not give out. */
  decode(wireName: string): string | undefined
}

/** What a provider accepts. Every listed provider takes `[a-zA-Z0-9_-]`. */
export interface NameLimits {
  maxLength: number
}

/**
 * A codec over a set of names. A name's wire form depends on that name alone, so that it stays when others come and go:
 * dots become `__`; a name where that would be ambiguous, too long or outside `[a-zA-Z0-9_-]` gets a readable
 * start and ten hex digits of its sha256. Two names made to agree in those digits are both kept: the later one gets
 * more digits.
 */
export function createNameCodec(names: Iterable<string>, limits: NameLimits): NameCodec {
  const toWire = new Map<string, string>()
  const toName = new Map<string, string>()
  for (const name of names) {
    if (toWire.has(name)) continue
    const wire = digestLengths
      .map((digits) => wireName(name, limits.maxLength, digits))
      .find((each) => !toName.has(each))
    if (wire === undefined) throw new Error(`The name "${name}" has the digest of another name.`)
    toWire.set(name, wire)
    toName.set(wire, name)
  }
  return {
    encode(name) {
      const wire = toWire.get(name)
      if (wire === undefined) throw new Error(`The name "${name}" is not in this codec.`)
      return wire
    },
    decode: (wire) => toName.get(wire),
  }
}

/** Tried in this order. */
const digestLengths = [10, 20, 40] as const

function wireName(name: string, maxLength: number, digits: number): string {
  const plain = name.replaceAll('.', '__')
  const simple = /^[a-zA-Z0-9_-]+$/.test(plain) && plain.length <= maxLength
  if (simple && !/_{2}|(^|\.)_|_(\.|$)/.test(name) && !/_x[0-9a-f]{10,}$/.test(plain)) return plain
  const tail = `_x${hash('sha256', name, 'hex').slice(0, digits)}`
  const start = plain.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxLength - tail.length)
  return start + tail
}
