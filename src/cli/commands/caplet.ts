import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { testCaplet, type CapletTestEnd } from '../../compose/caplets/test-caplet.ts'
import { loadConfiguration } from '../../config/load-configuration.ts'
import type { Configuration } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { publisherOf } from '../../declarative/caplets/caplet-keys.ts'
import { nameOfPublisher, refuseUntrusted, type CapletTrust } from '../../declarative/caplets/caplet-trust.ts'
import { installCaplet } from '../../declarative/caplets/install-caplet.ts'
import {
  readInstalled,
  readOne,
  removeCaplet,
  type InstalledCaplet,
} from '../../declarative/caplets/installed-caplets.ts'
import { packCaplet } from '../../declarative/caplets/pack-caplet.ts'
import { readCaplet, type Caplet } from '../../declarative/caplets/read-caplet.ts'
import { readWholeFile } from '../../kit/read-whole-file.ts'
import { writeWhole } from '../../kit/write-whole.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { jsonOption, readText } from '../arguments/caller.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../base/show-safely.ts'
import { findPlaces, makeHome, readEnvironment, type Places } from '../setup/wire.ts'

const digestOption = {
  digest: { takes: 'DIGEST', about: 'Takes this very package, also if no known publisher signed it.' },
} as const

/** `handrail caplet` */
export const caplet: CommandGroup = {
  summary: 'Packs and signs tools, and installs those of publishers that you trust.',
  otherwise: 'list',
  verbs: {
    list: {
      usage: '',
      summary: 'The caplets that are installed, and what is wrong with others.',
      more: 'It ends with 2 if one is left out.',
      options: jsonOption,
      examples: ['handrail caplet list'],
      takes: 0,
      run: runList,
    },
    pack: {
      usage: '<folder>',
      summary: 'Packs a folder with a caplet.json, and signs it.',
      more: 'The key is <home>/publisher.key, made the first time. Its public part is printed: others put it into "caplets.publishers" of their config.json.',
      options: {
        out: { takes: 'FILE', about: 'Default: <name>-<version>.tgz in the current folder.' },
        key: { takes: 'FILE', about: 'An Ed25519 key in PEM, in place of <home>/publisher.key.' },
        unsigned: { about: 'Does not sign it.' },
      },
      examples: ['handrail caplet pack ./word-count'],
      needs: 'Name the folder.',
      takes: 1,
      run: runPack,
    },
    verify: {
      usage: '<file>',
      summary: 'Says what a package is, who signed it, and what it may touch. Nothing is installed.',
      options: { ...digestOption, ...jsonOption },
      examples: ['handrail caplet verify text.count-1.0.0.tgz'],
      needs: 'Name the package.',
      takes: 1,
      run: runVerify,
    },
    install: {
      usage: '<file>',
      summary: 'Verifies a package and installs it: its tool is there from then on.',
      more: 'Programs that run take it with their next start. A newer version waits for "handrail tools approve".',
      options: { ...digestOption, downgrade: { about: 'Takes an older version than the installed one.' } },
      examples: ['handrail caplet install text.count-1.0.0.tgz'],
      needs: 'Name the package.',
      takes: 1,
      run: runInstall,
    },
    remove: {
      usage: '<name>',
      summary: 'Removes an installed caplet.',
      options: {},
      examples: ['handrail caplet remove text.count'],
      needs: 'Name the tool. "handrail caplet list" lists them.',
      takes: 1,
      run: runRemove,
    },
    test: {
      usage: '<name | file | folder>',
      summary: 'Runs the packed tests, each in the sandbox, in a project of its own.',
      more: 'It ends with 1 if one fails. If a caplet of this name is installed, that one is meant: a folder of the same name is "./name".',
      options: { ...digestOption, ...jsonOption },
      examples: ['handrail caplet test text.count', 'handrail caplet test ./word-count'],
      needs: 'Name an installed caplet, a package, or the folder of one.',
      takes: 1,
      run: runTest,
    },
  },
}

interface Setting {
  readonly places: Places
  readonly configuration: Configuration
  readonly publishers: CapletTrust['publishers']
  readonly checker: ReturnType<typeof createSchemaChecker>
}

function open(given: CommandLine): Setting {
  const places = findPlaces(given)
  const checker = createSchemaChecker()
  const { configuration, notices } = loadConfiguration(places, checker)
  for (const notice of notices) process.stderr.write(`handrail: ${showLine(notice)}\n`)
  return { places, configuration, checker, publishers: configuration.caplets?.publishers ?? {} }
}

