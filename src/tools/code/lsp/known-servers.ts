import { knownLanguageServers, type LanguageServerConfiguration } from '../../../contract/configuration.ts'
import type { Json, JsonObject } from '../../../contract/base/json.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** A language server that may be asked: by its name, for files with these endings. */
export interface ServerChoice {
  readonly name: string
  readonly command: readonly string[]
  readonly extensions: readonly string[]
  readonly initializationOptions: JsonObject
  readonly settings: JsonObject
  /** How long it may take to answer, in milliseconds. */
  readonly timeoutMs: number
}

const defaultTimeoutMs = 20_000

const known: { readonly [name in (typeof knownLanguageServers)[number]]: LanguageServerConfiguration } = {
  typescript: {
    command: ['typescript-language-server', '--stdio'],
    extensions: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'],
    initializationOptions: {
      // It would try to fetch types from the network, which is not there.
      disableAutomaticTypingAcquisition: true,
      // A second one that answers before the project is read knows less than a search.
      tsserver: { useSyntaxServer: 'never' },
    },
  },
  rust: { command: ['rust-analyzer'], extensions: ['.rs'] },
  go: { command: ['gopls'], extensions: ['.go'] },
  python: { command: ['pyright-langserver', '--stdio'], extensions: ['.py', '.pyi'] },
  pylsp: { command: ['pylsp'], extensions: ['.py', '.pyi'] },
  clangd: {
    // Its index would be written into the project.
    command: ['clangd', '--background-index=false'],
    extensions: ['.c', '.h', '.cc', '.cpp', '.cxx', '.hh', '.hpp', '.hxx', '.m', '.mm'],
  },
}

/** The servers that may be asked: those of the configuration, then those that are known, in the order in which they are tried. */
export function listServers(
  configured: { readonly [name: string]: LanguageServerConfiguration } = {},
): ServerChoice[] {
  const names = [...new Set([...Object.keys(configured), ...knownLanguageServers])]
  return names.flatMap((name) => {
    const own = Object.hasOwn(configured, name) ? (configured[name] ?? {}) : {}
    const base: LanguageServerConfiguration = isKnown(name) ? known[name] : {}
    const { enabled = true, command, extensions, ...rest } = { ...base, ...own }
    if (!enabled || command === undefined || extensions === undefined) return []
    return {
      name,
      command,
      extensions: extensions.map((extension) => extension.toLowerCase()),
      initializationOptions: merge(base.initializationOptions ?? {}, own.initializationOptions ?? {}),
      settings: rest.settings ?? {},
      timeoutMs: rest.timeoutMs ?? defaultTimeoutMs,
    }
  })
}

/** The second over the first, objects in them too. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged = { ...first }
  for (const [name, value] of Object.entries(second)) {
    const before = merged[name]
    merged[name] = isJsonObject(before) && isJsonObject(value) ? merge(before, value) : value
  }
  return merged
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return isPlainObject(value)
}

function isKnown(name: string): name is keyof typeof known {
  return Object.hasOwn(known, name)
}

const languages: { readonly [extension: string]: string } = {
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'typescriptreact',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.jsx': 'javascriptreact',
  '.rs': 'rust',
  '.go': 'go',
  '.py': 'python',
  '.pyi': 'python',
  '.c': 'c',
  '.h': 'c',
  '.m': 'objective-c',
  '.mm': 'objective-cpp',
}

/** What the protocol calls the language of a file with this ending; where it has no name for it, that of the server. */
export function languageOf(extension: string, { name }: ServerChoice): string {
  return languages[extension] ?? (name === 'clangd' ? 'cpp' : name)
}
