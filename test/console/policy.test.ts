import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createClient, textOf } from '../mcp/connect.ts'
import { openOffice } from '../support/approved.ts'
import { atEnd } from '../support/at-end.ts'
import { handrail, makePlace, type Place } from '../support/command-line.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'

const browser = keepBrowser()
const me = userInfo().username

/** Another link of a server that runs. */
const linkOf = async (place: Place, origin: string): Promise<string> =>
  (await handrail(place, ['console', '--port', new URL(origin).port])).stdout.trim()

const policyOf = (place: Place): string => readFileSync(join(place.home, 'policy.json'), 'utf8')
const putPolicy = (place: Place, text: string): void => writeFileSync(join(place.home, 'policy.json'), text)

/** A console beside a program whose calls ask, with this policy. */
async function startOffice(own: Readonly<Record<string, unknown>> = { 'policy.json': '{ "rules": [] }' }) {
  const policy = own['policy.json']
  const started = await startConsole(typeof policy === 'object' ? own : {}, makePlace({}, own))
  const office = await openOffice(
    started.place,
    typeof policy === 'object' ? { policy: policy as object } : {},
    (actor) => (actor === 'eve' ? 'deny' : 'allow_once'),
  )
  return { ...started, office }
}

test('an operator makes a rule of a repeated approval in three clicks: they see what else it lets through, and the gateway takes it over', async () => {
  const { place, link, office } = await startOffice()
  for (let count = 0; count < 2; count++) await office.write('a.md')
  await office.write('a.md', { actor: 'eve' })
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Policy', exact: true }).click()
  await page.getByText('Would have answered 2 calls of').waitFor()
  await page.getByText('1 other call would have been let through unasked').waitFor()
  await page.getByRole('button', { name: 'Try the rule' }).click()
  await page
    .getByRole('heading', { name: '3 calls of the last seven days would be decided otherwise' })
    .waitFor()
  expect(policyOf(place)).toBe('{ "rules": [] }')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Version 2 is saved.').waitFor()
  expect(JSON.parse(policyOf(place)).rules).toMatchObject([
    { resources: [`handrail:file:${place.project}/a.md`] },
  ])
  await page.getByText('did not say yes twice').waitFor()
  const rule = page.getByRole('table', { name: 'Rules' }).getByRole('row').nth(1)
  await rule.getByText('idle').waitFor()
  const input = JSON.stringify({ path: 'a.md', content: 'y', overwrite: true })
  expect(await handrail(place, ['call', 'code.write_file', input])).toMatchObject({ code: 0 })
  // The page is told when the gateway has taken it over.
  await page.getByText('Version 2 since this server started').waitFor()
  await page.reload()
  await expect.poll(() => rule.getByRole('cell').nth(3).textContent()).toBe('1')
  const versions = page.getByRole('table', { name: 'Versions of the policy file' })
  await versions.getByText('found in the file').waitFor()
  await versions.getByText('the suggested rule').waitFor()
  const notes = await handrail(place, ['evidence', 'list', '--notes'])
  expect(notes.stdout).toContain(`${me} saved version 2 of the policy file: the suggested rule`)
  expect(faults).toEqual([])
})

test('a waiting call is allowed by two keys and its rule answers the next one', async () => {
  const { place, link, office } = await startOffice()
  const input = { path: 'a.md', content: 'z', overwrite: true }
  const { page, faults } = await openPage(browser(), link)
  await page.getByText('Nothing waits for you.').waitFor()
  const session = office.as()
  const step = await session.step([{ id: '1', tool: 'code.write_file', input }])
  await page.getByRole('region', { name: 'Question about code.write_file' }).waitFor()
  await page.keyboard.press('r')
  const offer = page.getByRole('region', { name: 'Always, as a rule' })
  await offer.getByText('Nothing else of that time would have been let through.').waitFor()
  await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toContain('add the rule')
  await page.keyboard.press('Enter')
  await page.getByText('Allowed, and always from now on: code.write_file (version 2 of the policy)').waitFor()
  expect(await session.resume(step)).toMatchObject({
    results: [{ ok: true, metadata: { approval: { by: me } } }],
  })
  expect(await handrail(place, ['call', 'code.write_file', JSON.stringify(input)])).toMatchObject({ code: 0 })
  expect(faults).toEqual([])
})

