import { generateKeyPairSync } from 'node:crypto'
import { dirname } from 'node:path'
import type { PrivateKey, PublicKey } from '../contract/a2a/serving.ts'
import { SetupError } from '../contract/base/errors.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { newId } from '../kit/new-id.ts'
import { readJsonFile } from './base/read-json-file.ts'
import { whileChanging } from './base/while-changing.ts'
import { writeJsonFile } from './base/write-json-file.ts'

/** The keys that sign the tokens of calls to other domains, in a file that only its owner may read. */
export interface CallKeys {
  /** The key that signs now; made if there is none. Another process that changed the file is seen. */
  current(): PrivateKey
  /** What other domains have to know, the key that signs first. */
  published(): readonly PublicKey[]
  /** A further key, which other domains can learn of before it signs. */
  add(): PublicKey
  /** From now on this key signs, and those of before stay published. Throws a SetupError for one that there is not. */
  use(kid: string): void
  /** Forgets a key. Throws a SetupError for the one that signs. */
  remove(kid: string): void
}

/** The keys of a file, which need not be there yet. */
export function openCallKeys(path: string): CallKeys {
  const read = (): PrivateKey[] => {
    const keys = readKeys(path)
    if (keys.length > 0) return keys
    return change((made) => [...made])
  }
  /** What is there may be changed by another process until the turn is had. */
  const change = (to: (keys: readonly PrivateKey[]) => PrivateKey[]): PrivateKey[] =>
    whileChanging(dirname(path), () => {
      const known = readKeys(path)
      const after = to(known.length > 0 ? known : [makeKey()])
      writeJsonFile(path, { keys: after })
      return after
    })
  const find = (keys: readonly PrivateKey[], kid: string): PrivateKey => {
    const found = keys.find((key) => key.kid === kid)
    if (found !== undefined) return found
    throw new SetupError(
      'invalid_configuration',
      `There is no key "${kid}" in "${path}". Nothing was changed.`,
    )
  }
  return {
    current() {
      const [first] = read()
      if (first === undefined) throw unreadable(path)
      return first
    },
    published: () => read().map(toPublic),
    add() {
      const key = makeKey()
      change((keys) => [...keys, key])
      return toPublic(key)
    },
    use(kid) {
      change((keys) => {
        const chosen = find(keys, kid)
        return [chosen, ...keys.filter((key) => key !== chosen)]
      })
    },
    remove(kid) {
      change((keys) => {
        const leaving = find(keys, kid)
        if (leaving === keys[0])
          throw new SetupError(
            'invalid_configuration',
            `The key "${kid}" signs. Have another one sign first, with --use. Nothing was changed.`,
          )
        return keys.filter((key) => key !== leaving)
      })
    },
  }
}

/** A new key, with the form that its file has. */
export function makeKey(): PrivateKey {
  const { crv, x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  if (crv !== 'Ed25519' || x === undefined || d === undefined) throw new Error('No key came about.')
  return { kty: 'OKP', crv, kid: newId('key', Date.now()), x, d, alg: 'EdDSA', use: 'sig' }
}

/** What others may know of a key. */
export function toPublic({ kty, crv, kid, x, y, alg, use }: PrivateKey): PublicKey {
  return {
    kty,
    crv,
    kid,
    x,
    ...(y !== undefined && { y }),
    ...(alg !== undefined && { alg }),
    ...(use !== undefined && { use }),
  }
}

function readKeys(path: string): PrivateKey[] {
  const found = readJsonFile(path)
  if (found === undefined) return []
  const keys: unknown = 'value' in found && isPlainObject(found.value) ? found.value['keys'] : undefined
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isPrivateKey)) throw unreadable(path)
  return keys
}

function isPrivateKey(value: unknown): value is PrivateKey {
  if (!isPlainObject(value)) return false
  const { kty, crv, kid, x, d, y } = value
  const isCurve =
    (kty === 'OKP' && crv === 'Ed25519') || (kty === 'EC' && crv === 'P-256' && typeof y === 'string')
  return isCurve && [kid, x, d].every((each) => typeof each === 'string' && each !== '')
}

function unreadable(path: string): SetupError {
  return new SetupError(
    'invalid_configuration',
    `"${path}" has no keys that can sign calls to other domains. Put back what was there, or remove the file: then a new key is made, which the other domains have to be told.`,
  )
}
