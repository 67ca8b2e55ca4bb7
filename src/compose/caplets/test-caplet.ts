import { chmodSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ToolResult } from '../../contract/base/result.ts'
import type { ToolSource } from '../../contract/tool/tool.ts'
import type { CapletTest } from '../../declarative/caplets/caplet.ts'
import { toCapletSource } from '../../declarative/caplets/to-caplet-source.ts'
import type { InstalledCaplet } from '../../declarative/caplets/installed-caplets.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { isObject } from '../../kit/json/is-object.ts'
import { findSandboxUser } from '../../sandboxes/bubblewrap/sandbox-user.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { createRuntime } from '../create-runtime.ts'
import type { RuntimeOptions } from '../options/runtime-options.ts'

/** What came of one packed test. */
export interface CapletTestEnd {
  readonly name: string
  readonly ok: boolean
  /** What was expected and what came, for one that failed. */
  readonly message?: string
}

/** Runs the tests of a caplet through the whole pipeline, each in an empty project of its own. The person said yes by asking for it. */
export async function testCaplet(
  caplet: InstalledCaplet,
  options: Pick<RuntimeOptions, 'sandbox' | 'network' | 'secrets'>,
): Promise<CapletTestEnd[]> {
  const source = toCapletSource({ caplets: [caplet], faulty: [] }, { checker: createSchemaChecker() })
  const ends: CapletTestEnd[] = []
  for (const test of caplet.signed.manifest.tests)
    ends.push(await runTest(test, { source, options, tool: caplet.file.name }))
  return ends
}

async function runTest(
  test: CapletTest,
  { source, options, tool }: { source: ToolSource; options: RuntimeOptions; tool: string },
): Promise<CapletTestEnd> {
  const place = mkdtempSync(join(tmpdir(), 'handrail-caplet-'))
  const [project, home] = [join(place, 'project'), join(place, 'home')]
  try {
    for (const folder of [project, home]) mkdirSync(folder)
    for (const [path, text] of Object.entries(test.files ?? {})) {
      mkdirSync(dirname(join(project, path)), { recursive: true })
      writeFileSync(join(project, path), text)
    }
    makeReachable(place, project, options.sandbox)
    const runtime = await createRuntime({
      ...options,
      project,
      home,
      store: 'memory',
      tools: [source],
      approve: async () => ({ decision: 'allow_once' }),
    })
    try {
      return compare(test, await runtime.session().call(tool, test.input))
    } finally {
      await runtime.close()
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Of root, commands run as another user: the one that is configured, else the owner of the project. */
function makeReachable(place: string, project: string, sandbox: RuntimeOptions['sandbox']): void {
  if (process.getuid?.() !== 0) return
  const asked = isObject(sandbox) && typeof sandbox['user'] === 'string' ? sandbox['user'] : undefined
  const user = findSandboxUser(project, asked)
  // The runtime says what is wrong with the one that is configured.
  if (typeof user === 'string') return
  chmodSync(place, 0o755)
  for (const path of ['', ...readdirSync(project, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(project, path), user.uid, user.gid)
}

function compare({ name, expect }: CapletTest, result: ToolResult): CapletTestEnd {
  const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const wrong = [
    ...(expect.error === result.error?.reason ? [] : [say('error', expect.error, result.error)]),
    ...(expect.data === undefined || canonicalJson(expect.data) === canonicalJson(result.data ?? null)
      ? []
      : [say('data', expect.data, result.data)]),
    ...(expect.content === undefined || expect.content.trimEnd() === text.trimEnd()
      ? []
      : [say('content', expect.content, text)]),
  ]
  return wrong.length === 0 ? { name, ok: true } : { name, ok: false, message: wrong.join(' ') }
}

function say(what: string, expected: unknown, came: unknown): string {
  return `${what}: ${JSON.stringify(expected ?? null)} was expected, and ${JSON.stringify(came ?? null)} came.`
}