test('what may stand in the policy is offered and explained where a person writes, by keyboard, and a fault stands at its line at once', async () => {
  const { link } = await startOffice()
  const { page, requests, faults } = await openPage(browser(), link)
  const helper = () => requests.filter((url) => url.endsWith('/console/advise.js')).length
  await page.getByText('Nothing waits for you.').waitFor()
  expect(helper()).toBe(0)
  await page.getByRole('link', { name: 'Policy', exact: true }).click()
  const area = page.getByRole('textbox', { name: 'The policy file' })
  const list = page.getByRole('listbox', { name: 'What may stand here' })
  const help = page.locator('#policy-help')
  await area.fill('{\n  "rules": [{  }]\n}')
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await press('Control+Home', 'ArrowDown', 'End', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft')
  await help.getByText('Every field that is present must match.').waitFor()
  await press('e')
  await list
    .getByRole('option', { name: /^effect Needed\. .*One of allow, ask, deny/, selected: true })
    .waitFor()
  expect(await findFaults(page)).toEqual([])
  await press('Enter', 'd')
  await list.getByRole('option', { name: 'deny', selected: true }).waitFor()
  await press('Enter')
  await page.keyboard.type(', ')
  await press('Control+Space')
  await list.getByRole('option', { name: /^id / }).waitFor()
  expect(await list.getByRole('option', { name: /^effect/ }).count()).toBe(0)
  await press('Escape')
  await list.waitFor({ state: 'hidden' })
  await page.keyboard.type('tool')
  await list.getByRole('option', { name: /^tools / }).waitFor()
  await press('Tab')
  await page.keyboard.type('write')
  await list.getByRole('option', { name: 'code.write_file' }).waitFor()
  await press('Enter')
  const whole = '{\n  "rules": [{ "effect": "deny", "tools": ["code.write_file"] }]\n}'
  expect(await area.inputValue()).toBe(whole)
  await press('Control+z')
  expect(await area.inputValue()).toBe(whole.replace('code.write_file', 'write'))
  await press('Control+y')
  await help.getByText('rules › 0 › tools').waitFor()

  await area.fill(whole.replace('deny', 'denyy'))
  await page.getByRole('button', { name: 'Line 2, /rules/0/effect' }).waitFor()
  await page.locator('.marks').getByText('denyy').waitFor()
  await area.hover({ position: { x: 140, y: 36 } })
  await help.getByText('rules › 0 › effect').waitFor()
  expect([await findFaults(page), faults, helper()]).toEqual([[], [], 1])
})

test('faults stand at their lines, a version of before is put back, and what others changed meanwhile is not overwritten', async () => {
  const { place, link, office, origin } = await startOffice()
  await office.write('a.md')
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Policy', exact: true }).click()
  const area = page.getByRole('textbox', { name: 'The policy file' })
  await area.fill('{\n  "rules": [\n    { "effect": "maybe" }\n  ]\n}')
  await page.getByRole('button', { name: 'See what changes' }).click()
  await page.getByRole('button', { name: 'Line 3, /rules/0/effect' }).click()
  expect(await page.evaluate('getSelection().toString()')).toBe('    { "effect": "maybe" }')
  await expect.poll(() => page.getByRole('button', { name: 'See what changes' }).isEnabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)

  await area.fill('{ "rules": [{ "id": "no", "effect": "deny", "tools": ["code.write_file"] }] }')
  await page.getByRole('button', { name: 'See what changes' }).click()
  const row = page
    .getByRole('table', { name: 'Calls that would be decided otherwise' })
    .getByRole('row')
    .nth(1)
  await row.getByText('policy/no').waitFor()
  expect((await row.getByRole('cell').allTextContents()).slice(1)).toEqual([
    'code.write_file',
    'bot of local',
    'ask defaults/write',
    'deny policy/no',
  ])
  const other = await enter(await linkOf(place, origin))
  const { digest } = (await other.api('/policy')).body
  await other.change('/policy', { text: '{ "mode": "accept-edits" }', digest })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('was changed since it was read, so nothing was written').waitFor()
  expect(policyOf(place)).toBe('{ "mode": "accept-edits" }')

  await page.reload()
  await page.getByRole('button', { name: 'Show version 1' }).click()
  await page.getByRole('button', { name: 'Back to version 1' }).click()
  await page.getByRole('heading', { name: '0 calls of the last seven days would be decided' }).waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Version 3 is saved.').waitFor()
  expect(policyOf(place)).toBe('{ "rules": [] }')
  await page.getByText('back to version 1', { exact: true }).waitFor()
  expect(faults.filter((fault) => !fault.includes('409'))).toEqual([])
})

test('a bad file on the disk is told with its lines, the version before stays in force, and saving mends it', async () => {
  const { place, link, server } = await startOffice({ 'policy.json': '{ "mode": "plan" }' })
  const { api, change } = await enter(link)
  putPolicy(place, '{\n  "mode": "pla"\n}')
  await server.saw('the one before stays in force')
  const { body } = await api('/policy')
  expect(body).toMatchObject({
    version: 1,
    mode: 'plan',
    text: '{\n  "mode": "pla"\n}',
    faults: [{ line: 2, pointer: '/mode' }],
  })
  expect((await api('/policy/versions')).body.versions).toMatchObject([{ version: 1 }])
  const refused = await change('/policy', { text: body.text, digest: body.digest })
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_policy'])
  expect(await change('/policy', { text: '{}', digest: body.digest })).toMatchObject({
    status: 200,
    body: { version: 2 },
  })
  await expect.poll(async () => (await api('/policy')).body).toMatchObject({ version: 2, faults: [] })
  putPolicy(place, '{ "mode": "accept-edits" }')
  await expect
    .poll(async () => (await api('/policy/versions')).body.versions[0])
    .toMatchObject({ version: 3, added: 1, removed: 1 })
  expect((await api('/policy/versions/3')).body.diff).toContain('+{ "mode": "accept-edits" }')
})

test('of two people who save at once one is told; cases that fail keep a policy from being saved unless a person says so', async () => {
  const { place, link } = await startOffice()
  const { api, change } = await enter(link)
  const { digest } = (await api('/policy')).body
  const saved = await Promise.all(
    ['plan', 'accept-edits', 'default'].map((mode) =>
      change('/policy', { text: JSON.stringify({ mode }), digest }),
    ),
  )
  expect(saved.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409, 409])
  expect(saved.find(({ status }) => status === 409)?.body.code).toBe('file_changed')

  const writes = { tool: 'code.write_file', input: { path: 'a', content: '' } }
  writeFileSync(
    join(place.home, 'policy-cases.json'),
    JSON.stringify({ cases: [{ ...writes, expect: { effect: 'ask' } }] }),
  )
  const text = '{ "rules": [{ "effect": "allow", "tools": ["code.write_file"] }] }'
  const now = (await api('/policy')).body.digest as string
  const foreseen = (await change('/policy/foresight', { text })).body
  expect(foreseen).toMatchObject({ cases: 1, failures: [{ found: 'allow by policy/policy/rules/0' }] })
  const failing = await change('/policy', { text, digest: now })
  expect([failing.status, failing.body.code]).toEqual([409, 'cases_fail'])
  expect((await change('/policy', { text, digest: now, despiteCases: true })).status).toBe(200)
  expect(policyOf(place)).toBe(text)
})

