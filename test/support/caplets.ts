import { generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { handrail, type Place } from './command-line.ts'
import { makeFolder } from './project.ts'
import { makeTar, type TarEntry } from './tar.ts'

/** Makes a folder of a caplet: its `caplet.json` and files. What begins with `#!` can be run. */
export function makeCaplet(source: unknown, files: Readonly<Record<string, string>> = {}): string {
  const folder = makeFolder({ 'caplet.json': JSON.stringify(source) })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    if (text.startsWith('#!')) chmodSync(join(folder, path), 0o755)
  }
  return folder
}

/** Packs a caplet, signed by the person of the place, whom its configuration then names as `me`. Returns the path of the package. */
export async function pack(
  place: Place,
  source: unknown,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const out = join(makeFolder(), 'packed.tgz')
  const { stdout, stderr, code } = await handrail(place, [
    'caplet',
    'pack',
    makeCaplet(source, files),
    '--out',
    out,
  ])
  if (code !== 0) throw new Error(stderr)
  const me = stdout.trimEnd().split('\n')[2]?.replace('publisher ', '')
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ caplets: { publishers: { me } } }))
  return out
}

/** The key that the configuration of the place names as `me`. */
export function keyOf(place: Place): string {
  const { caplets } = JSON.parse(readFileSync(join(place.home, 'config.json'), 'utf8')) as {
    caplets: { publishers: { me: string } }
  }
  return caplets.publishers.me
}

/** The same JSON for the same value: members by name, without spaces. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

/** A publisher, and packages that they sign whatever they hold. */
export function createPublisher() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'jwk' }).x ?? ''
  return {
    key,
    sign: (manifest: Record<string, unknown>) => signed({ ...manifest, publisher: key }, privateKey),
  }
}

function signed(manifest: Record<string, unknown>, key: KeyObject) {
  const bytes = Buffer.from(`handrail-caplet-v1\n${canonical(manifest)}`)
  return { manifest, signature: sign(null, bytes, key).toString('base64url') }
}

/** What a manifest says of these files. */
export function listFiles(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([path, text]) => ({
    path,
    size: Buffer.byteLength(text),
    sha256: hash('sha256', text, 'hex'),
  }))
}

/** A file with a package of these entries, the manifest first. */
export function writePackage(caplet: unknown, entries: readonly TarEntry[]): string {
  const first = { name: 'caplet.json', content: JSON.stringify(caplet) }
  return writeArchive(gzipSync(makeTar([first, ...entries])))
}

/** A file with these bytes. */
export function writeArchive(bytes: Uint8Array): string {
  return join(makeFolder({ 'a.tgz': bytes }), 'a.tgz')
}
