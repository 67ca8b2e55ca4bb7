import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from '../../contract/base/errors.ts'
import type { CheckpointRecord } from '../../contract/evidence.ts'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { parseRecord } from './parse-record.ts'
import { generateSigningKey, keyId, type SigningKey } from './signing-key.ts'
import { writeWhole } from '../../kit/write-whole.ts'

/** A record that is remembered outside of the store: one that changed or went away since is found by it. */
export interface Anchor {
  tenant: string
  sequence: number
  /** sha256 hex, as in the chain. */
  hash: string
}

/** The last checkpoint of a tenant, as the folder of the keys remembers it. */
export interface Mark extends Anchor {
  /** Id of the key that signed. */
  key: string
  /** Whether it came with an import, so that its key was never here. */
  imported: boolean
}

/** The folder with the signing key, every public key there ever was, and the last checkpoint of each tenant. One for each store. */
export interface KeyFiles {
  readonly dir: string
  /** The key that signs now; made on first use. Throws where the folder cannot be used or the key is open to others. */
  signingKey(): SigningKey
  /** The same where there is one; makes none. */
  currentKey(): SigningKey | undefined
  /** From here on this key signs, and its public part is known; the one before is forgotten, but for its public part. */
  install(key: SigningKey): void
  publicKeys(): ReadonlyMap<string, KeyObject>
  /** From here on what this key signed counts as signed here. */
  trust(publicKey: KeyObject): void
  anchors(): Mark[]
  remember(checkpoint: CheckpointRecord, from?: 'import'): void
  /** Where the last checkpoint of a tenant is remembered. */
  anchorPath(tenant: string): string
  /** What of the public keys and the last checkpoints is damaged: which file, and what to do. */
  issues(): string[]
}

/** The keys in this folder. Nothing is made before a key is asked for. */
export function openKeyFiles(dir: string): KeyFiles {
  const current = join(dir, 'signing.key')
  const anchorPath = (tenant: string): string =>
    join(dir, `last_${hash('sha256', tenant, 'hex').slice(0, 32)}.json`)
  const readAll = <T>(ending: string, read: (path: string) => T | undefined): T[] =>
    namesIn(dir, ending)
      .map((name) => read(join(dir, name)))
      .filter((found) => found !== undefined)
  const trust = (publicKey: KeyObject): void => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    const text = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    writeWhole(join(dir, `${keyId(publicKey)}.pub`), { text, mode: 0o644 })
  }
  const place = (key: SigningKey, put: (from: string, to: string) => void): void => {
    trust(key.publicKey)
    const text = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    writeWhole(current, { text, mode: 0o600, put })
  }
  return {
    dir,
    signingKey() {
      const found = readSigningKey(current)
      if (found !== undefined) {
        // A full disk may have taken the key and not its public part.
        if (readPublicKey(join(dir, `${found.id}.pub`)) === undefined) trust(found.publicKey)
        return found
      }
      try {
        place(generateSigningKey(), linkSync)
      } catch (error) {
        // Another process made one at the same time.
        if (!isCode(error, 'EEXIST')) throw error
      }
      const made = readSigningKey(current)
      if (made === undefined) throw new Error(`The signing key "${current}" was removed while it was made.`)
      return made
    },
    currentKey: () => readSigningKey(current),
    install: (key) => place(key, renameSync),
    publicKeys: () => new Map(readAll('.pub', readPublicKey).map((key) => [keyId(key), key])),
    trust,
    anchors: () => readAll('.json', readAnchor),
    remember(checkpoint, from) {
      const path = anchorPath(checkpoint.tenant)
      // Another process may have signed more meanwhile.
      if ((readAnchor(path)?.sequence ?? 0) > checkpoint.sequence) return
      const mark = from === undefined ? checkpoint : { ...checkpoint, imported: true }
      writeWhole(path, { text: `${JSON.stringify(mark)}\n`, mode: 0o600 })
    },
    anchorPath,
    issues: () => [
      ...readAll('.pub', (path) => (readPublicKey(path) === undefined ? damagedKey(path) : undefined)),
      ...readAll('.json', (path) => (readAnchor(path) === undefined ? damagedAnchor(path) : undefined)),
    ],
  }
}

function damagedKey(path: string): string {
  return `The public key "${path}" is damaged, so what it signed cannot be checked. Put it back from a copy, or remove it if it signed nothing.`
}

function damagedAnchor(path: string): string {
  return `The file "${path}", which remembers the last signature, is damaged, so a store that was set back is not found by it. Put it back from a copy, or remove it if the chain holds: the next signature makes a new one.`
}

function readSigningKey(path: string): SigningKey | undefined {
  const text = readText(path)
  if (text === undefined) return undefined
  if ((statSync(path).mode & 0o077) !== 0)
    throw new Error(
      `The signing key "${path}" is open to others: it may not be yours alone any more. Close it with chmod 600 and rotate it.`,
    )
  const privateKey = readKey(() => createPrivateKey(text))
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw new Error(
      `The signing key "${path}" is not an Ed25519 key in PEM form. Put the right one back, or remove it, and a new one is made.`,
    )
  const publicKey = createPublicKey(privateKey)
  return { id: keyId(publicKey), privateKey, publicKey }
}

/** Undefined for a file that is not there or is not such a key. */
function readPublicKey(path: string): KeyObject | undefined {
  const text = readText(path)
  const key = text === undefined ? undefined : readKey(() => createPublicKey(text))
  return key?.asymmetricKeyType === 'ed25519' ? key : undefined
}

function readKey(read: () => KeyObject): KeyObject | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Undefined for a file that is not there or says nothing of the kind. */
function readAnchor(path: string): Mark | undefined {
  const text = readText(path)
  const {
    tenant,
    sequence,
    hash: link,
    key,
    imported,
  } = (text === undefined ? undefined : parseRecord(text)) ?? {}
  if (typeof tenant !== 'string' || typeof link !== 'string' || typeof key !== 'string') return undefined
  return Number.isSafeInteger(sequence)
    ? { tenant, sequence: Number(sequence), hash: link, key, imported: imported === true }
    : undefined
}

/** Undefined if there is none. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw unreadable(path, error)
  }
}

function namesIn(dir: string, ending: string): string[] {
  try {
    return readdirSync(dir).filter((name) => name.endsWith(ending))
  } catch (error) {
    if (isCode(error, 'ENOENT')) return []
    throw unreadable(dir, error)
  }
}

function unreadable(path: string, error: unknown): SetupError {
  return new SetupError(
    'store_unusable',
    `"${path}", which belongs to the keys of the evidence, cannot be read: ${describeFileError(error)}. Give it back to the user that Handrail runs as.`,
  )
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