test('who is of one tenant sees its rules and its suggestions alone, and nobody changes a policy without the role', async () => {
  const policy = {
    rules: [{ id: 'all', effect: 'deny', tools: ['code.delete_path'] }],
    tenants: {
      acme: { rules: [{ id: 'own', effect: 'deny', tools: ['code.move_file'] }] },
      zeta: { rules: [{ id: 'theirs', effect: 'deny', tools: ['code.move_file'] }] },
    },
  }
  const { place, origin, office } = await startOffice({
    'policy.json': policy,
    'gateway.json': { tokens: [caller('eva', { approver: true, tenant: 'acme' }), caller('tool')] },
  })
  for (const tenant of ['acme', 'zeta', 'zeta', 'acme']) await office.write('a.md', { tenant })
  const as = (id: string, path: string, body?: object) =>
    askApi(origin, path, {
      headers: { authorization: `Bearer hr_${id}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  const seen = (await as('eva', '/policy')).body
  expect(seen.rules.map(({ id }: { id: string }) => id)).toEqual(['all', 'own'])
  expect(JSON.stringify(seen)).not.toMatch(/theirs|"text"/)
  expect(seen.readOnly).toContain('in all of them; "eva" has no role that is for all tenants.')
  const { suggested } = (await as('eva', '/policy/suggestions')).body
  expect(suggested).toMatchObject([{ tenant: 'acme', place: '/tenants/acme/rules/1', others: [] }])
  expect((await as('eva', '/policy/suggestions?tenant=zeta')).status).toBe(403)
  expect((await as('eva', '/policy/versions')).status).toBe(403)
  const step = await office
    .as('bot', { tenant: 'acme' })
    .step([{ id: '1', tool: 'code.write_file', input: { path: 'b.md', content: '' } }])
  const approval = step.waiting[0]?.approval
  const offered = (await as('eva', `/approvals/${approval?.id}/rule`)).body
  expect(offered.suggestion.rule.resources).toEqual([`handrail:file:${place.project}/b.md`])
  expect(offered.reason).toContain('role "operator"')
  const before = policyOf(place)
  for (const [path, body] of [
    ['/policy', { text: '{}', digest: '' }],
    ['/policy/foresight', { text: '{}' }],
    ['/policy/draft', { text: '{}', tenant: 'acme', rule: {} }],
    [`/approvals/${approval?.id}/rule`, { digest: approval?.digest, policy: '' }],
  ] as const)
    expect([path, (await as('eva', path, body)).status]).toEqual([path, 403])
  expect((await as('tool', '/policy')).status).toBe(403)
  expect(policyOf(place)).toBe(before)
  expect(office.runtime.approvals.find(approval?.id ?? '')?.state).toBe('waiting')
})

test('a rule for a policy that changed meanwhile is neither added nor is anything decided', async () => {
  const { place, link, office } = await startOffice()
  const { api, change } = await enter(link)
  const step = await office
    .as()
    .step([{ id: '1', tool: 'code.write_file', input: { path: 'a', content: '' } }])
  const approval = step.waiting[0]?.approval
  const path = `/approvals/${approval?.id}/rule`
  const { digest } = (await api(path)).body
  putPolicy(place, '{ "rules": [{ "effect": "deny", "tools": ["code.write_file"] }] }')
  const refused = await change(path, { digest: approval?.digest, policy: digest })
  expect(refused.status).toBe(409)
  putPolicy(place, '{ }')
  expect((await change(path, { digest: approval?.digest, policy: digest })).body.code).toBe('file_changed')
  expect(office.runtime.approvals.find(approval?.id ?? '')?.state).toBe('waiting')
  const offered = (await api(path)).body
  const stale = await change(path, { digest: 'another', policy: offered.digest })
  expect([stale.status, stale.body.code]).toEqual([409, 'approval_changed'])
  expect(policyOf(place)).toBe('{ }')
  expect((await change(path, { digest: approval?.digest, policy: offered.digest })).status).toBe(200)
  expect(office.runtime.approvals.find(approval?.id ?? '')).toMatchObject({ state: 'allowed' })
})

test('the call of an MCP client is allowed as a rule in its gateway: the client comes back with it, and its next one is not asked about', async () => {
  const { place, link, origin } = await startOffice({
    'policy.json': { approvers: [{ tools: ['code.*'], approvers: [me] }] },
    'gateway.json': { tokens: [caller('ann')] },
  })
  const client = createClient({ era: 'modern' })
  const requestInit = { headers: { authorization: 'Bearer hr_ann' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }))
  atEnd(() => client.close())
  const write = async (content: string): Promise<string> =>
    textOf(
      (await client.callTool({
        name: 'code__write_file',
        arguments: { path: 'a.md', content, overwrite: true },
      })) as never,
    )
  expect(await write('one')).toContain('POLICY.APPROVAL_PENDING')
  const { api, change } = await enter(link)
  const [approval] = (await api('/approvals')).body.approvals
  const path = `/approvals/${approval.id}/rule`
  const { digest, suggestion } = (await api(path)).body
  expect(suggestion.rule.tools).toEqual(['code.write_file'])
  const done = await change(path, { digest: approval.digest, policy: digest, reason: 'fine' })
  expect(done.body).toMatchObject({ version: 2, approval: { state: 'allowed' } })
  await expect.poll(async () => (await api('/policy')).body.version).toBe(2)
  expect(await write('one')).toContain('a.md')
  expect(await write('two')).not.toContain('APPROVAL_PENDING')
  expect(readFileSync(join(place.project, 'a.md'), 'utf8')).toBe('two')
  const hits = async () => (await api('/policy')).body.rules.map((rule: { hits: number }) => rule.hits)
  expect(await hits()).toEqual([2])
})
