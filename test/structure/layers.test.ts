import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, test } from 'vitest'
import { doors as published } from '../../scripts/doors.ts'

/** The doors of the package. */
const doors = published.map(({ file }) => `${file}.ts`)

const root = join(import.meta.dirname, '..', '..', 'src')

/** What each folder may import, beside itself. Rooms know the contract and the kit, some how a tool is defined, never each other. */
const place = ['contract', 'kit']
const rooms = [
  'registry',
  'schema',
  'policy',
  'runtime',
  'evidence',
  'sandboxes',
  'stores',
  'tools',
  'declarative',
  'config',
  'mcp',
  'a2a',
  'telemetry',
  'doors',
  'agents',
]
const layers: { readonly [folder: string]: readonly string[] } = {
  contract: [],
  kit: ['contract'],
  ...Object.fromEntries(rooms.map((room) => [room, place])),
  define: [...place, 'schema'],
  tools: [...place, 'define'],
  declarative: [...place, 'define'],
  mcp: [...place, 'define'],
  a2a: [...place, 'define'],
  // What a provider does not take of a schema is found by the keywords that schemas have.
  doors: [...place, 'define', 'schema'],
  // A run hands the tools of its session to a model.
  agents: [...place, 'doors'],
  compose: [...place, ...rooms, 'define'],
  testing: [...place, ...rooms, 'compose'],
  // Its pages are of whatever there is.
  console: [...place, ...rooms, 'define', 'compose'],
  cli: [...place, ...rooms, 'compose', 'console'],
  ...Object.fromEntries(doors.map((door) => [door, [...place, ...rooms, 'define', 'compose', 'testing']])),
}

/** Folders that import each other, and why that stays. */
const bothWays: { readonly [pair: string]: string } = {
  'policy/commands ↔ policy/commands/harmless': 'a command inside a command is judged as the one around it',
  'sandboxes/files ↔ sandboxes/programs/launcher':
    'files are opened by programs of the launcher, which finds its own by the same listing',
}

const mostFiles = 25

/** What tools must not touch: effects go through the sandbox or not at all. */
const effects = /^node:(fs|child_process|net|http|https|http2|dgram|tls|worker_threads|vm)(\/|$)/

interface Source {
  path: string
  folder: string
  text: string
  imports: string[]
}

const sources: Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, folder: path.split('/')[0] ?? '', text, imports: findImports(path, text) }
  })

/** Every specifier of a file: imports, re-exports, dynamic imports, types too. */
function findImports(path: string, text: string): string[] {
  const { module } = parseSync(path, text)
  return [
    ...module.staticImports.map((each) => each.moduleRequest.value),
    ...module.staticExports.flatMap((each) => each.entries.map((entry) => entry.moduleRequest?.value ?? '')),
    ...module.dynamicImports.map((each) =>
      text.slice(each.moduleRequest.start + 1, each.moduleRequest.end - 1),
    ),
  ].filter((specifier) => specifier !== '')
}

function targetOf(source: Source, specifier: string): string {
  return relative(root, resolve(root, dirname(source.path), specifier))
}

const inside = (specifier: string) => specifier.startsWith('.')

test('there are sources to look at', () => {
  expect(sources.length).toBeGreaterThan(60)
  expect(sources.some((source) => source.imports.length > 3)).toBe(true)
})

test('every folder stands in the layer table', () => {
  expect(
    [...new Set(sources.map((source) => source.folder))].filter((folder) => !(folder in layers)),
  ).toEqual([])
})

test('imports lead only where the layer table allows', () => {
  const wrong = sources.flatMap((source) =>
    source.imports
      .filter(inside)
      .map((specifier) => targetOf(source, specifier))
      .filter((target) => {
        const folder = target.split('/')[0] ?? ''
        return folder !== source.folder && !(layers[source.folder] ?? []).includes(folder)
      })
      .map((target) => `${source.path} imports ${target}`),
  )
  expect(wrong).toEqual([])
})

test('folders import one way: no two of them import each other', () => {
  const folderOf = (path: string): string => dirname(path)
  const edges = new Set(
    sources.flatMap((source) =>
      source.imports
        .filter(inside)
        .map((specifier) => `${folderOf(source.path)} → ${folderOf(targetOf(source, specifier))}`),
    ),
  )
  const pairs = [...edges].flatMap((edge) => {
    const [from = '', to = ''] = edge.split(' → ')
    return from < to && edges.has(`${to} → ${from}`) ? [`${from} ↔ ${to}`] : []
  })
  expect(edges.size).toBeGreaterThan(100)
  expect(pairs.toSorted()).toEqual(Object.keys(bothWays).toSorted())
})

test(`no folder holds more than ${mostFiles} files`, () => {
  const sizes = Map.groupBy(sources, ({ path }) => dirname(path))
  const crowded = [...sizes]
    .filter(([, files]) => files.length > mostFiles)
    .map(([folder, { length }]) => `${folder}: ${length}`)
  expect(crowded).toEqual([])
})

test('the contract imports nothing from outside of it', () => {
  const outside = sources
    .filter((source) => source.folder === 'contract')
    .flatMap((source) =>
      source.imports
        .filter((specifier) => !inside(specifier) || !targetOf(source, specifier).startsWith('contract/'))
        .map((specifier) => `${source.path}: ${specifier}`),
    )
  expect(outside).toEqual([])
})

