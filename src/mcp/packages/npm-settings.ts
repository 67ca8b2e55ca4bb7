import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What the person configured of npm, as far as it says where packages come from. */
export interface NpmSettings {
  /** The registries that are named, each an address. Without the one for everything, npm has one of its own. */
  readonly registries: readonly string[]
  readonly namesDefault: boolean
  /** The text of the person's own file of settings. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  /** Files that are needed to know a registry by its certificate. */
  readonly certificates: readonly string[]
}

/** Variables that say where packages come from, and how one is let in there. */
const variables =
  /^npm_config_(?:registry|@[^:]+:registry|\/\/.*|cafile|ca|cert|key|strict_ssl|noproxy|fetch_\w+)$/i

type Environment = Readonly<Record<string, string | undefined>>

/** Reads the person's own settings, never those of a project: a person or process that may write there could name another registry. */
export function readNpmSettings(env: Environment = process.env, home = homedir()): NpmSettings {
  const path = valueOf(env, 'npm_config_userconfig') ?? join(home, '.npmrc')
  const file = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const lines = [...file.matchAll(/^\s*((?:@[^\s:=]+:)?registry|cafile)\s*=\s*(.+?)\s*$/gm)].map(
    ([, name = '', value = '']) => [name, fill(value.replace(/^(["'])(.*)\1$/, '$2'), env)] as const,
  )
  const own = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && entry[1] !== '' && variables.test(entry[0]),
  )
  const said = [...lines, ...own.map(([name, value]) => [name.slice('npm_config_'.length), value] as const)]
  const registries = said.filter(([name, value]) => /registry$/i.test(name) && URL.canParse(value))
  const { NODE_EXTRA_CA_CERTS: extra } = env
  const certificates = [...said.flatMap(([name, value]) => (/^cafile$/i.test(name) ? [value] : [])), extra]
  return {
    registries: registries.map(([, value]) => value),
    namesDefault: registries.some(([name]) => /^registry$/i.test(name)),
    file,
    env: {
      ...Object.fromEntries([...own, ...namesIn(file).flatMap((name) => entryOf(env, name))]),
      ...(extra !== undefined && { NODE_EXTRA_CA_CERTS: extra }),
    },
    certificates: certificates.filter((each) => each !== undefined).filter((each) => existsSync(each)),
  }
}

/** As npm takes it, in small letters or in capitals. */
function valueOf(env: Environment, name: string): string | undefined {
  return env[name] ?? env[name.toUpperCase()]
}

/** The variables that the file stands on. */
function namesIn(file: string): string[] {
  return [...file.matchAll(/\$\{([^}]+)\}/g)].map(([, name = '']) => name)
}

function fill(text: string, env: Environment): string {
  return text.replaceAll(/\$\{([^}]+)\}/g, (_, name: string) => env[name] ?? '')
}

function entryOf(env: Environment, name: string): [string, string][] {
  const value = env[name]
  return value === undefined ? [] : [[name, value]]
}