async function runList(given: CommandLine): Promise<number> {
  const { places, publishers, checker } = open(given)
  const { caplets, faulty } = readInstalled(places.caplets, { checker, publishers })
  if (given.options['json'] === true)
    writeJson({ caplets: caplets.map((each) => toWire(each, publishers)), leftOut: faulty })
  else {
    const rows = caplets.map(
      (each) => `${each.file.name}  ${each.file.version}  ${describeSigner(each, publishers)}`,
    )
    const all = [...rows, ...faulty.map(({ name, message }) => `${name}: ${message} It is left out.`)]
    writeText(process.stdout, `${all.length === 0 ? 'No caplet is installed.' : all.join('\n')}\n`)
  }
  return faulty.length > 0 ? exitCodes.usage : exitCodes.ok
}

async function runPack(given: CommandLine): Promise<number> {
  const [folder = ''] = given.positionals
  const key = given.options['unsigned'] === true ? undefined : readKey(given)
  const packed = await packCaplet(resolve(folder), { checker: createSchemaChecker(), key })
  const out = resolve(readText(given, 'out') ?? `${packed.name}-${packed.version}.tgz`)
  writeFileSync(out, packed.bytes)
  const signed = key === undefined ? 'not signed' : `publisher ${publisherOf(key)}`
  writeText(process.stdout, `${out}\n${packed.digest}\n${signed}\n`)
  return exitCodes.ok
}

/** The key of the publisher; the one of the home folder is made if there is none. */
function readKey(given: CommandLine): KeyObject {
  const named = readText(given, 'key')
  const path = named === undefined ? join(findPlaces(given).home, 'publisher.key') : resolve(named)
  if (named === undefined && !existsSync(path)) {
    makeHome(findPlaces(given).home)
    const { privateKey } = generateKeyPairSync('ed25519')
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    writeWhole(path, { text, mode: 0o600 })
  }
  const read = readWholeFile(path, 65_536)
  const wrong = (why: string) => new SetupError('invalid_caplet', `The key "${path}" cannot be used. ${why}`)
  if ('issue' in read) throw wrong(read.issue)
  if ((statSync(path).mode & 0o077) !== 0) throw wrong(`It is open to others. Close it: chmod 600 ${path}`)
  const key = readPem(read.text)
  if (key?.asymmetricKeyType !== 'ed25519') throw wrong('It is not an Ed25519 private key in PEM.')
  return key
}

function readPem(text: string): KeyObject | undefined {
  try {
    return createPrivateKey(text)
  } catch {
    return undefined
  }
}

async function runVerify(given: CommandLine): Promise<number> {
  const { publishers, checker } = open(given)
  const path = resolve(given.positionals[0] ?? '')
  const found = await readCaplet(path, {
    checker,
    permit: (each) => refuseUntrusted(path, each, { publishers, digest: readText(given, 'digest') }),
  })
  if (given.options['json'] === true) writeJson(toWire(found, publishers))
  else writeText(process.stdout, describe(found, publishers))
  return exitCodes.ok
}

async function runInstall(given: CommandLine): Promise<number> {
  const { places, publishers, checker } = open(given)
  makeHome(places.home)
  const found = await installCaplet(resolve(given.positionals[0] ?? ''), {
    dir: places.caplets,
    checker,
    trust: { publishers, digest: readText(given, 'digest') },
    downgrade: given.options['downgrade'] === true,
  })
  writeText(process.stdout, describe(found, publishers))
  const { name, version } = found.file
  const note =
    found.replaced === undefined ? '' : `, in place of ${found.replaced}; see "handrail tools approve"`
  process.stderr.write(`handrail: ${showLine(`${name} ${version} is installed${note}`)}\n`)
  return exitCodes.ok
}

async function runRemove(given: CommandLine): Promise<number> {
  const [name = ''] = given.positionals
  if (!removeCaplet(findPlaces(given).caplets, name)) throw unknownCaplet(name)
  process.stderr.write(`handrail: ${showLine(name)} is removed\n`)
  return exitCodes.ok
}

function unknownCaplet(name: string): SetupError {
  return new SetupError(
    'unknown_caplet',
    `No caplet "${showLine(name)}" is installed. "handrail caplet list" lists them.`,
  )
}

