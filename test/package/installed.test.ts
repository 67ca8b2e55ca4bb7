import { lstatSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { doors } from '../../scripts/doors.ts'
import { keepOpen } from '../support/at-end.ts'
import { makePlace, packageRoot } from '../support/command-line.ts'
import { findBlocks, listPages, readPage } from '../support/markdown.ts'
import { listNames } from '../support/public-types.ts'
import { compile, installPackage, runProgram, writeBelow, type Installed } from '../support/package.ts'

const isType = (line: string) => line.startsWith('ts')
const examples = listPages().flatMap((page) =>
  findBlocks(readPage(page)).filter(({ language }) => isType(language)),
)

const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string
  scripts: Record<string, string>
  exports: Record<string, string | Record<string, string>>
}

const first = examples.find(({ heading }) => heading === 'In your program')

const wrongProgram = `import { createRuntime, defineTool } from 'handrail'
const greet = defineTool({
  name: 'demo.greet',
  description: 'Greets.',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }) => name.toFixed(2),
})
await createRuntime({ tools: [greet], polici: {} })
`

const doorsProgram = `import * as handrail from 'handrail'
import { createCedarDecisionPoint } from 'handrail/cedar'
import { storeContract } from 'handrail/testing'
import * as anthropic from 'handrail/anthropic'
import { fromAiTools } from 'handrail/ai-sdk'
import * as bedrock from 'handrail/bedrock'
import * as evidence from 'handrail/evidence'
import * as google from 'handrail/google'
import { fromLangChain } from 'handrail/langchain'
import { fromMastra } from 'handrail/mastra'
import * as mcp from 'handrail/mcp'
import * as modelDoors from 'handrail/model-doors'
import * as openai from 'handrail/openai'
import * as rules from 'handrail/policy'
import * as replay from 'handrail/replay'
import * as sandbox from 'handrail/sandbox'
import * as store from 'handrail/store'
import * as telemetry from 'handrail/telemetry'
import * as tools from 'handrail/tools'
import policy from 'handrail/schemas/policy.json' with { type: 'json' }
import manifest from 'handrail/package.json' with { type: 'json' }
const inside: string = 'handrail/dist/runtime/call/pipeline.js'
const closed = await import(inside).then(() => 'open', (error: { code: string }) => error.code)
// The peer of this door is not installed.
const cedar = await createCedarDecisionPoint({ policies: '' }).then(() => 'made', (error: { code: string }) => error.code)
const others = [anthropic, bedrock, evidence, google, mcp, modelDoors, openai, rules, replay, sandbox, store, telemetry, tools].map((door) => Object.keys(door))
console.log(JSON.stringify([typeof handrail.createRuntime, typeof storeContract, typeof fromAiTools, typeof fromLangChain, typeof fromMastra, others, policy.type, manifest.version, closed, cedar]))
`

/** What users compile, by its path. */
const programs: readonly (readonly [path: string, code: string])[] = [
  ['readme/example.ts', first?.code ?? ''],
  ...examples.map(({ code }, index) => [`pages/example-${index}.ts`, code] as const),
  ['wrong/program.ts', wrongProgram],
  ['doors/program.ts', doorsProgram],
  ['ports/own-ports.ts', readFileSync(join(packageRoot, 'test/support/own-ports.ts'), 'utf8')],
]

/** What the README's lines leave in the home of the person who pastes them. */
const pasted = keepOpen(() => {
  const [lines] = findBlocks(readPage('README.md')).filter(
    ({ heading, language }) => heading === first?.heading && language === 'bash',
  )
  const { user } = makePlace()
  const made = runProgram('env', [`HOME=${user}`, 'sh', '-ec', lines?.code ?? 'false'], packageRoot)
  return { made, folder: join(user, 'my-agent') }
})

let installed: Installed
/** What the compiler says of all programs of this file. */
let said: string
beforeAll(() => {
  installed = installPackage()
  for (const [path, code] of programs) writeBelow(installed.folder, path, code)
  // What programs of the pages have beside Handrail.
  const beside = join(installed.folder, 'pages', 'node_modules')
  mkdirSync(beside)
  for (const name of ['ai', 'zod']) symlinkSync(join(packageRoot, 'node_modules', name), join(beside, name))
  said = compile(
    installed.folder,
    programs.map(([path]) => path),
  )
})
afterAll(() => installed.remove())

const issuesOf = (path: string) => said.split('\n').filter((line) => line.startsWith(path))

