import { basename } from 'node:path'
import type { PackageCommand } from './package-command.ts'

/** How a program that fetches is told what. */
interface Dialect {
  readonly kind: PackageCommand['kind']
  /** Names of options whose value is a package; the program is named for itself then. */
  readonly packages: readonly string[]
  /** Names of options whose value is a package beside the one of the program. */
  readonly others: readonly string[]
  /** Options that change nothing of what is run. */
  readonly flags: readonly string[]
}

const npx: Dialect = {
  kind: 'npm',
  packages: ['-p', '--package'],
  others: [],
  flags: ['-y', '--yes', '-q', '--quiet', '-s', '--silent', '--prefer-offline', '--prefer-online', '--bun'],
}
const uvx: Dialect = {
  kind: 'uv',
  packages: ['--from', '--spec'],
  others: ['--with'],
  flags: ['-q', '--quiet', '--isolated', '--no-progress', '--prerelease=allow'],
}

/** By program, and by the first words of its arguments. */
const dialects: readonly (readonly [words: readonly string[], Dialect])[] = [
  [['npx'], npx],
  [['npm', 'exec'], npx],
  [['npm', 'x'], npx],
  [['pnpm', 'dlx'], npx],
  [['pnpx'], npx],
  [['yarn', 'dlx'], npx],
  [['bunx'], npx],
  [['bun', 'x'], npx],
  [['uvx'], uvx],
  [['uv', 'tool', 'run'], uvx],
  [['pipx', 'run'], uvx],
]

/**
 * What a command line fetches, and what it runs then. Undefined for one that fetches nothing, or not from a registry: a folder, a repository, an
 * address, or with options that are not known here.
 */
export function readPackageCommand(command: string, args: readonly string[]): PackageCommand | undefined {
  const found = findDialect(command, args)
  return found && readArguments(args.slice(found[0].length - 1), found[1])
}

/** Whether a command line fetches what it runs, from wherever that is. */
export function fetchesPackage(command: string, args: readonly string[]): boolean {
  return findDialect(command, args) !== undefined
}

function findDialect(command: string, args: readonly string[]) {
  const line = [basename(command), ...args]
  return dialects.find(([words]) => words.every((word, index) => line[index] === word))
}

function readArguments(args: readonly string[], dialect: Dialect): PackageCommand | undefined {
  const named: string[] = []
  const others: string[] = []
  let python: string | undefined
  let at = 0
  for (; at < args.length && args[at]?.startsWith('-') === true; at++) {
    const [, option = '', inside] = /^(--?[^=]+)(?:=(.*))?$/s.exec(args[at] ?? '') ?? []
    const value = (): string => inside ?? args[++at] ?? ''
    if (args[at] === '--') {
      at++
      break
    }
    if (dialect.packages.includes(option)) named.push(value())
    else if (dialect.others.includes(option)) others.push(value())
    else if (dialect.kind === 'uv' && (option === '-p' || option === '--python')) python = value()
    else if (!dialect.flags.includes(args[at] ?? '')) return undefined
  }
  const [first, ...rest] = args.slice(at)
  if (first === undefined) return undefined
  const { kind } = dialect
  const own = named.length === 0 ? [toSpec(first, kind)] : named
  const specs = [...own, ...others]
  if (!specs.every((spec) => forms[kind].test(spec))) return undefined
  return { kind, specs, program: named.length === 0 ? undefined : first, args: rest, python }
}

/** `uvx name@1.2` is the version 1.2 of it, and `name@latest` what there is. */
function toSpec(first: string, kind: PackageCommand['kind']): string {
  return kind === 'npm' ? first : first.replace(/@latest$/, '').replace(/^([^@[\]]+(?:\[[^\]]*\])?)@/, '$1==')
}

/** A name, and which version of it: no path, repository or address. */
const forms: { readonly [kind in PackageCommand['kind']]: RegExp } = {
  npm: /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:@[^\s:/\\]+)?$/i,
  uv: /^[a-z0-9][\w.-]*(?:\[[\w\s,.-]*\])?(?:\s*(?:[=<>!~]=?=?)\s*[\w.*+!,<>=~\s-]+)?$/i,
}

/** The name of the package of a spec. */
export function nameOfSpec(spec: string): string {
  return /^(@[^/@]+\/[^@]+|[^@=<>!~[\s]+)/.exec(spec)?.[1] ?? spec
}
