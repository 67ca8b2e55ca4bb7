import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CheckpointRecord } from '../contract/evidence.ts'
import { generateSigningKey, keyId, type SigningKey } from './signing-key.ts'

/** A record that somebody outside of the store remembers: one that changed or went away since is found by it. */
export interface Anchor {
  tenant: string
  sequence: number
  /** sha256 hex, as in the chain. */
  hash: string
}

/** The folder with the signing key, every public key there ever was, and the last checkpoint of each tenant. One for each store. */
export interface KeyFiles {
  readonly dir: string
  /** The key that signs now; made on first use. Throws where the folder cannot be used or the key is open to others. */
  signingKey(): SigningKey
  /** From here on this key signs, and its public part is known; the one before is forgotten, but for its public part. */
  install(key: SigningKey): void
  publicKeys(): ReadonlyMap<string, KeyObject>
  /** From here on what this key signed counts as signed here. */
  trust(publicKey: KeyObject): void
  anchors(): Anchor[]
  remember(checkpoint: CheckpointRecord): void
  /** Where the last checkpoint of a tenant is remembered. */
  anchorPath(tenant: string): string
}

/** The keys in this folder. Nothing is made before a key is asked for. */
export function openKeyFiles(dir: string): KeyFiles {
  const current = join(dir, 'signing.key')
  const anchorPath = (tenant: string): string =>
    join(dir, `last_${hash('sha256', tenant, 'hex').slice(0, 32)}.json`)
  const trust = (publicKey: KeyObject): void => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(dir, `${keyId(publicKey)}.pub`), publicKey.export({ type: 'spki', format: 'pem' }))
  }
  /** Writes the private key beside its place and puts it there with one step, so that no process reads half of it. */
  const place = (key: SigningKey, put: (from: string, to: string) => void): void => {
    trust(key.publicKey)
    const draft = join(dir, `${key.id}.new`)
    writeFileSync(draft, key.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    try {
      put(draft, current)
    } finally {
      rmSync(draft, { force: true })
    }
  }
  return {
    dir,
    signingKey() {
      const found = readSigningKey(current)
      if (found !== undefined) return found
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
    install: (key) => place(key, renameSync),
    publicKeys: () =>
      new Map(
        namesIn(dir, '.pub').map((name) => {
          const key = createPublicKey(readFileSync(join(dir, name)))
          return [keyId(key), key]
        }),
      ),
    trust,
    anchors: () =>
      namesIn(dir, '.json').map((name) => {
        const { tenant, sequence, hash: link } = JSON.parse(readFileSync(join(dir, name), 'utf8')) as Anchor
        return { tenant, sequence, hash: link }
      }),
    remember(checkpoint) {
      const path = anchorPath(checkpoint.tenant)
      const draft = `${path}.${process.pid}.new`
      writeFileSync(draft, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600 })
      renameSync(draft, path)
    },
    anchorPath,
  }
}

function readSigningKey(path: string): SigningKey | undefined {
  let text: Buffer
  try {
    text = readFileSync(path)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  if ((statSync(path).mode & 0o077) !== 0)
    throw new Error(
      `The signing key "${path}" is open to others: it may not be yours alone any more. Close it with chmod 600 and rotate it.`,
    )
  const privateKey = readPrivateKey(text)
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw new Error(
      `The signing key "${path}" is no Ed25519 key in PEM form. Put the right one back, or remove it, and a new one is made.`,
    )
  const publicKey = createPublicKey(privateKey)
  return { id: keyId(publicKey), privateKey, publicKey }
}

function readPrivateKey(text: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}

function namesIn(dir: string, ending: string): string[] {
  try {
    return readdirSync(dir).filter((name) => name.endsWith(ending))
  } catch (error) {
    if (isCode(error, 'ENOENT')) return []
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