describe('the tarball', () => {
  test('holds what the manifest promises, and no source, test or page', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : [target['types'] ?? '', target['default'] ?? ''],
    )
    const promised = targets
      .filter((path) => !path.includes('*'))
      .map((path) => path.replace('./', 'package/'))
    const more = [
      'bin/ask-hook.cjs',
      'bin/handrail.cjs',
      'bin/ready/ask.cjs',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
    ].map((path) => `package/${path}`)
    const schemas = ['config', 'policy', 'project'].map((name) => `package/schemas/${name}.json`)
    expect(manifest.scripts['prepack']).toBe('npm run -s build')
    expect(installed.files).toEqual(expect.arrayContaining([...promised, ...more, ...schemas]))
    expect(
      installed.files.filter((path) => /^package\/(src|test|docs|bench|scripts|node_modules)\//.test(path)),
    ).toEqual([])
    expect(installed.files.filter((path) => /\.test\.|\.ts$/.test(path) && !path.endsWith('.d.ts'))).toEqual(
      [],
    )
  })

  test('is small, and names no place of the machine that packed it', () => {
    const paths = installed.files.filter((path) => path.startsWith('package/') && !path.endsWith('/'))
    let bytes = 0
    for (const path of paths) {
      const file = join(installed.folder, 'node_modules', 'handrail', path.slice('package/'.length))
      bytes += statSync(file).size
      expect(readFileSync(file, 'utf8').includes(packageRoot), path).toBe(false)
    }
    expect(bytes).toBeLessThan(10 * 1024 * 1024)
  })

  test('brings few packages, and names the licence of each library inside it', () => {
    const modules = join(installed.folder, 'node_modules')
    const files = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    )
    const bytes = files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
    const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
      packages: Record<string, unknown>
    }
    expect(bytes).toBeLessThan(30 * 1024 * 1024)
    expect(Object.keys(packages).length).toBeLessThan(30)
    const notices = readFileSync(join(modules, 'handrail', 'dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    for (const name of ['@modelcontextprotocol/server', 'undici', 'zod', 'linkedom'])
      expect(notices).toMatch(new RegExp(`^Name: ${name}\\nVersion: [\\d.]+\\nLicense: \\S+`, 'm'))
  })
})