test('nobody inside imports a door, and no folder has an index.ts', () => {
  const wrong = sources.flatMap((source) =>
    source.imports
      .filter(
        (specifier) =>
          inside(specifier) &&
          (/(^|\/)index\.ts$/.test(specifier) || doors.includes(targetOf(source, specifier))),
      )
      .map((specifier) => `${source.path}: ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test('there are no circles, type imports included', () => {
  const graph = new Map(
    sources.map((source) => [
      source.path,
      source.imports.filter(inside).map((specifier) => targetOf(source, specifier)),
    ]),
  )
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (path: string, above: string[]): void => {
    if (above.includes(path)) {
      circles.push([...above.slice(above.indexOf(path)), path].join(' → '))
      return
    }
    if (done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...above, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  expect(circles).toEqual([])
})

test('declared tools start programs only through the sandbox', () => {
  const declared = sources.filter((source) => source.folder === 'declarative')
  const imported = declared.flatMap((source) => source.imports.filter((specifier) => effects.test(specifier)))
  expect(new Set(imported)).toEqual(new Set(['node:fs']))
})

test('only a step takes a call further', () => {
  const advancing = sources
    .filter(({ text }) => /\badvance(?:\.\w+|\['[\w-]+'\])\(/.test(text))
    .map(({ path }) => path)
  const mark =
    /\b(as (unknown as )?|is Halted\['state'\] & )(After|Found|CheckedInput|Authorised|Recalled|Planned|Hooked|Approved|Admitted|Ran|CheckedOutput|Open)\b/
  const casting = sources
    .filter(({ folder, text }) => folder === 'runtime' && mark.test(text))
    .map(({ path }) => path)
  expect(advancing.length).toBeGreaterThan(9)
  expect(advancing.filter((path) => !path.startsWith('runtime/call/steps/'))).toEqual([])
  expect(casting.toSorted()).toEqual(['runtime/state/advance.ts', 'runtime/state/call-state.ts'])
})

test('tools reach the outside only through the sandbox', () => {
  const tools = sources.filter((source) => source.folder === 'tools')
  const imported = tools.flatMap((source) =>
    source.imports
      .filter((specifier) => effects.test(specifier))
      .map((specifier) => `${source.path}: ${specifier}`),
  )
  const called = tools
    .filter((source) => /\b(fetch|WebSocket|EventSource)\s*\(|process\.(binding|dlopen)/.test(source.text))
    .map((source) => source.path)
  expect([...imported, ...called]).toEqual([])
})

test('only the network guard opens connections for calls, and only doors listen', () => {
  const connecting = /^(undici|node:(dns|tls|https|http2|dgram)(\/|$))/
  const listening = /^node:(net|http)$/
  const outside = sources.flatMap(({ path, imports }) =>
    imports
      .filter(
        (specifier) =>
          connecting.test(specifier) || (listening.test(specifier) && !path.startsWith('mcp/server/')),
      )
      .map((specifier) => `${path}: ${specifier}`),
  )
  const known = [
    // A pure function of it tells addresses from names.
    'kit/match/read-private-host.ts: node:net',
    // A command of a trial must not reach it.
    'sandboxes/doctor/examine-sandbox-runtime.ts: node:net',
    // Streams of programs are sockets in a folder that nobody else may enter.
    'sandboxes/programs/launcher/follow-programs.ts: node:net',
    'sandboxes/programs/launcher/launch-programs.ts: node:net',
    'sandboxes/programs/launcher/open-streams.ts: node:net',
    // A browser comes back to the terminal that it was sent from.
    'cli/terminal/listen-for-return.ts: node:http',
    'cli/terminal/listen-for-return.ts: node:net',
    // Hooks and commands ask a running server over a socket of the home folder.
    'cli/ready/hand-over.ts: node:net',
    'cli/ready/keep-processes.ts: node:net',
    'cli/ready/serve-socket.ts: node:net',
  ]
  expect(outside.filter((each) => !each.startsWith('sandboxes/network/') && !known.includes(each))).toEqual(
    [],
  )
  // The authorization server that the operator named; no call reaches it.
  const asking = ['mcp/server/callers/issuer-metadata.ts']
  const fetching = sources.filter(({ text }) => /(?<![.\w])fetch\s*\(/.test(text)).map(({ path }) => path)
  expect(fetching).toEqual(asking)
})

test('the files beside the folders are the doors, and only hand names on', () => {
  const beside = sources.filter(({ path }) => !path.includes('/'))
  const bodies = beside.filter((source) => /^(const|let|function|class|import)\b/m.test(source.text))
  // An older Node is told before anything else fails on it.
  const late = beside.filter(
    ({ text }) => !/^(\/\/.*\n)*export \{\} from '\.\/kit\/require-node\.ts'\n/.test(text),
  )
  expect(beside.map(({ path }) => path).toSorted()).toEqual(doors.toSorted())
  expect([...bodies, ...late].map((source) => source.path)).toEqual([])
})

test('no file is named after a word that says nothing', () => {
  const empty = /(^|[/-])(manager|executor|util|utils|common|helper|helpers|misc)([-.]|$)/
  expect(sources.map((source) => source.path).filter((path) => empty.test(path))).toEqual([])
})
