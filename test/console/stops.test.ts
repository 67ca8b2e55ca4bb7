import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { gatedTool } from '../support/gated-tool.ts'
import { askApi, caller, enter, keepBrowser, openPage, startConsole } from '../support/console.ts'
import { openRuntime } from '../support/project.ts'
import { handrail } from '../support/command-line.ts'

const browser = keepBrowser()

test('an operator stops everything from the page in four presses, sees it on every page, and resumes it', async () => {
  const { link, place, shop } = await startConsole()
  const gate = gatedTool({ onAbort: () => 'half' })
  const program = await openRuntime({ tools: [gate.tool], store: { path: place.store } })
  const call = program.session({ actor: 'ann' }).call('t.gated', { id: 'a' })
  await gate.started('a')
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('link', { name: 't.gated' }).waitFor()
  await page.getByRole('button', { name: 'Stop everything…' }).click()
  await page.getByRole('textbox', { name: 'Why' }).fill('it pays <b>twice</b>')
  await page.keyboard.press('Enter')
  await page.getByText('Stopped, 1 aborted.').waitFor()
  expect(await call).toMatchObject({ outcome: 'aborted' })
  const { username } = userInfo()
  const banner = page.getByRole('region', { name: 'Paused' })
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await banner.getByText(`Paused: everything by ${username}`).waitFor()
  expect(await banner.textContent()).toContain('it pays <b>twice</b>')
  const refused = await shop.runtime.session().call('shop.look', { order: '1' })
  expect(refused.error).toMatchObject({ reason: 'calls_paused', data: { by: username } })
  await banner.getByRole('button', { name: 'Resume everything' }).click()
  await banner.waitFor({ state: 'hidden' })
  expect(await shop.runtime.session().call('shop.look', { order: '1' })).toMatchObject({ ok: true })
  expect(faults).toEqual([])
})

test('a tool, a pattern and a caller are stopped where they stand, and a call of another process is aborted on its page', async () => {
  const { link, place } = await startConsole()
  const gate = gatedTool({ onAbort: () => 'half' })
  const program = await openRuntime({ tools: [gate.tool], store: { path: place.store } })
  const call = program.session({ actor: 'ann' }).call('t.gated', { id: 'a' })
  await gate.started('a')
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('link', { name: 't.gated' }).click()
  await page.getByRole('button', { name: 'Abort this call' }).click()
  expect(await call).toMatchObject({ outcome: 'aborted' })
  await page.getByRole('button', { name: 'Stop calls of ann…' }).click()
  await page.getByRole('button', { name: 'Stop calls of ann now' }).click()
  await page.getByText('Paused: calls of ann, the tenant local').waitFor()
  await page.getByRole('link', { name: 'Tools', exact: true }).click()
  await page.getByText('Stop a pattern of tools').click()
  await page.getByRole('textbox', { name: 'Pattern' }).fill('shop.*')
  await page.getByRole('button', { name: 'Stop shop.*…' }).click()
  await page.getByRole('button', { name: 'Stop shop.* now' }).click()
  await page.getByText('Paused: shop.*').waitFor()
  await handrail(place, ['resume', '--all'])
  await page.getByRole('region', { name: 'Paused' }).waitFor({ state: 'hidden' })
  expect(faults).toEqual([])
})

test('an operator of one tenant stops what is theirs alone, others nothing, and each is told why', async () => {
  const { origin, link, shop } = await startConsole({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' }), caller('ann')] },
  })
  const person = await enter(link)
  const as = (id: string) => (path: string, body?: object) =>
    askApi(origin, path, {
      headers: { authorization: `Bearer hr_${id}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  const eve = as('eve')
  expect((await as('ann')('/pauses')).status).toBe(403)
  expect((await eve('/pauses', { all: true })).status).toBe(403)
  expect((await eve('/abort', { all: true })).status).toBe(403)
  expect((await person.change('/pauses', {})).body.detail).toContain('Say what is meant')
  expect((await person.change('/pauses', { tenant: 'nobody' })).status).toBe(400)
  expect((await person.change('/pauses', { all: true }, { 'x-csrf-token': 'forged' })).status).toBe(403)
  const made = await person.change('/pauses', { tools: 'shop.look', tenant: 'acme', why: 'x' })
  expect(made.body.pause).toMatchObject({ tools: 'shop.look', tenant: 'acme', by: userInfo().username })
  expect(made.body.unknown).toBeUndefined()
  await person.change('/pauses', { actor: 'zoe', tenant: 'local' })
  // What nobody has now may come yet.
  const early = await person.change('/pauses', { tools: 'code.serch', server: 'none', tenant: 'local' })
  expect(early.body.pause).toMatchObject({ tools: 'code.serch' })
  expect(early.body.unknown).toMatch(
    /^No tool is named "code\.serch" now.*"code\.search".*No server is named "none"/,
  )
  expect((await eve('/pauses')).body.pauses).toMatchObject([{ tenant: 'acme' }])
  const look = (tenant: string) => shop.runtime.session({ tenant }).call('shop.look', { order: '1' })
  expect((await look('acme')).error?.reason).toBe('calls_paused')
  expect(await look('local')).toMatchObject({ ok: true })
  expect((await person.api('/running')).body).toEqual({ calls: [] })
  const { id } = made.body.pause
  expect((await person.change(`/pauses/${id}/resume`, {})).status).toBe(200)
  expect((await person.change(`/pauses/${id}/resume`, {})).status).toBe(404)
})