async function runTest(given: CommandLine): Promise<number> {
  const setting = open(given)
  const place = mkdtempSync(join(tmpdir(), 'handrail-caplet-'))
  // Commands may run as another user than root.
  chmodSync(place, 0o755)
  try {
    const { configuration } = setting
    const found = await findTested(given, setting, place)
    const secrets = Object.fromEntries(
      found.file.secrets.flatMap((name) => {
        const value = readEnvironment(name)
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const { sandbox, network } = configuration
    const ends = await testCaplet(found, {
      secrets,
      ...(sandbox !== undefined && { sandbox }),
      ...(network !== undefined && { network }),
    })
    if (given.options['json'] === true) writeJson(ends)
    else writeText(process.stdout, describeEnds(ends))
    return ends.every(({ ok }) => ok) ? exitCodes.ok : exitCodes.toolError
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** What is installed under the name, a package, or what a folder packs to; packages are unpacked into a folder that goes away. */
async function findTested(given: CommandLine, setting: Setting, place: string): Promise<InstalledCaplet> {
  const { places, publishers, checker } = setting
  const [named = ''] = given.positionals
  // A project may have a folder of this name: it is tested as "./name" alone.
  const installed = readInstalled(places.caplets, { checker, publishers })
  const left = installed.faulty.find(({ name }) => name === named)
  if (left !== undefined) throw new SetupError('invalid_caplet', left.message)
  const found = installed.caplets.find(({ file }) => file.name === named)
  if (found !== undefined) return found
  const path = resolve(named)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw unknownCaplet(named)
  const dir = join(place, 'caplets')
  if (!stat.isDirectory()) {
    const trust = { publishers, digest: readText(given, 'digest') }
    const { file } = await installCaplet(path, { dir, checker, trust, downgrade: false })
    return readOne(join(dir, file.name), file.name, setting)
  }
  const packed = await packCaplet(path, { checker, key: undefined })
  const archive = join(place, 'packed.tgz')
  writeFileSync(archive, packed.bytes)
  // It is the author's own.
  const trust = { publishers, digest: packed.digest }
  await installCaplet(archive, { dir, checker, trust, downgrade: false })
  return readOne(join(dir, packed.name), packed.name, setting)
}

function describeEnds(ends: readonly CapletTestEnd[]): string {
  const rows = ends.map(({ name, ok, message }) => (ok ? `ok    ${name}` : `fails ${name}: ${message ?? ''}`))
  const good = ends.filter(({ ok }) => ok).length
  return `${[...rows, ends.length === 0 ? 'It has no tests.' : `${good} of ${ends.length} hold.`].join('\n')}\n`
}

function describeSigner(found: Caplet, publishers: CapletTrust['publishers']): string {
  const name = nameOfPublisher(found, { publishers })
  const { publisher } = found.signed.manifest
  if (name !== undefined) return `signed by ${name}`
  return publisher === undefined
    ? 'not signed, taken by its digest'
    : `signed with ${publisher}, taken by its digest`
}

function describe(found: Caplet, publishers: CapletTrust['publishers']): string {
  const { file, digest, signed } = found
  const { read, write, files, tests } = signed.manifest
  const facts: readonly (readonly [string, readonly string[]])[] = [
    ['name', [`${file.name} ${file.version}`]],
    ['signature', [describeSigner(found, publishers)]],
    ['digest', [digest]],
    ['does', [file.description]],
    ['permission', [file.permission, ...file.tags]],
    ['runs', [[file.command, ...file.args].map((each) => JSON.stringify(each)).join(' ')]],
    ['reads', [...read, 'its own files']],
    ['writes', write],
    ['hosts', file.hosts],
    ['secrets', file.secrets],
    ['files', [String(files.length)]],
    ['tests', [String(tests.length)]],
  ]
  return (
    facts
      // One line each, whatever the author wrote: nothing of theirs looks like a line of Handrail.
      .map(([name, values]) => `${name}: ${values.length === 0 ? 'none' : showLine(values.join(', '))}\n`)
      .join('')
  )
}

function toWire(found: Caplet, publishers: CapletTrust['publishers']) {
  const { file, digest, signed } = found
  const { read, write, publisher, files } = signed.manifest
  return {
    name: file.name,
    version: file.version,
    digest,
    publisher: publisher ?? null,
    signedBy: nameOfPublisher(found, { publishers }) ?? null,
    permission: file.permission,
    command: file.command,
    read,
    write,
    hosts: file.hosts,
    secrets: file.secrets,
    files: files.map(({ path }) => path),
  }
}