describe('an older Node', () => {
  test('is told in one line which Node is needed, by every door', () => {
    const main = join(installed.folder, 'node_modules', 'handrail')
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`
    writeBelow(installed.folder, 'old.mjs', pretend)
    const paths = doors.map(({ file }) => join(main, 'dist', `${file}.js`))
    const run = (program: string) => {
      writeBelow(installed.folder, 'old-program.mjs', program)
      const argv = ['--import', join(installed.folder, 'old.mjs'), join(installed.folder, 'old-program.mjs')]
      return runProgram(process.execPath, argv, installed.folder)
    }
    const ran = run(`import '${paths[0]}'`)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('Handrail needs Node 24 or later; this is v')
    expect(ran.stderr).not.toMatch(/^\s+at /m)
    const tried = run(`
      const told = []
      for (const path of ${JSON.stringify(paths)})
        told.push(await import(path).then(() => 'loaded', ({ stack }) => stack))
      console.log(JSON.stringify(told))`)
    const line = expect.stringMatching(/^Handrail needs Node 24 or later; this is v.*$/) as string
    expect(JSON.parse(tried.stdout)).toEqual(paths.map(() => line))
  })

  test('can read every file that the doors load, so that it gets to be told', () => {
    const scripts = installed.files.filter((path) => /^package\/dist\/.*\.js$/.test(path))
    const newer = scripts.filter((path) => {
      const file = join(installed.folder, 'node_modules', 'handrail', path.slice('package/'.length))
      return /^\s*(await )?using \w+ =/m.test(readFileSync(file, 'utf8'))
    })
    expect([scripts.length > 5, newer]).toEqual([true, []])
  })
})

describe('a program of a user', () => {
  test("the README's longer example compiles against the installed types and prints what it says", () => {
    expect(first?.code).toContain('createRuntime')
    expect(issuesOf('readme/')).toEqual([])
    writeBelow(installed.folder, 'run/empty.txt', '')
    const ran = runProgram(
      process.execPath,
      [join(installed.folder, 'out', 'readme', 'example.js')],
      join(installed.folder, 'run'),
    )
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    const again = runProgram(
      process.execPath,
      [join(installed.folder, 'out', 'readme', 'example.js')],
      join(installed.folder, 'run'),
    )
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toBe(ran.stdout)
    const lines = ran.stdout.split('\n')
    expect(lines).toContain('Hello, Ada!')
    expect(lines).toContain("[ 'toolu_1 ok', 'toolu_2 ok' ]")
    expect(lines.find((line) => line.startsWith('ask '))).toMatch(/notes\.txt/)
    expect(readFileSync(join(installed.folder, 'run', 'notes.txt'), 'utf8')).toBe('one\n')
  })

  test('every TypeScript example of every page compiles', () => {
    expect(examples.length).toBeGreaterThan(0)
    expect(issuesOf('pages/')).toEqual([])
  })

  test('a wrong program does not compile: the types are there and are not any (SDK-2)', () => {
    const issues = issuesOf('wrong/')
    expect(issues).toEqual([
      expect.stringMatching(/program\.ts\(6,\d+\): error TS\d+: .*toFixed/),
      expect.stringMatching(/program\.ts\(8,\d+\): error TS\d+: .*polici/),
    ])
    // The types of packages beside Handrail stand outside of the folder.
    const all = said.split('\n').filter((line) => line.includes('error TS') && !line.startsWith('..'))
    expect(all).toEqual(issues)
  })

  test('a sandbox, a store, artifacts and a feed of its own are written with the public types', () => {
    expect(issuesOf('ports/')).toEqual([])
  })

  test('every door loads and has its types; what is not a door is closed', () => {
    const others = [
      'anthropic',
      'bedrock',
      'evidence',
      'google',
      'mcp',
      'model-doors',
      'openai',
      'policy',
      'replay',
      'sandbox',
      'store',
      'telemetry',
      'tools',
    ].map((file) => listNames({ file }).flatMap(({ name, isType }) => (isType ? [] : [name])))
    expect(issuesOf('doors/')).toEqual([])
    const ran = runProgram(
      process.execPath,
      [join(installed.folder, 'out', 'doors', 'program.js')],
      installed.folder,
    )
    expect([ran.stderr, JSON.parse(ran.stdout)]).toEqual([
      '',
      [
        ...Array.from({ length: 5 }, () => 'function'),
        others,
        'object',
        manifest.version,
        'ERR_PACKAGE_PATH_NOT_EXPORTED',
        'peer_missing',
      ],
    ])
  })
})

test("the README's lines build the clone and install it, and its example runs in that project as it stands there", () => {
  const { made, folder } = pasted()
  expect([made.code, made.stderr]).toEqual([0, expect.not.stringContaining('npm error') as string])
  writeBelow(folder, 'example.mts', first?.code ?? '')
  const ran = runProgram('node', ['example.mts'], folder)
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(ran.stdout).toContain('Hello, Ada!\n')
  expect(ran.stdout).toContain("[ 'toolu_1 ok', 'toolu_2 ok' ]")
})

describe('the installed command', () => {
  const bin = () => join(installed.folder, 'node_modules', '.bin', 'handrail')

  test('runs, makes a call and verifies it', () => {
    writeBelow(installed.folder, 'project/a.txt', 'installed\n')
    const cwd = join(installed.folder, 'project')
    const home = ['--home', join(installed.folder, 'home')]
    expect(runProgram(bin(), ['--version'], cwd)).toEqual({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    })
    const read = runProgram(bin(), ['call', 'code.read_file', '{"path": "a.txt"}', ...home], cwd)
    expect(read).toEqual({ code: 0, stdout: '1\tinstalled\n', stderr: '' })
    const found = runProgram(bin(), ['call', 'code.search', '{"query": "install"}', ...home], cwd)
    expect([found.code, found.stderr]).toEqual([0, ''])
    expect(found.stdout).toContain('a.txt')
    const verified = runProgram(bin(), ['evidence', 'verify', ...home], cwd)
    // Each process signs what it wrote when it ends, and a signature is a record too.
    expect(verified.stdout).toMatch(
      /^The chain holds: (\d+) records of 2 calls\.\nSigned: \1 records by key_[0-9a-f]{32}\.\n$/,
    )
  })

  test('serves MCP over stdio with the version of the package', () => {
    const hello = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    }
    writeBelow(installed.folder, 'hello.json', `${JSON.stringify(hello)}\n`)
    const line = `'${bin()}' serve --stdio --home home --project project < hello.json`
    writeBelow(installed.folder, 'project/a.txt', 'installed\n')
    const served = runProgram('sh', ['-c', line], installed.folder)
    expect([served.code, served.stderr]).toEqual([0, ''])
    expect(JSON.parse(served.stdout)).toMatchObject({
      id: 1,
      result: { serverInfo: { name: 'handrail', version: manifest.version } },
    })
  })
})
