import { hash } from 'node:crypto'
import { renameTools } from './rename-tools.ts'

/** Turns canonical names into names a provider accepts, and back. */
export interface NameCodec {
  encode(name: string): string
  /** Undefined for a name that this codec did not give out. */
  decode(wireName: string): string | undefined
  /** A text of Handrail, such as the message of an error, with the wire names of the tools that it names. */
  inWireNames(text: string): string
}

/** What a provider accepts: letters, digits, `_`, and what this says. */
export interface NameLimits {
  maxLength: number
  /** Further characters that it takes, of which the codec uses `-`. Default `-`. */
  alphabet?: string
  /** What a name begins with. Default `any` of its characters. */
  first?: 'any' | 'letter'
}

/** What the providers accept, as they document it and as they refuse it. */
export const providerNames = {
  anthropic: { maxLength: 128 },
  bedrock: { maxLength: 64 },
  gemini: { maxLength: 64, first: 'letter' },
  openai: { maxLength: 64 },
} as const satisfies { readonly [provider: string]: NameLimits }

/**
 * A codec over a set of names. A name's wire form depends on that name alone, so that it stays when others come and go:
 * dots become `__`; a name where that would be ambiguous or is not what the provider takes gets a readable
 * start and ten hex digits of its sha256. Two names made to agree in those digits are both kept: the later one gets
 * more digits.
 */
export function createNameCodec(names: Iterable<string>, limits: NameLimits): NameCodec {
  const toWire = new Map<string, string>()
  const toName = new Map<string, string>()
  for (const name of names) {
    if (toWire.has(name)) continue
    const wire = digestLengths
      .map((digits) => wireName(name, limits, digits))
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
    inWireNames: (text) => renameTools(text, (name) => toWire.get(name)),
  }
}

/** Tried in this order. */
const digestLengths = [10, 20, 40] as const

function wireName(name: string, limits: NameLimits, digits: number): string {
  const { maxLength, alphabet = '-', first = 'any' } = limits
  const others = alphabet.includes('-') ? /[^a-zA-Z0-9_-]/g : /[^a-zA-Z0-9_]/g
  const dotless = name.replaceAll('.', '__')
  const plain = dotless.replace(others, '_')
  const begins = first === 'any' || /^[a-zA-Z]/.test(plain)
  const simple = plain === dotless && plain !== '' && begins && plain.length <= maxLength
  if (simple && !/_{2}|(^|\.)_|_(\.|$)/.test(name) && !/_x[0-9a-f]{10,}$/.test(plain)) return plain
  const tail = `_x${hash('sha256', name, 'hex').slice(0, digits)}`
  const start = begins ? plain : `t_${plain}`
  return start.slice(0, maxLength - tail.length) + tail
}
