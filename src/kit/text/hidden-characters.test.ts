import { expect, test, vi } from 'vitest'
import { showJson, writeText } from '../../cli/base/show-safely.ts'
import { toPendingPage } from '../../cli/render/pending-page.ts'
import { createTerminalApprover } from '../../cli/terminal/terminal-approver.ts'
import { createOperatorLog } from '../../cli/terminal/tell-operator.ts'
import type { ApprovalRequest } from '../../contract/approval.ts'
import { toApprovalForm } from '../../mcp/translate/approval-form.ts'
import { createServerLog } from '../../mcp/upstream/base/server-log.ts'
import { hiddenCharacters } from './hidden-characters.ts'
import { showControls } from './show-controls.ts'

const request = (text: string): ApprovalRequest => ({
  callId: 'call_1',
  toolCallId: 'req_1',
  session: 'ses_1',
  principal: { tenant: 'local', actor: text, role: 'sub' },
  tool: 'code.run_command',
  title: text,
  permission: 'write',
  tags: [],
  dangerous: true,
  inputSummary: '{}',
  scope: text,
  ran: false,
  preview: { kind: 'argv', title: text, body: text },
  cwd: text,
  env: [text],
  hosts: [text],
  because: { layer: 'defaults', rule: text, effect: 'ask', reason: text },
  hookNotes: [text],
  suggested: 'deny',
  timeoutMs: 1_000,
  parents: [],
})

/** What a stream of a terminal gets while this runs. */
function written(run: (stream: NodeJS.WriteStream) => void): string {
  const { stderr } = process
  const isTTY = stderr.isTTY
  const write = vi.spyOn(stderr, 'write').mockReturnValue(true)
  try {
    stderr.isTTY = true
    run(stderr)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    stderr.isTTY = isTTY
    write.mockRestore()
  }
}

const surfaces: { readonly [name: string]: (text: string) => string | Promise<string> } = {
  async 'the approval prompt of a terminal'(text) {
    let shown = ''
    const approve = createTerminalApprover({
      talk: async (_, conversation) =>
        conversation({ show: (part) => void (shown += part), waiting: () => 0, ask: async () => 'deny' }),
    })
    await approve(request(text), AbortSignal.timeout(10_000))
    return shown
  },
  'the approval form of MCP': (text) => {
    const { message, requestedSchema } = toApprovalForm(request(text))
    return `${message}\n${requestedSchema.properties['decision']?.description ?? ''}`
  },
  'a line of the operator log': (text) =>
    written(() =>
      createOperatorLog()({
        type: 'permission_decided',
        sequence: 1,
        level: 'info',
        session: '',
        summary: '',
        at: 0,
        tenant: text,
        tool: text,
        data: { advice: text, reason: 'declined in the client' },
      }),
    ),
  'the log of an upstream': (text) => {
    const log = createServerLog()
    log.add(text)
    log.addStray(text)
    return `${log.read()}${log.stray}`
  },
  'a page of the command line': (text) => written((stream) => writeText(stream, text)),
  'a changed definition': (text) =>
    toPendingPage({
      tool: 'demo.x',
      tenant: text,
      digest: '',
      source: 'x',
      version: '1.0.0',
      changes: [{ field: 'description', was: text, is: `${text}!` }],
    }),
  'JSON of the command line': (text) => showJson({ [text]: text }),
  'a preview': showControls,
}

test.each(Object.entries(surfaces))(
  '%s leaves no hidden character, and says that there was one (SR-21)',
  async (_, show) => {
    for (const hidden of [
      '\u001b',
      '\u009b',
      '\u00ad',
      '\u061c',
      '\u200b',
      '\u202e',
      '\u2066',
      '\u{e0041}',
    ]) {
      const shown = await show(`a${hidden}b`)
      expect(shown.search(hiddenCharacters)).toBe(-1)
      expect(shown).not.toContain('ab')
      expect(shown).toMatch(/a[^]+b/)
    }
  },
)
