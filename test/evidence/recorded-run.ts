import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  codeTools,
  createRuntime,
  defineTool,
  type ApprovalRequest,
  type Policy,
  type Runtime,
  type RuntimeOptions,
  type ToolResult,
} from 'handrail'
import { makeFolder } from '../support/project.ts'

/** A keyed tool that says how often it was run. */
export function makePay(more: { version?: string; description?: string } = {}) {
  let runs = 0
  return defineTool({
    name: 'shop.pay',
    version: more.version ?? '1.0.0',
    description: more.description ?? 'Pays an amount.',
    permission: 'write',
    sideEffect: 'none',
    idempotency: 'keyed',
    keyFrom: 'call',
    input: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
    run: ({ amount }) => ({ paid: amount, runs: ++runs }),
  })
}

export const policy: Policy = {
  rules: [
    { id: 'legal', effect: 'deny', resources: ['handrail:file:{project}/legal/**'] },
    { id: 'pay', effect: 'allow', tools: ['shop.pay'] },
  ],
}

/** A run as it was recorded in a SQLite store, and what is needed to replay it. */
export interface RecordedRun {
  readonly project: string
  readonly path: string
  readonly session: string
  readonly results: readonly ToolResult[]
  readonly options: RuntimeOptions
  /** The id of the call that this was. */
  id(index: number): string
}

/** Says yes to what a test wants allowed, by the path in the input. */
async function approve({ inputSummary }: ApprovalRequest) {
  if (inputSummary.includes('no.txt')) return { decision: 'deny' as const, reason: 'not this one' }
  return {
    decision: inputSummary.includes('notes/') ? ('allow_for_session' as const) : ('allow_once' as const),
  }
}

/** Files of the project before the run. */
const files = {
  'a.txt': 'one\ntwo\nthree\n',
  'legal/b.md': 'by hand\n',
  'src/index.ts': 'export const answer = 42\n',
  'big.txt': 'line\n'.repeat(900),
}

/** Reads, writes that a person allows once and for the session, denials of every kind, failures, a command, and a keyed call twice. */
export async function recordRun(more: RuntimeOptions = {}): Promise<RecordedRun> {
  const project = makeFolder(files)
  const home = makeFolder()
  const path = join(makeFolder(), 'store.db')
  const options: RuntimeOptions = {
    project,
    home,
    policy,
    tools: [codeTools(), makePay()],
    approve,
    store: { path },
    ...more,
  }
  const runtime = await createRuntime(options)
  const session = runtime.session({ actor: 'ada' })
  const write = (name: string, content: string) => ({ path: name, content, overwrite: true })
  const calls: [tool: string, input: unknown, options?: Parameters<typeof session.call>[2]][] = [
    ['code.read_file', { path: 'a.txt' }, { id: 'toolu_1', rawName: 'Read' }],
    ['code.read_file', { path: 'big.txt', max_lines: '900' }, { origin: 'llm' }],
    ['code.search', { query: 'answer' }],
    ['code.write_file', write('a.txt', 'changed\n')],
    ['code.write_file', write('notes/1.md', 'first\n')],
    ['code.write_file', write('notes/2.md', 'second\n')],
    ['code.write_file', write('legal/b.md', 'x')],
    ['code.write_file', write('no.txt', 'x')],
    ['code.write_file', { path: 'a.txt', content: 'there already' }],
    ['code.write_file', write('../outside.txt', 'x')],
    ['code.read_file', { path: 'missing.txt' }],
    ['code.run_command', { argv: ['cat', 'a.txt'] }],
    ['shop.pay', { amount: 5 }, { idempotencyKey: 'k1' }],
    ['shop.pay', { amount: 5 }, { idempotencyKey: 'k1' }],
    ['shop.pay', { amount: 6 }, { idempotencyKey: 'k1' }],
    ['code.wrte_file', {}],
    ['code.read_file', { path: 7 }],
  ]
  const results: ToolResult[] = []
  for (const [tool, input, callOptions] of calls) results.push(await session.call(tool, input, callOptions))
  await runtime.close()
  const id = (index: number) => results[index]?.callId ?? ''
  return { project, path, session: session.id, results, options, id }
}

/** Every file below a folder with its digest, size, mode and time of change. */
export function fingerprint(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, size, mtimeMs } = statSync(join(folder, name))
      const isFile = statSync(join(folder, name)).isFile()
      const digest = isFile
        ? createHash('sha256')
            .update(readFileSync(join(folder, name)))
            .digest('hex')
        : 'directory'
      return [name, digest, mode, size, mtimeMs].join(' ')
    })
}

/** Changes the project so that no call of the run would go again as it went. */
export function wreck(project: string): void {
  for (const name of ['a.txt', 'big.txt', 'src', 'notes'])
    rmSync(join(project, name), { recursive: true, force: true })
  mkdirSync(join(project, 'a.txt'))
  writeFileSync(join(project, 'missing.txt'), 'here now\n')
}

/** Changes a closed store by hand. */
export function tamper(path: string, statement: string, ...values: string[]): void {
  const db = new DatabaseSync(path)
  db.prepare(statement).run(...values)
  db.close()
}

/** A runtime that does nothing but hold the store of a run open. */
export async function openStore({ path }: Pick<RecordedRun, 'path'>): Promise<Runtime> {
  return createRuntime({ project: makeFolder(), home: makeFolder(), store: { path } })
}
