import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'
import { startServer } from '../support/start-command.ts'

const secret = `whsec_${randomBytes(32).toString('base64')}`

const programs = findBlocks(readPage('docs/approvals.md')).filter(
  ({ language, code }) => language === 'ts' && !code.includes('.listen('),
)

test.each(programs)('the program under "$heading" prints what it says', async (block) => {
  const place = makePlace()
  const code = block.code
    .replace(
      /store: (?:\{ path: 'shop.db' \}|'memory')/,
      `store: 'memory', project: ${JSON.stringify(place.project)}`,
    )
    .trimEnd()
  const said = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1])
  const running = startProgram(place, [onBundle, '--input-type=module-typescript', '--eval', code], {
    cwd: packageRoot,
  })
  running.child.stdin.end()
  const { code: exit, stdout, stderr } = await running.ended
  expect([exit, stderr, stdout.trimEnd().split('\n')]).toEqual([0, '', said])
  expect(said.length).toBeGreaterThan(0)
})

test('the gateway of the page starts, and its receiver takes what is signed and nothing else', async () => {
  const blocks = findBlocks(readPage('docs/approvals.md'))
  const webhooks = blocks.find(({ code }) => code.includes('"webhooks"'))?.code ?? ''
  await startServer(makePlace({}, { 'gateway.json': webhooks }), ['--port', '0'], { HOOK_SECRET: secret })

  const receiver = blocks.find((block) => block.code.includes('verifyWebhook('))
  const code = (receiver?.code ?? '').replace(
    ".listen(8080, '127.0.0.1')",
    ".listen(0, '127.0.0.1', function (this: any) { console.log(`port ${this.address().port} open`) })",
  )
  const argv = [onBundle, '--input-type=module-typescript', '--eval', code]
  const running = startProgram(makePlace(), argv, { cwd: packageRoot, env: { HOOK_SECRET: secret } })
  await running.saw(' open')
  const [, port] = /port (\d+)/.exec(running.output.stdout) ?? []
  const body = JSON.stringify({ type: 'approval.requested', timestamp: '', data: { id: 'apr_1' } })
  const at = new Date()
  const headers = {
    'webhook-id': 'm1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign('m1', at, body),
  }
  const post = async (text: string) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status
  expect([await post(body), await post(`${body} `)]).toEqual([204, 400])
  await running.saw('approval.requested apr_1')
})
