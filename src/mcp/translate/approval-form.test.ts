import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../../contract/approval.ts'
import { fromApprovalForm, toApprovalForm } from './approval-form.ts'

const request: ApprovalRequest = {
  callId: 'call_1',
  toolCallId: 'req_1',
  session: 'ses_1',
  principal: { tenant: 'local', actor: 'user', role: 'sub' },
  tool: 'code.run_command',
  title: 'Run a command',
  permission: 'write',
  tags: [],
  dangerous: true,
  inputSummary: '{}',
  scope: '/usr/bin/npm in /srv/app',
  ran: false,
  preview: { kind: 'argv', title: 'Runs npm', body: 'npm\ttest\r\nnpm run build' },
  cwd: '/srv/app',
  env: [],
  hosts: [],
  because: { layer: 'defaults', rule: 'processes-ask', effect: 'ask', reason: 'It starts a program.' },
  hookNotes: ['tests only'],
  suggested: 'deny',
  timeoutMs: 1_000,
  parents: [],
}

test('shows the person what, on what, why, and who (PERM-6)', () => {
  expect(toApprovalForm(request).message).toBe(
    [
      'Allow "Run a command" (code.run_command)?',
      'Runs npm',
      'npm\ttest',
      'npm run build',
      'This tool is marked dangerous.',
      'Asked because: It starts a program. (defaults, processes-ask)',
      'Scope: /usr/bin/npm in /srv/app',
      'Note: tests only',
      'Asked for a sub agent.',
    ].join('\n'),
  )
})

test('asks for one of three decisions and suggests none (PERM-3)', () => {
  const { requestedSchema } = toApprovalForm(request)
  expect(requestedSchema.required).toEqual(['decision'])
  expect(requestedSchema.properties['decision']).toMatchObject({
    enum: ['allow_once', 'allow_for_session', 'deny'],
  })
  expect(requestedSchema.properties['decision']).not.toHaveProperty('default')
})

test('shows characters that would hide something, and says how much it leaves out (PERM-6)', () => {
  const body = `rm\u0008\u0008ls \u202etxt.exe\u200b\u001b[2J${'x'.repeat(5_000)}`
  const { message } = toApprovalForm({ ...request, preview: { ...request.preview, body } })
  expect(message).toContain('rm\ufffd\ufffdls \ufffdtxt.exe\ufffd\ufffd[2J')
  expect(message).toContain('… 1020 more characters are not shown')
})

test.each(['allow_once', 'allow_for_session', 'deny'])(
  'takes an accepted %s as it is (PERM-3)',
  (decision) => {
    expect(fromApprovalForm({ action: 'accept', content: { decision } })).toEqual({
      decision,
      metadata: { via: 'mcp_elicitation' },
    })
  },
)

test.each([
  [undefined],
  [null],
  ['allow_once'],
  [{}],
  [{ action: 'decline', content: { decision: 'allow_once' } }],
  [{ action: 'cancel', content: { decision: 'allow_once' } }],
  [{ action: 'accept' }],
  [{ action: 'accept', content: {} }],
  [{ action: 'accept', content: { decision: 'ALLOW_ONCE' } }],
  [{ action: 'accept', content: { decision: ['allow_once'] } }],
  [{ action: 'accept', content: [{ decision: 'allow_once' }] }],
  [{ decision: 'allow_once' }],
])('takes anything else as a no: %j (PERM-5)', (answer) => {
  expect(fromApprovalForm(answer).decision).toBe('deny')
})
