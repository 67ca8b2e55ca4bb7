import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from 'handrail'
import { expect, test } from 'vitest'
import { atOpenEntrances } from '../../support/sandbox-entrances.ts'

/** Hooks that raise, each before one tool, and input for that. */
const raising: Readonly<
  Record<string, readonly [input: Readonly<Record<string, unknown>>, command: readonly string[]]>
> = {
  'code.read_file': [{ path: 'a.txt' }, ['sh', '-c', 'echo "no attribute owner" >&2; exit 1']],
  'code.list_dir': [{}, ['sh', '-c', 'echo "{}"']],
  'code.glob': [{ pattern: '*' }, ['sh', '-c', 'echo yes']],
  'code.search': [{ query: '.' }, ['sh', '-c', 'echo \'{"decision":true}\'']],
  'code.write_file': [{ path: 'x.txt', content: 'x' }, ['sh', '-c', 'echo \'{"decision":"Allow"}\'']],
  'code.run_command': [{ argv: ['touch', 'x.txt'] }, ['sh', '-c', 'sleep 20; echo \'{"decision":"allow"}\'']],
  'code.edit_file': [{ path: 'a.txt', edits: [{ old: 'one', new: 'x' }] }, ['/nowhere/no-such-program']],
  'code.run_shell': [{ command: 'touch x.txt' }, ['sh', '-c', 'echo \'{"decision":"allow"}\'; kill -9 $$']],
  'job.list': [{}, ['sh', '-c', 'echo \'{"decision":"allow"}{"decision":"allow"}\'']],
}

const hooks: Configuration['hooks'] = Object.entries(raising).map(([tool, [, command]]) => ({
  on: 'PreToolUse',
  tools: [tool],
  command,
  timeoutMs: 1_000,
}))

atOpenEntrances(
  {
    files: { 'a.txt': 'one\n' },
    configuration: { hooks, shell: true },
    policy: { rules: [{ effect: 'allow', tools: ['*'] }] },
  },
  (at) => {
    test.each(Object.entries(raising))('PL-03 a condition that fails denies %s', async (tool, [input]) => {
      const { project, call } = at()
      expect(await call(tool, input)).toMatchObject({
        ok: false,
        code: 'POLICY.HOOK_DENIED',
        reason: 'hook_failed',
      })
      expect(existsSync(join(project, 'x.txt'))).toBe(false)
    })
  },
)
