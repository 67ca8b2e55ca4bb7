import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxContract } from '../testing/sandbox-contract.ts'
import { createBubblewrapSandbox } from './bubblewrap/create-bubblewrap-sandbox.ts'
import { createHostSandbox } from './host/create-host-sandbox.ts'
import { openSubject } from './open-subject.fixture.ts'

sandboxContract('host', () => openSubject(createHostSandbox), { test })
sandboxContract('bubblewrap', () => openSubject(createBubblewrapSandbox), { test })

test('sandbox-runtime keeps the contract of every sandbox, for an ordinary user', () => {
  const runner = [process.execPath, join(import.meta.dirname, 'contract-as-user.fixture.ts')]
  const asUser = ['setpriv', '--reuid=4242', '--regid=4242', '--clear-groups', ...runner]
  const [command = '', ...args] = process.getuid?.() === 0 ? asUser : runner
  const lines = execFileSync(command, args, { encoding: 'utf8' }).trim().split('\n')
  const ended = lines.map((line): unknown => JSON.parse(line))
  expect(ended.length).toBeGreaterThan(10)
  expect(ended).toEqual(ended.map(() => ({ title: expect.any(String) as string })))
})
